// Loops of tract's dialect, converted to `tensor_iterator` (NNEFC_control_flow). Their lists refer to names
// instead of positions:
//
//     scan(body = 'f', scan = [("x_t", x, 0, 1)], full = [("w", w)], state = [("h", h_0, "h_t")],
//          output = [("h_t", "full", 0, 1), ("h_t", "last", 0, 1)])

#include "compiler/expand/vendor/scan.h"

#include "compiler/expand/evaluate/bodies.h"
#include "compiler/expand/rules.h"
#include "compiler/expand/vendor/lenient_arguments.h"
#include "compiler/ir/algorithms/infer.h"
#include "compiler/semantics/rules.h"
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
  if (skip.kind() != ValueKind::kInteger || skip.integer() != 0) {
    state.builder.Report(
        Fault::Of(kLoopLists, "`skip` of `{}` is not 0, which no loop here has", plan.called).At("skip"),
        plan, site);
    return false;
  }
  const semantics::Signature& signature = body.document->signature(body.fragment);
  LoopLists lists;
  if (!ReadLoopLists(state, plan, arguments, signature, site, lists)) return false;
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
  auto run = std::make_unique<evaluate::BodyRun>();
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
