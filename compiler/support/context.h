#pragma once

#include <cstdint>
#include <memory>

#include "compiler/support/diagnostics/diagnostics.h"
#include "compiler/support/text/source.h"
#include "compiler/support/text/symbol.h"

namespace nnefc {

// Upper bounds on the resources that a document may use. Each has a command-line flag with its name and a
// diagnostic that names the flag.
struct Limits {
  int64_t nesting = 1000;        // --max-nesting: brackets and operators within a statement
  int64_t recursion = 10000;     // --max-recursion: fragment calls on the stack
  int64_t steps = 50'000'000;    // --max-steps: expressions evaluated during expansion
  int64_t operations = 400'000;  // --max-operations: operations made by fragments
  int64_t items = 20'000'000;    // --max-items: live array items and string bytes
};

// The initial content of contexts: texts and names of libraries, read once per process. It is fully built
// first and never changed afterwards, so that threads can share it.
struct ContextBase {
  SourceManager sources = SourceManager::MakeBase();
  SymbolTable symbols;
};

// The state shared by the stages of one run: texts, interned names, limits and the diagnostics emitter. It
// must outlive everything that points into it.
struct Context {
 private:
  struct Store {
    SourceManager sources;
    SymbolTable symbols;
  };
  std::unique_ptr<Store> own_ = {};

 public:
  Context() : own_(std::make_unique<Store>()), sources(own_->sources), symbols(own_->symbols) {}
  // Requires that `base` outlives the context.
  explicit Context(const ContextBase& base)
      : own_(new Store{SourceManager(&base.sources), SymbolTable(&base.symbols)}),
        sources(own_->sources),
        symbols(own_->symbols) {}
  // Shares the sources, symbols and limits of `outer`, with a separate emitter. For a callee whose
  // diagnostics the caller forwards (Emitter::Take), reads or drops. `outer` must outlive the context.
  Context(Context& outer, size_t error_limit)
      : sources(outer.sources), symbols(outer.symbols), limits(outer.limits), emitter(error_limit) {}

  SourceManager& sources;
  SymbolTable& symbols;
  Limits limits;
  Emitter emitter;
};

}  // namespace nnefc
