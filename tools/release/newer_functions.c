// Functions of newer glibc versions, for programs that run on glibc 2.28: see old_libraries.py. They are
// hidden: each program and library has its own.
#define _GNU_SOURCE

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#define HIDDEN __attribute__((visibility("hidden")))

// glibc 2.32. Zero: reference counts are always atomic.
HIDDEN char __libc_single_threaded = 0;

// glibc 2.33. These were functions of each program. The first argument is the layout of the structure on
// x86-64.
int __xstat(int layout, const char* path, struct stat* status);
int __fxstat(int layout, int file, struct stat* status);
int __lxstat(int layout, const char* path, struct stat* status);
int __fxstatat(int layout, int folder, const char* path, struct stat* status, int flags);
HIDDEN int stat(const char* path, struct stat* status) {
  return __xstat(1, path, status);
}
HIDDEN int fstat(int file, struct stat* status) {
  return __fxstat(1, file, status);
}
HIDDEN int lstat(const char* path, struct stat* status) {
  return __lxstat(1, path, status);
}
HIDDEN int fstatat(int folder, const char* path, struct stat* status, int flags) {
  return __fxstatat(1, folder, path, status, flags);
}

// glibc 2.33. Sizes of the old function have 31 bits.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
HIDDEN struct mallinfo2 mallinfo2(void) {
  const struct mallinfo old = mallinfo();
  return (struct mallinfo2){
      .arena = (size_t)old.arena,
      .ordblks = (size_t)old.ordblks,
      .smblks = (size_t)old.smblks,
      .hblks = (size_t)old.hblks,
      .hblkhd = (size_t)old.hblkhd,
      .usmblks = (size_t)old.usmblks,
      .fsmblks = (size_t)old.fsmblks,
      .uordblks = (size_t)old.uordblks,
      .fordblks = (size_t)old.fordblks,
      .keepcost = (size_t)old.keepcost,
  };
}
#pragma GCC diagnostic pop

// glibc 2.36. These never fail.
HIDDEN void arc4random_buf(void* bytes, size_t size) {
  for (size_t done = 0, part; done < size; done += part) {
    part = size - done < 256 ? size - done : 256;  // the most that one call returns
    if (getentropy((char*)bytes + done, part) != 0) abort();
  }
}
HIDDEN uint32_t arc4random(void) {
  uint32_t number;
  arc4random_buf(&number, sizeof(number));
  return number;
}

// glibc 2.30. The old function has the clock of the condition variable, by default CLOCK_REALTIME.
HIDDEN int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                  const struct timespec* end) {
  if (clock == CLOCK_REALTIME) return pthread_cond_timedwait(condition, mutex, end);
  if (clock != CLOCK_MONOTONIC) return EINVAL;
  struct timespec now, until;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += end->tv_sec - now.tv_sec;
  until.tv_nsec += end->tv_nsec - now.tv_nsec;
  if (until.tv_nsec < 0) {
    until.tv_nsec += 1000000000;
    --until.tv_sec;
  } else if (until.tv_nsec >= 1000000000) {
    until.tv_nsec -= 1000000000;
    ++until.tv_sec;
  }
  if (until.tv_sec < 0) return ETIMEDOUT;
  const int error = pthread_cond_timedwait(condition, mutex, &until);
  if (error != ETIMEDOUT) return error;
  // A change of the real time may have ended the wait early, which is a spurious wake-up.
  clock_gettime(clock, &now);
  const int is_early = now.tv_sec < end->tv_sec || (now.tv_sec == end->tv_sec && now.tv_nsec < end->tv_nsec);
  return is_early ? 0 : ETIMEDOUT;
}
