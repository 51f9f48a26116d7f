#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/driver/compilation.h"
#include "compiler/ir/ops/costs.h"
#include "nlohmann/json.hpp"
#include "tools/api/explain/paint.h"

namespace nnefc::api {

// The costs of a lowered model, valid as long as its compilation.
struct ModelCosts {
  const ir::Graph& graph;
  ir::ops::GraphCosts costs;
};

// The message for a model without costs.
inline constexpr std::string_view kUnknownCosts =
    "the costs depend on unknown extents or numbers of iterations";

// Returns the costs of a lowered model; nothing if an extent or a number of iterations is unknown.
[[nodiscard]] std::optional<ModelCosts> CostsOf(const driver::Compilation& compilation);

// Returns the totals, then a table of the operations: the first `limit`, or all if negative.
std::string CostsText(const ModelCosts& model, int64_t limit, const Painter& paint);
// Returns one line of comma-separated values per operation, below a line of headings (RFC 4180).
std::string CostsCsv(const ModelCosts& model);
// Returns the totals as an object; numbers of multiply-accumulates, elements and bytes.
nlohmann::ordered_json TotalsJson(const ModelCosts& model);
// Returns the totals and operations as an object; numbers of multiply-accumulates, elements and bytes.
nlohmann::ordered_json CostsJson(const ModelCosts& model, const std::string& name);

// "f32[1,3,224,224]"
std::string TypeText(ElementType type, const ir::PartialShape& shape);

}  // namespace nnefc::api
