#include "compiler/expand/vendor/products.h"

#include "compiler/expand/rules.h"
#include "compiler/ir/ops/opset/arithmetic/equation.h"
#include "compiler/ir/ops/rules.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::expand::vendor {
namespace {

using ir::ops::opset::Equation;

Value AxesList(llvm::ArrayRef<int64_t> items, Heap& heap) {
  std::vector<Value> values;
  for (int64_t item : items) values.push_back(Value::Integer(item));
  return Value::Array(heap, std::move(values));
}

Value FailEquation(const OpPlan& plan, std::string_view argument, const Site& site,
                   build::GraphBuilder& builder, std::string_view found) {
  builder.Report(
      Fault::Of(ir::ops::kTractEinsum, "`{}` of `{}` is {}", argument, plan.called, found).At(argument), plan,
      site);
  return {};
}

Value EinsteinSum(const Value& a, const Value& b, const std::string& expression, const Site& site,
                  build::GraphBuilder& builder) {
  Heap& heap = builder.heap();
  return builder.MakeRatified("tract_core_einsum",
                              {Value::Array(heap, {a, b}), Value::String(heap, expression, false)}, site);
}

// Removes the axes of labels that are not in `wanted`. Returns false if one has several elements.
bool RemoveAxes(Value& x, std::string& labels, std::string_view wanted, const Site& site,
                build::GraphBuilder& builder) {
  const ir::PartialShape shape = builder.graph().output(x.port()).shape;
  Site generic = site;
  generic.generic = semantics::TypeKind::kError;
  std::vector<int64_t> removed;
  std::string remaining;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (wanted.find(labels[i]) != std::string_view::npos) {
      remaining += labels[i];
      continue;
    }
    if (shape[static_cast<int64_t>(i)] != ir::Dim(1)) return false;
    removed.push_back(static_cast<int64_t>(i));
  }
  if (!removed.empty()) x = builder.MakeRatified("squeeze", {x, AxesList(removed, builder.heap())}, generic);
  labels = remaining;
  return true;
}

}  // namespace

std::optional<Value> ReplaceAligned(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site,
                                    build::GraphBuilder& builder) {
  Value x = arguments[0];
  if (x.kind() != ValueKind::kTensor) return x;
  const int64_t from = arguments[2].integer(), to = arguments[3].integer();
  const std::optional<Equation> equation = ir::ops::opset::ReadEquation(arguments[1].text());
  if (!equation || from >= static_cast<int64_t>(equation->operands.size()))
    return FailEquation(plan, "expr", site, builder,
                        "incomplete; expected labels for tensors, zero points and scales");
  const std::string& wanted = to < 0 ? equation->result : equation->operands[static_cast<size_t>(to)];
  std::string labels = equation->operands[static_cast<size_t>(from)];
  const ir::PartialShape& shape = builder.graph().output(x.port()).shape;
  if (!shape.rank_known() || shape.rank() == 0) return x;
  // A single value may have an axis without a label.
  while (static_cast<int64_t>(labels.size()) < shape.rank() && shape.volume() == 1) labels += '.';
  if (static_cast<int64_t>(labels.size()) != shape.rank() || !RemoveAxes(x, labels, wanted, site, builder))
    return FailEquation(plan, "expr", site, builder,
                        "without labels that fit the shapes of zero points and scales");
  Site generic = site;
  generic.generic = semantics::TypeKind::kError;
  std::vector<int64_t> order, missing;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const size_t axis = labels.find(wanted[i]);
    if (axis == std::string::npos) {
      missing.push_back(static_cast<int64_t>(i));
    } else {
      order.push_back(static_cast<int64_t>(axis));
    }
  }
  Heap& heap = builder.heap();
  if (!llvm::is_sorted(order) && !x.poison())
    x = builder.MakeRatified("transpose", {x, AxesList(order, heap)}, generic);
  if (!missing.empty() && !order.empty() && !x.poison())
    x = builder.MakeRatified("unsqueeze", {x, AxesList(missing, heap)}, generic);
  return x;
}

std::optional<Value> ReplaceProducts(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site,
                                     build::GraphBuilder& builder) {
  const std::optional<Equation> equation = ir::ops::opset::ReadEquation(arguments[2].text());
  if (!equation || equation->operands.size() < 2)
    return FailEquation(plan, "expr", site, builder, "incomplete; expected labels for two tensors");
  const std::string expression =
      fmt::format("{},{}->{}", equation->operands[0], equation->operands[1], equation->result);
  return EinsteinSum(arguments[0], arguments[1], expression, site, builder);
}

std::optional<Value> ReplaceMatmul(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site,
                                   build::GraphBuilder& builder) {
  const auto fail = [&] {
    return FailEquation(plan, "axes", site, builder,
                        "invalid; expected the axes [m, k, k, n, m, n] of A, B and the result");
  };
  if (arguments[0].kind() != ValueKind::kTensor) return fail();  // a literal has no axes
  const ir::PartialShape& shape = builder.graph().output(arguments[0].port()).shape;
  const Value& axes = arguments[2];
  constexpr int64_t kMaxRank = 20;
  if (!shape.rank_known() || shape.rank() > kMaxRank || axes.length() != 6) return fail();
  std::string expression;
  for (int64_t tensor = 0; tensor < 3; ++tensor) {
    static constexpr std::string_view kLabels = "mkknmn";
    std::string labels(static_cast<size_t>(shape.rank()), ' ');
    for (int64_t i = 2 * tensor; i < 2 * tensor + 2; ++i) {
      const Value& axis = axes.item(i);
      if (axis.kind() != ValueKind::kInteger || axis.integer() < 0 || axis.integer() >= shape.rank())
        return fail();
      char& label = labels[static_cast<size_t>(axis.integer())];
      if (label != ' ') return fail();
      label = kLabels[static_cast<size_t>(i)];
    }
    char batch = 'A';
    for (char& label : labels) {
      if (label == ' ') label = batch++;
    }
    expression += tensor == 0 ? labels : (tensor == 1 ? "," : "->") + labels;
  }
  return EinsteinSum(arguments[0], arguments[1], expression, site, builder);
}

}  // namespace nnefc::expand::vendor
