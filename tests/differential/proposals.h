#pragma once

// Valid nodes of an operation, found from its description alone. A proposal is changed at random until the
// shape function accepts it. Messages guide the search: a proposal with a new message has passed more checks,
// and "expected 4" states a value to try.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "tests/differential/descriptions.h"
#include "tests/differential/random.h"

namespace nnefc::differential {

inline constexpr int64_t kMaxElements = 4096;  // elements per output of an operation of a random graph
// The same for wide graphs, with extents for which kernels are made.
inline constexpr int64_t kMaxWideElements = 32768;

struct InputProposal {
  ElementType type = ElementType::kF32;
  Shape shape = {};
  bool constant = false;
  std::vector<int64_t> values = {};  // elements of a constant that is not a float, repeated as needed
};

struct ValueKind {
  ElementType type;
  Shape shape;
};

// A node of an operation with its own inputs.
struct Proposal {
  std::vector<InputProposal> inputs;
  std::vector<int32_t> segments;  // number of inputs for each entry of the description
  ir::AttributeMap attributes;
  int outputs = 1;
  // Once accepted: inputs whose values are checked at run time.
  std::vector<int32_t> judged = {};
  std::vector<ValueKind> results = {};  // once accepted
};

// True of a message of Accept that is not from the shape function: the search rejects the node independently
// of the operation.
bool IsNoVerdict(const std::string& message);

// Returns the elements of a constant, floats in [-2, 2] in steps of 1/8.
TensorValue MakeConstant(const InputProposal& input, Random& random);

// An input that must not change, because its producer exists.
struct Pinned {
  int input = -1;
};

class Prober {
 public:
  // Allows at most `most_elements` in a value.
  Prober(const ir::OpRegistry& registry, int64_t most_elements)
      : registry_(registry), most_elements_(most_elements) {}

  // Infers the proposed node. Fills `results`, or returns false with the message in `message`.
  bool Accept(const OperationDescription& operation, Proposal& proposal, std::string& message) const;
  // Changes `proposal` until it is accepted, at most `tries` times.
  bool Repair(const OperationDescription& operation, Proposal& proposal, Pinned pinned, int tries,
              Random& random) const;
  // Returns at most `most` accepted proposals of the operation that differ in types, ranks, number of inputs
  // or choices.
  std::vector<Proposal> Explore(const OperationDescription& operation, int tries, size_t most,
                                Random& random) const;
  // Returns the accepted proposal with several extents as large as blocked and vectorised kernels need them,
  // or unchanged if none is accepted.
  Proposal Widen(const OperationDescription& operation, const Proposal& proposal, int tries,
                 Random& random) const;
  // Changes an accepted proposal once more; the result may be invalid.
  Proposal Change(const OperationDescription& operation, const Proposal& proposal, Pinned pinned,
                  const std::string& message, Random& random) const;

 private:
  const ir::OpRegistry& registry_;
  int64_t most_elements_;
};

// Returns an empty proposal: the minimum number of inputs, and the simplest value of each attribute without a
// default.
Proposal Simplest(const OperationDescription& operation);

}  // namespace nnefc::differential
