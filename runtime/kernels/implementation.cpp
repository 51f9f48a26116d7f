// The choice of the cheapest applicable implementation from a table.

#include "runtime/kernels/implementation.h"

#include <algorithm>

#include "fmt/core.h"
#include "llvm/ADT/SmallVector.h"

namespace nnefc::runtime::kernels {

namespace {

constexpr Reason kSlower("another implementation is faster");
constexpr Reason kNotRequested("not requested");

struct Candidate {
  size_t row;
  Cost cost;
};
using Reasons = llvm::SmallVector<Reason, 16>;

// Returns the applicable implementations by increasing cost, and sets the reasons of the others.
llvm::SmallVector<Candidate, 16> FindCandidates(llvm::ArrayRef<Implementation> rows,
                                                const KernelRequest& request, Reasons& reasons) {
  llvm::SmallVector<Candidate, 16> candidates;
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool is_requested = rows[i].id == request.way;
    if (!request.way.empty() && !is_requested) {
      reasons[i] = kNotRequested;
      continue;
    }
    reasons[i] = rows[i].is_applicable(request);
    if (!reasons[i].empty()) continue;
    const Cost cost = is_requested ? Cost{0} : rows[i].cost(request);
    reasons[i] = cost.reason.empty() ? kSlower : cost.reason;
    if (cost.time < Cost::kNever) candidates.push_back({i, cost});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.cost.time < b.cost.time; });
  return candidates;
}

std::optional<PreparedKernel> ChooseFromTable(llvm::ArrayRef<Implementation> rows,
                                              const KernelRequest& request) {
  Reasons reasons(rows.size());
  std::optional<PreparedKernel> chosen;
  for (const Candidate& candidate : FindCandidates(rows, request, reasons)) {
    const Implementation& row = rows[candidate.row];
    KernelOrReason kernel = row.make(request);
    reasons[candidate.row] = kernel.reason();
    if (!kernel) continue;
    chosen = std::move(*kernel);
    chosen->implementation = row.id;
    break;
  }
  if (request.rejected == nullptr) return chosen;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!reasons[i].empty()) request.rejected->push_back({rows[i].id, reasons[i]});
  }
  return chosen;
}

}  // namespace

std::string Reason::ToString() const {
  return text_ == nullptr ? "" : fmt::format(fmt::runtime(text_), first_, second_);
}

std::optional<PreparedKernel> ChooseImplementation(llvm::ArrayRef<ImplementationTable> tables,
                                                   const KernelRequest& request) {
  llvm::SmallVector<RejectedImplementation, 4> others;
  for (const ImplementationTable& table : tables) {
    if (const Reason reason = table.serves(request); !reason.empty()) {
      others.push_back({table.type, reason});
      continue;
    }
    std::optional<PreparedKernel> kernel = ChooseFromTable(table.implementations, request);
    if (kernel || !request.way.empty()) return kernel;
  }
  if (request.rejected != nullptr)
    request.rejected->insert(request.rejected->end(), others.begin(), others.end());
  return std::nullopt;
}

}  // namespace nnefc::runtime::kernels
