// Chooses the active mutant of an instrumented build and records which ones are reached. The compiler
// includes this file before every other one.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

namespace nnefc_mutation {

inline constexpr int kMaxMutants = 1 << 18;
inline unsigned char unrecorded[kMaxMutants];

// One byte for each mutant, set when a mutant is reached: of a file that all processes of a test share.
inline unsigned char* reached = unrecorded;

// The number of the active mutant, or -1.
inline int active = -1;

inline bool is_started = false;

// Reads the environment before any other initialisation: NNEFC_MUTANT=NUMBER, NNEFC_MUTANTS_REACHED=FILE.
__attribute__((constructor(101))) static void Start() {
  if (is_started) return;
  is_started = true;
  if (const char* number = getenv("NNEFC_MUTANT")) active = atoi(number);
  const char* path = getenv("NNEFC_MUTANTS_REACHED");
  if (!path) return;
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return;
  if (ftruncate(file, kMaxMutants) == 0) {
    void* memory = mmap(nullptr, kMaxMutants, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED) reached = static_cast<unsigned char*>(memory);
  }
  close(file);
}

inline bool IsActive(int number) {
  reached[number] = 1;
  return active == number;
}

// Within constexpr functions: no mutant is active while the compiler evaluates them.
constexpr bool IsActiveUnlessConstant(int number) {
  return !__builtin_is_constant_evaluated() && IsActive(number);
}

template <typename One, typename Other>
struct IsSame {
  static constexpr bool kValue = false;
};

template <typename Type>
struct IsSame<Type, Type> {
  static constexpr bool kValue = true;
};

// Does not compile where two expressions differ in type.
template <typename One, typename Other, typename = int[IsSame<One, Other>::kValue ? 1 : -1]>
constexpr void RequireSame() {}

}  // namespace nnefc_mutation

#define NNEFC_SAME(one, other) ::nnefc_mutation::RequireSame<decltype(one), decltype(other)>(),

#define NNEFC_MUTANT(number) ::nnefc_mutation::IsActive(number)
#define NNEFC_CONSTANT_MUTANT(number) ::nnefc_mutation::IsActiveUnlessConstant(number)
