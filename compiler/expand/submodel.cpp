// Submodels, called by label in tract's dialect. The graph of each becomes a frame: its externals are the
// arguments of the call, and the labels of its variables are prefixed with its path.

#include "compiler/expand/compile.h"
#include "compiler/expand/lenient_arguments.h"
#include "compiler/expand/machine.h"
#include "compiler/expand/rules.h"

namespace nnefc::expand {

Machine::SubmodelRun* Machine::submodel() {
  for (size_t i = frames_.size(); i-- > 0;) {
    if (frames_[i].submodel != nullptr) return frames_[i].submodel.get();
  }
  return nullptr;
}

// Returns the submodel's name for the external that is being created.
std::string_view Machine::InputName() {
  size_t i = frames_.size() - 1;
  while (frames_[i].submodel == nullptr) --i;
  const Symbol name = frames_[i].chunk->statements[static_cast<size_t>(frames_[i].statement)].identifier;
  return name.valid() ? context_.symbols.Text(name) : "";
}

bool Machine::MakeSubmodel(const Call& call, const OpPlan& plan, llvm::ArrayRef<Value> arguments,
                           const Site& site) {
  const Value& label = arguments[static_cast<size_t>(plan.Find("label"))];
  const Value& input = arguments[static_cast<size_t>(plan.Find("input"))];
  if (label.kind() != ValueKind::kString || !options_.submodel) {
    builder_.Report(
        Fault::Of(kValueType, "`label` of `{}` is {}; expected a string", plan.called, label.KindText())
            .At("label"),
        plan, site);
    return false;
  }
  auto run = std::make_shared<SubmodelRun>();
  if (const SubmodelRun* around = submodel()) run->path = around->path + "/";
  run->path += label.text();
  const SourceRange written = SitePlaces(plan, site).Find("label", -1);
  const semantics::CheckedDocument* document =
      options_.submodel(run->path, written.valid() ? written : site.range);
  if (document == nullptr || document->graph() == nullptr || !MayEnter(call)) return false;
  for (const Value& item : input.sequence() ? input.items() : llvm::ArrayRef<Value>(input)) {
    run->inputs.push_back(item.kind() == ValueKind::kTensor
                              ? item
                              : MakeConstant(item, semantics::TypeKind::kError, site, builder_));
    if (run->inputs.back().poison()) return false;
  }
  std::unique_ptr<Chunk>& chunk = submodel_chunks_[document];
  if (chunk == nullptr) chunk = CompileGraph(*document, context_.symbols, Defaults(), heap_);
  const size_t base = stack_.size();
  if (!Enter(
          {.chunk = chunk.get(), .call = &call, .base = base, .loop_base = loops_.size(), .submodel = run}))
    return false;
  run->symbols = builder_.symbols().Open(*document);
  for (size_t i = 0; i < document->symbols().size(); ++i)
    stack_[base + i] = Value::SymbolicExtent(run->symbols + static_cast<uint32_t>(i) + 1);
  return true;
}

bool Machine::TakeInput(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site) {
  SubmodelRun& run = *submodel();
  if (run.taken == run.inputs.size()) {
    builder_.Report(
        Fault::Of(kSubmodelInput, "the model `{}` has more externals than the {} tensors that it is given",
                  run.path, run.inputs.size()),
        site);
    return false;
  }
  const Value given = run.inputs[run.taken++];
  const ir::Output& output = builder_.graph().output(given.port());
  if (!builder_.externals().CheckGiven(plan, arguments, output, site, InputName())) return false;
  stack_.resize(stack_.size() - arguments.size());
  stack_.push_back(given);
  return true;
}

void Machine::PrefixLabel(const OpPlan& plan, const SubmodelRun& run,
                          llvm::MutableArrayRef<Value> arguments) {
  const int32_t source = plan.parameters[static_cast<size_t>(plan.Find("label"))].source;
  Value& label = arguments[static_cast<size_t>(source)];
  if (label.kind() != ValueKind::kString) return;  // reported elsewhere
  const llvm::StringRef own = llvm::StringRef(label.text()).ltrim('/');
  label = Value::String(heap_, fmt::format("{}/{}", run.path, std::string_view(own)));
}

bool Machine::FinishSubmodel() {
  const Frame callee = std::move(frames_.back());
  frames_.pop_back();
  const SubmodelRun& run = *callee.submodel;
  builder_.symbols().Close(run.symbols);
  heap_.Charge(-callee.chunk->num_slots);
  const auto site = [&] { return SiteOf(callee.call->expr); };
  if (run.taken < run.inputs.size()) {
    builder_.Report(Fault::Of(kSubmodelInput, "the model `{}` takes {} of the {} tensors that it is given",
                              run.path, run.taken, run.inputs.size()),
                    site());
    return false;
  }
  std::vector<Value> results;
  for (int32_t slot : callee.chunk->result_slots) {
    Value value = slot < 0 ? Value() : std::move(stack_[callee.base + static_cast<size_t>(slot)]);
    if (value.kind() != ValueKind::kTensor && !value.poison())
      value = MakeConstant(value, semantics::TypeKind::kError, site(), builder_);
    if (value.poison()) return false;
    results.push_back(std::move(value));
  }
  stack_.resize(callee.base);
  // `[y] = ..` expects an array; any other use receives a single result directly.
  const Chunk& chunk = *frame().chunk;
  const bool is_listed = callee.call->direct && frame().statement >= 0 &&
                         chunk.statements[static_cast<size_t>(frame().statement)].array_length >= 0;
  if (results.size() == 1 && !is_listed) {
    stack_.push_back(std::move(results[0]));
  } else {
    stack_.push_back(Value::Array(heap_, std::move(results)));
  }
  return true;
}

}  // namespace nnefc::expand
