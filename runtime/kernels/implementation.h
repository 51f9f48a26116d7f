// Tables of the implementations of an operation, and the choice among them.
#pragma once

#include <limits>
#include <optional>
#include <string_view>

#include "llvm/ADT/ArrayRef.h"
#include "runtime/kernels/kernel.h"
#include "runtime/kernels/reason.h"

namespace nnefc::runtime::kernels {

// The estimated time of an implementation, relative to the others of its table.
struct Cost {
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  double time;
  // Why the implementation is not the usual choice; empty if it is.
  Reason reason = Reason();

  // The cost of an implementation that runs only if it is requested by its id.
  static constexpr Cost NotByDefault(Reason reason) { return {kNever, reason}; }
};

using KernelOrReason = OrReason<PreparedKernel>;

// One implementation of an operation. Thresholds of speed belong to `cost`, which is called for applicable
// requests only; `is_applicable` has the conditions of correctness. It is called for each request, so it
// does not read filters; `make` may find further reasons, such as the kernels that oneDNN has.
struct Implementation {
  std::string_view id;
  Reason (*is_applicable)(const KernelRequest& request);
  Cost (*cost)(const KernelRequest& request);
  KernelOrReason (*make)(const KernelRequest& request);
};

// A cost that is independent of the request, in hundredths.
template <int kHundredths>
Cost FixedCost(const KernelRequest&) {
  return {kHundredths / 100.0};
}

// The condition of an implementation that applies to each request of its table.
inline Reason AlwaysApplies(const KernelRequest&) {
  return Reason();
}

// The implementations of an operation for one element type.
struct ImplementationTable {
  std::string_view type;  // of the elements that are computed: "f32"
  // Returns the reason if the table is not meant for a request.
  Reason (*serves)(const KernelRequest& request);
  llvm::ArrayRef<Implementation> implementations;
};

// Makes the kernel of the applicable implementation with the lowest cost, or the first of those with equal
// cost. If it cannot be made, tries the next one, then the next table that serves the request. If
// `request.way` is not empty, it is the id of an implementation of the first such table, and only that one is
// tried. Adds the others to `request.rejected`, in the order of the tables; without a kernel also the tables
// that do not serve the request.
std::optional<PreparedKernel> ChooseImplementation(llvm::ArrayRef<ImplementationTable> tables,
                                                   const KernelRequest& request);

}  // namespace nnefc::runtime::kernels
