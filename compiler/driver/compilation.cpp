#include "compiler/driver/compilation.h"

#include <chrono>

#include "compiler/driver/rules.h"
#include "compiler/driver/variable_data.h"
#include "compiler/expand/expand.h"
#include "compiler/ir/infer.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/lower/lower.h"
#include "compiler/openvino/read.h"
#include "compiler/support/file.h"
#include "compiler/syntax/parse.h"

namespace nnefc {

std::string_view Name(Stage stage) {
  switch (stage) {
    case Stage::kOpen:
      return "open";
    case Stage::kParse:
      return "parse";
    case Stage::kCheck:
      return "check";
    case Stage::kExpand:
      return "expand";
    case Stage::kLower:
      return "lower";
  }
  return "";
}

Compilation::Compilation(std::string path, CompileOptions options)
    : path_(std::move(path)),
      options_(std::move(options)),
      is_openvino_(!options_.document && IsOpenVino(path_)) {
  context_.limits = options_.limits;
  context_.emitter = Emitter(options_.error_limit);
}

Compilation::~Compilation() = default;

bool Compilation::IsOpenVino(std::string_view path) {
  return path.ends_with(".xml") || path.ends_with(".ir");
}

bool Compilation::RunUntil(Stage last) {
  auto next = static_cast<int>(times_.size());
  for (int stage = next; !failed_ && stage <= static_cast<int>(last); ++stage) {
    if (observer_) observer_(static_cast<Stage>(stage));
    auto start = std::chrono::steady_clock::now();
    failed_ = !Run(static_cast<Stage>(stage)) || (options_.verify && !VerifyStage(static_cast<Stage>(stage)));
    std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    times_.push_back({static_cast<Stage>(stage), elapsed.count()});
  }
  return !failed_;
}

void Compilation::SetInputShapes(const std::map<std::string, Shape>& shapes) {
  NNEFC_CHECK(expanded_.complete && lowered_ == nullptr);
  for (const auto& [name, shape] : shapes) options_.input_shapes[name] = shape;
  times_.resize(static_cast<size_t>(Stage::kExpand));
}

bool Compilation::VerifyStage(Stage stage) {
  const ir::Graph* graph = nullptr;
  if (stage == Stage::kOpen && is_openvino_) graph = lowered_.get();
  if (stage == Stage::kExpand && !is_openvino_) graph = expanded_.graph.get();
  if (stage == Stage::kLower && !is_openvino_) graph = lowered_.get();
  if (graph == nullptr) return true;
  const ir::PortNames names = stage == Stage::kOpen ? ir::PortNames::kAny : ir::PortNames::kDistinct;
  const std::vector<std::string> violations = ir::VerifyInferred(*graph, names);
  for (const std::string& violation : violations) {
    context_.emitter.Emit(kGraphInvalid, {}, "a fault of nnefc, not of the model: after the stage `{}`, {}",
                          Name(stage), violation);
  }
  return violations.empty();
}

bool Compilation::Run(Stage stage) {
  if (is_openvino_) {
    if (stage == Stage::kOpen) return OpenGraph();
    return stage != Stage::kLower || LowerGraphText();
  }
  switch (stage) {
    case Stage::kOpen:
      return Open();
    case Stage::kParse:
      return Parse();
    case Stage::kCheck:
      return Check();
    case Stage::kExpand:
      return Expand();
    case Stage::kLower:
      return Lower();
  }
  return false;
}

bool Compilation::Open() {
  ModelOpenResult result = options_.document
                               ? ModelContainer::FromText(path_, *options_.document, context_)
                               : ModelContainer::Open(path_, context_, {.max_bytes = options_.max_bytes});
  model_ = std::move(result.model);
  environment_failed_ = result.environment_failed;
  if (model_ == nullptr) return false;
  graph_text_ = TextOf(model_->graph_text());
  if (model_->quantization_text()) quantization_text_ = TextOf(*model_->quantization_text());
  if (options_.quantization)
    quantization_text_ = context_.sources.AddText(options_.quantization->name, options_.quantization->text);
  return true;
}

FileId Compilation::TextOf(FileId file) {
  const std::string name(context_.sources.Name(file));
  auto found = options_.texts.find(name);
  return found == options_.texts.end() ? file : context_.sources.AddText(name, found->second);
}

bool Compilation::OpenGraph() {
  return llvm::StringRef(path_).endswith(".xml") ? OpenOpenVino() : OpenGraphText();
}

bool Compilation::OpenGraphText() {
  ErrorOr<std::shared_ptr<const MappedFile>> file = MappedFile::Open(path_);
  if (!file) {
    environment_failed_ = true;
    context_.emitter.Emit(kFileUnreadable, {}, "{}", file.error().message);
    return false;
  }
  std::unique_ptr<ir::Graph> graph =
      ir::ParseGraph(context_.sources.AddText(path_, std::string((*file)->text())), registry_, context_);
  if (graph == nullptr || !ir::InferGraph(*graph, context_.emitter)) return false;
  lowered_ = std::move(graph);
  return true;
}

// The text form may hold NNEF operations; their variables have no data.
bool Compilation::LowerGraphText() {
  const bool has_nnef = llvm::any_of(lowered_->nodes(), [&](ir::NodeId id) {
    const ir::Node& node = lowered_->node(id);
    return node.set() == ir::kNnefSet || !node.bodies().empty();
  });
  if (!has_nnef || !llvm::StringRef(path_).endswith(".ir")) return true;
  lowered_ = LowerGraph(*lowered_, {}, context_);
  return lowered_ != nullptr;
}

bool Compilation::OpenOpenVino() {
  ErrorOr<std::unique_ptr<ir::Graph>> graph = ReadOpenVino(path_, registry_, context_);
  if (!graph) {
    environment_failed_ = true;
    context_.emitter.Emit(kFileUnreadable, {}, "{}", graph.error().message);
    return false;
  }
  lowered_ = std::move(*graph);
  return lowered_ != nullptr;
}

bool Compilation::Parse() {
  parsed_ = ParseDocument(graph_text_, {.dialect = options_.dialect}, context_);
  if (parsed_->complete) return true;
  // What could be read of it may hold more mistakes.
  Check();
  return false;
}

bool Compilation::Check() {
  checked_ = CheckDocument(std::move(parsed_), library_, {.graph = options_.graph}, context_);
  if (checked_->complete()) return true;
  // What has nothing to do with these mistakes is expanded all the same, for
  // what is wrong with values, shapes and labels.
  if (!context_.emitter.exhausted()) Expand();
  return false;
}

bool Compilation::Expand() {
  const ExpandOptions options{.input_shapes = options_.input_shapes,
                              .lower = options_.lower,
                              .purpose = options_.purpose,
                              .record = options_.keep_instances ? &record_ : nullptr};
  expanded_ = ExpandDocument(*checked_, library_, registry_, options, context_);
  if (!quantization_text_) return expanded_.complete;
  quantization_ =
      CheckModelQuantization(*quantization_text_, *checked_, expanded_, library_, registry_, context_);
  return expanded_.complete && quantization_.complete;
}

bool Compilation::Lower() {
  LowerOptions options;
  VariableStore variables(*model_, *expanded_.graph, quantization_.table, options_.random_weights, context_);
  if (!options_.structure_only || model_->has_weights() || options_.random_weights) {
    options.variable_data = [&](const std::string& label, ElementType type, const ir::PartialShape& shape,
                                const ir::Origin& origin) {
      return variables.Load(label, type, shape, origin);
    };
  }
  lowered_ = LowerGraph(*expanded_.graph, options, context_);
  return lowered_ != nullptr;
}

}  // namespace nnefc
