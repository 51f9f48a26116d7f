#pragma once

// Valid nodes of an operation, found from its description alone: a proposal is
// changed at random until the shape function accepts it, led by its messages
// (a proposal that gets a message not seen before got further, and "expected 4"
// says what to try next).

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

inline constexpr int64_t kMostElements = 4096;  // of an output of an operation of a random graph
// Of a wide one, whose extents are such as kernels are made for.
inline constexpr int64_t kMostWideElements = 32768;

struct InputProposal {
  ElementType type = ElementType::kF32;
  Shape shape = {};
  bool constant = false;
  std::vector<int64_t> values = {};  // of a constant that is no float, repeated as needed
};

struct ValueKind {
  ElementType type;
  Shape shape;
};

// A node of an operation with inputs of its own.
struct Proposal {
  std::vector<InputProposal> inputs;
  std::vector<int32_t> segments;  // how many inputs each entry of the description has
  ir::AttributeMap attributes;
  int outputs = 1;
  // Once it is accepted: inputs by whose values it is judged when it runs.
  std::vector<int32_t> judged = {};
  std::vector<ValueKind> results = {};  // once it is accepted
};

// True of a message of Accept that is none of the shape function's: the search
// goes no further, whatever the operation says.
bool IsNoVerdict(const std::string& message);

// The elements of a constant, floats in [-2, 2] in steps of 1/8.
TensorValue MakeConstant(const InputProposal& input, Random& random);

// An input that changes must leave as it is: what feeds it is there already.
struct Pinned {
  int input = -1;
};

class Prober {
 public:
  // At most `most_elements` in a value.
  Prober(const ir::OpRegistry& registry, int64_t most_elements)
      : registry_(registry), most_elements_(most_elements) {}

  // Infers the proposed node; fills results, or returns false with the message
  // in `message`.
  bool Accept(const OperationDescription& operation, Proposal& proposal, std::string& message) const;
  // Changes `proposal` until it is accepted; at most `tries` of them.
  bool Repair(const OperationDescription& operation, Proposal& proposal, Pinned pinned, int tries,
              Random& random) const;
  // Accepted proposals of the operation that differ in types, ranks, number of
  // inputs or choices; at most `most`.
  std::vector<Proposal> Explore(const OperationDescription& operation, int tries, size_t most,
                                Random& random) const;
  // The accepted proposal with some of its extents as large as kernels in blocks and vectors want them; as it
  // was where none is accepted.
  Proposal Widen(const OperationDescription& operation, const Proposal& proposal, int tries,
                 Random& random) const;
  // One more change of an accepted proposal; may not be accepted.
  Proposal Change(const OperationDescription& operation, const Proposal& proposal, Pinned pinned,
                  const std::string& message, Random& random) const;

 private:
  const ir::OpRegistry& registry_;
  int64_t most_elements_;
};

// An empty proposal: as many inputs as must be there, attributes that have no
// default at the simplest value.
Proposal Simplest(const OperationDescription& operation);

}  // namespace nnefc::differential
