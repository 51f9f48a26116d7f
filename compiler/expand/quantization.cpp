// Evaluation of the lines of graph.quant.

#include "compiler/expand/quantization.h"

#include "compiler/expand/evaluate/machine.h"
#include "compiler/expand/literal_value.h"
#include "compiler/expand/rules.h"
#include "compiler/semantics/rules.h"
#include "compiler/support/tensor/trailing_ones.h"
#include "llvm/ADT/DenseSet.h"

namespace nnefc::expand {

const TensorQuantization::Argument* TensorQuantization::Find(std::string_view name) const {
  for (const Argument& argument : arguments) {
    if (argument.name == name) return &argument;
  }
  return nullptr;
}

namespace {

// Converts values to tensors, level by level instead of recursively, because arrays nest as deep as an
// expression.
class Tensors {
 public:
  // `graph` has the constants that may be arguments; null in the ratified dialect with its arrays.
  Tensors(const ir::Graph* graph, SourceRange range, Context& context)
      : graph_(graph), range_(range), context_(context) {}

  std::optional<TensorValue> Make(const Value& value) {
    if (graph_ != nullptr && value.kind() == ValueKind::kTensor)
      return OfConstant(graph_->node(value.port().node));
    Shape shape;
    std::vector<Value> level{value};
    while (!level.empty() && level[0].kind() == ValueKind::kArray) {
      const int64_t length = level[0].length();
      std::vector<Value> next;
      // Shared items of arrays count for each use.
      if (length > 0 && static_cast<int64_t>(level.size()) > context_.limits.items / length) {
        return TooMany();
      }
      for (const Value& array : level) {
        if (array.kind() != ValueKind::kArray || array.length() != length) return Jagged();
        next.insert(next.end(), array.items().begin(), array.items().end());
      }
      shape.push_back(length);
      level = std::move(next);
    }
    if (level.empty()) {
      context_.emitter.Emit(semantics::kQuantizationJagged, range_,
                            "an array without items gives no values to quantize with");
      return std::nullopt;
    }
    return Fill(std::move(shape), level);
  }

 private:
  // Handles `max = constant(shape = [1, 32], value = [..])` (P 7.1); trailing extents of 1 are implied.
  std::optional<TensorValue> OfConstant(const ir::Node& node) {
    const ir::Attribute* value = node.Is(ir::OpRole::kConstant) ? node.attributes().Find("value") : nullptr;
    const auto* scalars = value == nullptr ? nullptr : value->get<ir::Attribute::Scalars>();
    if (scalars == nullptr) {
      context_.emitter.Emit(
          kValueType, range_,
          "the result of `{}` cannot be an argument of a quantization; expected a literal or "
          "`constant`",
          node.type());
      return std::nullopt;
    }
    Shape shape = node.output().shape.known_extents();
    const int64_t volume = *Volume(shape);
    if (volume > context_.limits.items) return TooMany();
    llvm::SmallVector<float, 1> numbers(static_cast<size_t>(volume));
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = static_cast<float>((*scalars)[scalars->size() == 1 ? 0 : i]);
    shape.truncate(WithoutTrailingOnes(shape).size());
    return TensorValue::FromFloats(std::move(shape), numbers);
  }

  std::optional<TensorValue> Fill(Shape shape, llvm::ArrayRef<Value> items) {
    const bool logical = items[0].kind() == ValueKind::kLogical;
    llvm::SmallVector<float, 1> numbers;
    llvm::SmallVector<uint8_t, 1> logicals;
    for (const Value& item : items) {
      if (item.kind() == ValueKind::kArray) return Jagged();
      if (logical && item.kind() == ValueKind::kLogical) {
        logicals.push_back(item.logical() ? 1 : 0);
      } else if (!logical && item.kind() == ValueKind::kInteger) {
        numbers.push_back(static_cast<float>(item.integer()));
      } else if (!logical && item.kind() == ValueKind::kScalar) {
        numbers.push_back(static_cast<float>(item.scalar()));
      } else {
        context_.emitter.Emit(kValueType, range_, "{} cannot be an argument of a quantization",
                              KindText(item));
        return std::nullopt;
      }
    }
    if (logical) return TensorValue::FromBools(std::move(shape), logicals);
    return TensorValue::FromFloats(std::move(shape), numbers);
  }

  std::optional<TensorValue> TooMany() {
    context_.emitter.Emit(kLimitItems, range_, "an argument has more than {} items (`--max-items`)",
                          context_.limits.items);
    return std::nullopt;
  }

  std::optional<TensorValue> Jagged() {
    context_.emitter.Emit(semantics::kQuantizationJagged, range_,
                          "the arrays of a level have unequal lengths");
    return std::nullopt;
  }

  const ir::Graph* graph_;
  SourceRange range_;
  Context& context_;
};

class LineEvaluator {
 public:
  LineEvaluator(const semantics::CheckedDocument& quantization, ir::OpRegistry& registry,
                const semantics::StandardLibrary& library, Context& context)
      : quantization_(quantization),
        context_(context),
        graph_(&registry, ""),
        heap_(context.limits.items),
        builder_(graph_, {.registry = registry,
                          .library = library,
                          .dialect = ast::Dialect::kRatified,
                          .options = options_,
                          .heap = heap_,
                          .context = context}),
        machine_(quantization, builder_) {}

  std::vector<TensorQuantization> Run() {
    llvm::DenseSet<Symbol> distinct;
    std::vector<Entry> entries;
    std::vector<ast::ExprId> expressions;
    for (const ast::Quantization& line : quantization_.ast().quantizations) {
      const semantics::Binding* binding =
          line.invocation.valid() ? quantization_.binding(line.invocation) : nullptr;
      if (binding == nullptr || !distinct.insert(line.key.symbol).second) continue;
      entries.push_back({&line, binding, expressions.size()});
      for (ast::ExprId argument : binding->arguments) {
        if (argument.valid()) expressions.push_back(argument);
      }
    }
    values_ = machine_.Evaluate(expressions);
    std::vector<TensorQuantization> lines;
    for (const Entry& entry : entries) {
      if (auto line = Evaluate(entry)) lines.push_back(std::move(*line));
    }
    return lines;
  }

 private:
  struct Entry {
    const ast::Quantization* line;
    const semantics::Binding* binding;
    size_t first;  // first of its arguments, in values_
  };

  std::optional<TensorQuantization> Evaluate(const Entry& entry) {
    const semantics::Callee& callee = entry.binding->callee;
    const semantics::Signature& signature = callee.document->signature(callee.fragment);
    TensorQuantization line;
    line.tensor = context_.symbols.Text(entry.line->key.symbol);
    line.operation = context_.symbols.Text(signature.name.symbol);
    line.is_standard = callee.document->is_library();
    line.range = quantization_.ast().exprs[entry.line->invocation].range;
    // Without nested arrays, tensor expressions are accepted for tensors.
    const bool takes_nodes = !quantization_.dialect().nested_tensors;
    size_t next = entry.first;
    for (size_t i = 1; i < signature.parameters.size(); ++i) {
      const semantics::TypedName& parameter = signature.parameters[i];
      const ast::ExprId argument = entry.binding->arguments[i];
      std::optional<Value> value;
      SourceRange range = line.range;
      if (argument.valid()) {
        value = values_[next++];
        range = quantization_.ast().exprs[argument].range;
      } else if (parameter.default_value.valid()) {
        value = LiteralValue(callee.document->ast(), parameter.default_value, context_.symbols, heap_);
      }
      if (!value || value->poison()) return std::nullopt;
      std::optional<TensorValue> tensor =
          Tensors(takes_nodes ? &graph_ : nullptr, range, context_).Make(*value);
      if (!tensor) return std::nullopt;
      line.arguments.push_back(
          {std::string(context_.symbols.Text(parameter.name.symbol)), std::move(*tensor), range});
    }
    return line;
  }

  const semantics::CheckedDocument& quantization_;
  Context& context_;
  ExpandOptions options_;
  ir::Graph graph_;  // the constants among the arguments
  Heap heap_;
  build::GraphBuilder builder_;
  evaluate::Machine machine_;
  std::vector<Value> values_;
};

}  // namespace

std::vector<TensorQuantization> EvaluateQuantization(const semantics::CheckedDocument& quantization,
                                                     const semantics::StandardLibrary& library,
                                                     ir::OpRegistry& registry, Context& context) {
  return LineEvaluator(quantization, registry, library, context).Run();
}

}  // namespace nnefc::expand
