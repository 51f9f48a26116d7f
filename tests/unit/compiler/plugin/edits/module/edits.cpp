// A plug-in with a transformation of each phase that applies random edits to the graph. The environment
// variable NNEFC_EDITS_SEED selects the phase and the edits.

#include <nnefc/extension.h>

#include <cstdlib>
#include <stdexcept>

#include "tests/unit/compiler/transform/random_edits.h"

namespace {

using nnefc::transform::Graph;
using nnefc::transform::RandomEdits;

uint32_t Seed() {
  const char* text = std::getenv("NNEFC_EDITS_SEED");
  return text == nullptr ? 0 : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
}

// A transformation of the phase of `Base`; it runs if the seed divided by three has the remainder
// `Remainder`.
template <typename Base, uint32_t Remainder>
class Edits : public Base {
 public:
  explicit Edits(const char* name) : seed_(Seed()) {
    this->id = name;
    this->enabled = seed_ % 3 == Remainder;
    this->force_clean_up = seed_ % 4 == 0;
    this->force_shape_inference = seed_ % 5 == 0;
  }
  void FindAndReplacePattern(Graph& graph) override {
    RandomEdits edits(graph, seed_,
                      Remainder == 0 ? RandomEdits::Operations(RandomEdits::kNnef) : RandomEdits::kLowered);
    edits.Apply(1 + static_cast<int>(seed_ % 12));
    if (seed_ % 50 == 7) throw std::runtime_error("an exception of the plug-in");
    if (seed_ % 50 == 11) throw 11;
  }

 private:
  uint32_t seed_;
};

}  // namespace

NNEFC_EXTENSION(registrar) {
  using namespace nnefc::transform;
  registrar.AddTransformation<Edits<FrontReplacementPattern, 0>>("FrontEdits");
  registrar.AddTransformation<Edits<MiddleReplacementPattern, 1>>("MiddleEdits");
  registrar.AddTransformation<Edits<BackReplacementPattern, 2>>("BackEdits");
}
