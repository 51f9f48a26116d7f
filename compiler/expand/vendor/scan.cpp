// Loops of tract's dialect, converted to `tensor_iterator` (NNEFC_control_flow). Their lists refer to names
// instead of positions:
//
//     scan(body = 'f', scan = [("x_t", x, 0, 1)], full = [("w", w)], state = [("h", h_0, "h_t")],
//          output = [("h_t", "full", 0, 1), ("h_t", "last", 0, 1)])

#include "compiler/expand/vendor/scan.h"

#include "compiler/expand/evaluate/bodies.h"
#include "compiler/expand/generics.h"
#include "compiler/expand/rules.h"
#include "compiler/expand/vendor/lenient_arguments.h"
#include "compiler/ir/algorithms/infer.h"
#include "compiler/semantics/extensions.h"
#include "compiler/semantics/rules.h"
#include "compiler/syntax/walk.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace nnefc::expand::vendor {
namespace {

// Returns true for an item of a list with parts of these kinds: `(name, tensor, ..)`, `(result, 'full', axis,
// chunk)`.
bool HasForm(const Value& item, llvm::ArrayRef<ValueKind> kinds) {
  if (item.kind() != ValueKind::kTuple || item.length() != static_cast<int64_t>(kinds.size())) return false;
  for (size_t i = 0; i < kinds.size(); ++i) {
    const Value& part = item.item(static_cast<int64_t>(i));
    // A list may be a tensor.
    const bool fits = kinds[i] == ValueKind::kTensor ? part.tensor() || part.kind() == ValueKind::kArray
                                                     : part.kind() == kinds[i];
    if (!fits) return false;
  }
  return true;
}

// Returns the identifier that tract writes for a name of another framework, `/encoder/x.0`: other characters
// become `_`, and `_` precedes a name that does not begin with a letter.
std::string IdentifierOf(std::string_view name) {
  std::string identifier;
  if (name.empty() || !llvm::isAlpha(name.front())) identifier = "_";
  for (const char c : name) identifier += llvm::isAlnum(c) ? c : '_';
  return identifier;
}

// The lists of a loop, resolved to indices.
struct LoopLists {
  std::vector<Value> sliced, merged, invariant;
  std::vector<Value> slice_axes, slice_strides, concat_axes, concat_strides;
  std::vector<size_t> parameters;  // the body's parameters, in the order of `fed`
  std::vector<size_t> results;     // the body's results, in the order of the node's outputs
  std::vector<size_t> outputs;     // the node's outputs, in the order of the loop's results
};

// Returns true for a document that computes a part of a stream in each run: it declares the registry of
// streams, or has a property that tract's pulse pass adds.
bool IsOfStream(const ast::Document& document, const SymbolTable& symbols) {
  constexpr std::string_view kRegistry = "tract_registry tract_pulse";
  constexpr std::string_view kFragment = "tract_core_properties";
  constexpr std::string_view kPrefix = "pulse.";
  if (llvm::any_of(semantics::ExtensionsIn(document, symbols), [&](const semantics::ExtensionUse& use) {
        return use.extension != nullptr && use.extension->name == kRegistry;
      }))
    return true;
  bool is_found = false;
  for (const ast::Fragment& fragment : document.fragments) {
    if (!fragment.name.symbol.valid() || symbols.Text(fragment.name.symbol) != kFragment) continue;
    for (const ast::Assignment& assignment : fragment.body) {
      ast::WalkExprs(document, assignment.right, [&](ast::ExprId, const ast::Expr& expr) {
        const auto* text = std::get_if<ast::StringLiteral>(&expr.node);
        is_found |= text != nullptr && symbols.Text(text->value).starts_with(kPrefix);
      });
    }
  }
  return is_found;
}

bool ReadLoopLists(evaluate::Evaluation& state, const OpPlan& plan, llvm::ArrayRef<Value> arguments,
                   const semantics::Signature& body, const Site& site, LoopLists& lists) {
  using Kind = ValueKind;
  const auto argument = [&](std::string_view name) -> const Value& {
    return arguments[static_cast<size_t>(plan.Find(name))];
  };
  const auto fail = [&](std::string_view list, std::string message) {
    state.builder.Report(Fault{.rule = &kLoopLists, .message = std::move(message)}.At(list), plan, site);
    return false;
  };
  const auto find = [&](const std::vector<semantics::TypedName>& names, const Value& name) {
    const auto find_text = [&](std::string_view text) {
      return llvm::find_if(names, [&](const semantics::TypedName& each) {
        return state.context.symbols.Text(each.name.symbol) == text;
      });
    };
    auto found = find_text(name.text());
    if (found == names.end()) found = find_text(IdentifierOf(name.text()));
    return static_cast<size_t>(found - names.begin());
  };
  // Returns the tensor of a list item; poison after an error.
  const auto tensor = [&](const Value& value) {
    return value.kind() == ValueKind::kArray
               ? MakeConstant(value, semantics::TypeKind::kError, site, state.builder)
               : value;
  };
  const auto feed = [&](std::string_view list, llvm::ArrayRef<Kind> form, auto&& take) {
    for (const Value& item : argument(list).items()) {
      if (!HasForm(item, form))
        return fail(list,
                    fmt::format("an item of `{}` of `{}` is none of the declared form", list, plan.called));
      const size_t parameter = find(body.parameters, item.item(0));
      if (parameter == body.parameters.size() || llvm::is_contained(lists.parameters, parameter)) {
        return fail(
            list,
            fmt::format("`{}` of `{}` names `{}`, which is {}", list, plan.called, item.item(0).text(),
                        parameter == body.parameters.size() ? "not a parameter of the body" : "fed already"));
      }
      lists.parameters.push_back(parameter);
      if (!take(item)) return false;
    }
    return true;
  };
  for (std::string_view list : {"scan", "full", "state", "output"}) {
    if (argument(list).kind() != Kind::kArray)
      return fail(list, fmt::format("`{}` of `{}` is {}; expected an array", list, plan.called,
                                    KindText(argument(list))));
  }
  const bool is_fed =
      feed("scan", {Kind::kString, Kind::kTensor, Kind::kInteger, Kind::kInteger},
           [&](const Value& item) {
             lists.sliced.push_back(tensor(item.item(1)));
             lists.slice_axes.push_back(item.item(2));
             lists.slice_strides.push_back(item.item(3));
             return !lists.sliced.back().poison();
           }) &&
      feed("state", {Kind::kString, Kind::kTensor, Kind::kString},
           [&](const Value& item) {
             const size_t result = find(body.results, item.item(2));
             if (result == body.results.size())
               return fail("state",
                           fmt::format("`state` of `{}` names `{}`, which is not a result of the body",
                                       plan.called, item.item(2).text()));
             lists.merged.push_back(tensor(item.item(1)));
             lists.results.push_back(result);
             return !lists.merged.back().poison();
           }) &&
      feed("full", {Kind::kString, Kind::kTensor}, [&](const Value& item) {
        lists.invariant.push_back(tensor(item.item(1)));
        return !lists.invariant.back().poison();
      });
  if (!is_fed) return false;
  if (lists.sliced.empty() || lists.parameters.size() != body.parameters.size()) {
    return fail("scan",
                fmt::format("`{}` feeds {} of {} parameters of its body, {} of them by slices", plan.called,
                            lists.parameters.size(), body.parameters.size(), lists.sliced.size()));
  }
  for (const Value& item : argument("output").items()) {
    // Older documents have no extent of a part; it is 1.
    const bool is_short = HasForm(item, {Kind::kString, Kind::kString, Kind::kInteger});
    if (!is_short && !HasForm(item, {Kind::kString, Kind::kString, Kind::kInteger, Kind::kInteger}))
      return fail("output",
                  fmt::format("an item of `output` of `{}` is none of the declared form", plan.called));
    const size_t result = find(body.results, item.item(0));
    const auto state =
        llvm::find(llvm::ArrayRef<size_t>(lists.results).take_front(lists.merged.size()), result);
    const auto merged = static_cast<size_t>(
        state - llvm::ArrayRef<size_t>(lists.results).take_front(lists.merged.size()).begin());
    const bool is_last = item.item(1).text() == "last";
    if (result == body.results.size() || (is_last && merged == lists.merged.size())) {
      return fail("output", fmt::format("`output` of `{}` names `{}`; the body has no such {}", plan.called,
                                        item.item(0).text(), is_last ? "result that is a state" : "result"));
    }
    lists.outputs.push_back(is_last ? merged : lists.results.size());
    if (is_last) continue;
    lists.results.push_back(result);
    lists.concat_axes.push_back(item.item(2));
    lists.concat_strides.push_back(is_short ? Value::Integer(1) : item.item(3));
  }
  return true;
}

// Returns whether each iteration of this run counts, a vector: the stream has `skip` iterations before the
// first one. Returns poison after a reported error.
Value CountingIterations(const LoopLists& lists, int64_t skip, const OpPlan& plan, const Site& site,
                         build::GraphBuilder& builder) {
  using semantics::TypeKind;
  const ir::PartialShape& shape = builder.graph().output(lists.sliced[0].port()).shape;
  const int64_t axis = lists.slice_axes[0].integer(), part = std::abs(lists.slice_strides[0].integer());
  if (axis < 0 || axis >= shape.rank() || part == 0 || !shape[axis].known()) {
    builder.Report(Fault::Of(kLoopLists, "`skip` of `{}` is {}, but the number of its iterations is unknown",
                             plan.called, skip)
                       .At("skip"),
                   plan, site);
    return {};
  }
  // Floats count exactly beyond any delay of a stream.
  const int64_t count = shape[axis].value() / part;
  std::vector<Value> positions;
  for (int64_t i = 0; i < count; ++i) positions.push_back(Value::Scalar(static_cast<double>(i)));
  const auto constant = [&](std::vector<Value> items) {
    return MakeConstant(Value::Array(builder.heap(), std::move(items)), TypeKind::kScalar, site, builder);
  };
  Site scalar = site;
  scalar.generic = TypeKind::kScalar;
  const Value start = builder.MakeRatified("tract_pulse_total",
                                           {constant({Value::Scalar(static_cast<double>(count))})}, scalar);
  const Value position = builder.MakeRatified("add", {start, constant(std::move(positions))}, site);
  return builder.MakeRatified("ge", {position, Value::Scalar(static_cast<double>(skip))}, site);
}

// Makes the loop continue from the run before, after `skip` iterations of the stream. Returns false after a
// reported error.
bool ContinueStream(const OpPlan& plan, const semantics::Signature& body, const Site& site, int64_t skip,
                    LoopLists& lists, evaluate::BodyRun& run, build::GraphBuilder& builder) {
  const size_t num_sliced = lists.sliced.size();
  for (size_t i = 0; i < lists.merged.size(); ++i) {
    const Symbol parameter = body.parameters[lists.parameters[num_sliced + i]].name.symbol;
    run.state_names.push_back(fmt::format("{}.{}", builder.settings().context.symbols.Text(parameter),
                                          builder.graph().node_bound()));
    Site resumed = site;
    resumed.generic = ElementKind(lists.merged[i], builder.graph());
    lists.merged[i] = builder.MakeRatified(
        "tract_pulse_resume", {lists.merged[i], Value::String(builder.heap(), run.state_names.back(), false)},
        resumed);
    if (lists.merged[i].poison()) return false;
  }
  if (skip == 0 || lists.merged.empty()) return true;
  const Value counts = CountingIterations(lists, skip, plan, site, builder);
  if (counts.poison()) return false;
  lists.sliced.insert(lists.sliced.begin(), counts);
  lists.slice_axes.insert(lists.slice_axes.begin(), Value::Integer(0));
  lists.slice_strides.insert(lists.slice_strides.begin(), Value::Integer(1));
  lists.parameters.insert(lists.parameters.begin(), body.parameters.size());
  run.starts_late = true;
  run.first_state = num_sliced + 1;
  return true;
}

bool IsTrue(const Value& value) {
  return value.kind() == ValueKind::kLogical ? value.logical()
                                             : value.kind() == ValueKind::kInteger && value.integer() != 0;
}

}  // namespace

bool MakeLoop(evaluate::Evaluation& state, const evaluate::Call& call, const OpPlan& plan,
              llvm::ArrayRef<Value> arguments, const Site& site) {
  const Value& name = arguments[static_cast<size_t>(plan.Find("body"))];
  const Symbol symbol =
      name.kind() == ValueKind::kString ? state.context.symbols.Find(name.text()) : Symbol();
  // A loop in the library of an extension has its body there.
  const semantics::Callee body =
      symbol.valid() ? state.frame().chunk->document->FindOwn(symbol) : semantics::Callee();
  if (!body.valid()) {
    state.builder.Report(
        Fault::Of(semantics::kBodyFragment, "`body` of `{}` names no fragment of the document", plan.called)
            .At("body"),
        plan, site);
    return false;
  }
  if (!body.document->expandable(body.fragment)) return false;  // already reported
  const Value& skip = arguments[static_cast<size_t>(plan.Find("skip"))];
  if (skip.kind() != ValueKind::kInteger || skip.integer() < 0) {
    state.builder.Report(
        Fault::Of(kLoopLists, "`skip` of `{}` is {}; expected an integer of at least 0", plan.called,
                  skip.kind() == ValueKind::kInteger ? std::to_string(skip.integer()) : KindText(skip))
            .At("skip"),
        plan, site);
    return false;
  }
  const semantics::Signature& signature = body.document->signature(body.fragment);
  LoopLists lists;
  if (!ReadLoopLists(state, plan, arguments, signature, site, lists)) return false;
  auto run = std::make_unique<evaluate::BodyRun>();
  const auto is_set = [&](std::string_view name) {
    return IsTrue(arguments[static_cast<size_t>(plan.Find(name))]);
  };
  const bool continues = !is_set("reset_every_turn") && !is_set("external_state") &&
                         !state.builder.nodes().is_in_body() &&
                         (skip.integer() > 0 || IsOfStream(state.document.ast(), state.context.symbols));
  if (continues && !ContinueStream(plan, signature, site, skip.integer(), lists, *run, state.builder))
    return false;
  const OpPlan& loop = state.builder.RatifiedPlan("tensor_iterator");
  std::vector<Value> given(loop.parameters.size());
  for (size_t i = 0; i < given.size(); ++i) given[i] = loop.parameters[i].default_value;
  const auto set = [&](std::string_view parameter, std::vector<Value> items) {
    given[static_cast<size_t>(loop.Find(parameter))] = Value::Array(state.heap, std::move(items));
  };
  set("sliced", std::move(lists.sliced));
  set("merged", std::move(lists.merged));
  set("invariant", std::move(lists.invariant));
  set("slice_axes", std::move(lists.slice_axes));
  set("slice_strides", std::move(lists.slice_strides));
  set("concat_axes", std::move(lists.concat_axes));
  set("concat_strides", std::move(lists.concat_strides));
  given[static_cast<size_t>(loop.Find("body"))] = name;
  run->plan = &loop;
  run->site = site;
  run->site.expr = ast::ExprId();  // the arguments written there belong to another operation
  run->requests.emplace_back("body", evaluate::Call{.callee = body, .generic = {}, .expr = call.expr});
  const size_t num_outputs = lists.results.size();
  run->parameters = std::move(lists.parameters);
  run->results = std::move(lists.results);
  run->outputs = std::move(lists.outputs);
  run->goes_by_name = true;
  return evaluate::BeginBodies(state, std::move(run), given, num_outputs);
}

}  // namespace nnefc::expand::vendor
