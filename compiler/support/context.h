#pragma once

#include <cstdint>
#include <memory>

#include "compiler/support/diagnostics.h"
#include "compiler/support/source.h"
#include "compiler/support/symbol.h"

namespace nnefc {

// Bounds on what a document may ask of the compiler. Each has a flag of the
// command line with its name and a diagnostic that names the flag.
struct Limits {
  int64_t nesting = 1000;        // --max-nesting: brackets and operators within a statement
  int64_t recursion = 10000;     // --max-recursion: fragment calls on the stack
  int64_t steps = 50'000'000;    // --max-steps: expressions evaluated during expansion
  int64_t operations = 400'000;  // --max-operations: operations made by fragments
  int64_t items = 20'000'000;    // --max-items: live array items and string bytes
};

// What contexts begin with: texts and names of libraries that a process reads
// once. Made whole, then never changed, so that threads share it.
struct ContextBase {
  SourceManager sources = SourceManager::MakeBase();
  SymbolTable symbols;
};

// What the stages of one run share: texts, interned names, limits and the
// diagnostics emitter. Everything that points into it must not outlive it.
struct Context {
 private:
  struct Store {
    SourceManager sources;
    SymbolTable symbols;
  };
  std::unique_ptr<Store> own_ = {};

 public:
  Context() : own_(std::make_unique<Store>()), sources(own_->sources), symbols(own_->symbols) {}
  // `base` must outlive the context.
  explicit Context(const ContextBase& base)
      : own_(new Store{SourceManager(&base.sources), SymbolTable(&base.symbols)}),
        sources(own_->sources),
        symbols(own_->symbols) {}
  // What `outer` knows, with an emitter of its own: for a callee whose
  // diagnostics are its caller's to pass on (Emitter::Take), to read or to drop.
  // `outer` must outlive the context.
  Context(Context& outer, size_t error_limit)
      : sources(outer.sources), symbols(outer.symbols), limits(outer.limits), emitter(error_limit) {}

  SourceManager& sources;
  SymbolTable& symbols;
  Limits limits;
  Emitter emitter;
};

}  // namespace nnefc
