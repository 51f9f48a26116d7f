// The first stage of a compilation: opening a model and detecting its format.

#include "compiler/driver/rules.h"
#include "compiler/driver/stages.h"
#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/text/text.h"
#include "compiler/openvino/read.h"
#include "compiler/support/files/file.h"

namespace nnefc::driver {
namespace {

// Returns the text of `file`, or its replacement.
FileId TextOf(FileId file, const CompileOptions& options, Context& context) {
  const std::string name(context.sources.Name(file));
  const auto found = options.texts.find(name);
  return found == options.texts.end() ? file : context.sources.AddText(name, found->second);
}

ErrorOr<std::unique_ptr<ir::Graph>> ReadGraphText(const std::string& path, ir::OpRegistry& registry,
                                                  Context& context) {
  ErrorOr<FileId> file = context.sources.Open(path);
  if (!file) return file.error();
  // Constants that are not in the text are in the .bin file next to it, if there is one.
  std::shared_ptr<const Buffer> elements;
  const auto bin_file = MappedFile::Open(path.substr(0, path.rfind('.')) + ".bin");
  if (bin_file) elements = Buffer::Map(*bin_file, 0, (*bin_file)->size());
  std::unique_ptr<ir::Graph> graph = ir::ParseGraph(*file, registry, context, std::move(elements));
  if (graph != nullptr && !ir::InferGraph(*graph, context.emitter)) graph.reset();
  return graph;
}

void OpenGraph(const std::string& path, ModelFormat format, ir::OpRegistry& registry, Context& context,
               Opened& opened) {
  ErrorOr<std::unique_ptr<ir::Graph>> graph = format == ModelFormat::kOpenVino
                                                  ? openvino::ReadOpenVino(path, registry, context)
                                                  : ReadGraphText(path, registry, context);
  if (graph) {
    opened.graph = std::move(*graph);
    opened.complete = opened.graph != nullptr;
    return;
  }
  opened.environment_failed = true;
  context.emitter.Emit(kFileUnreadable, {}, "{}", graph.error().message);
}

void OpenDocument(const std::string& path, const CompileOptions& options, Context& context, Opened& opened) {
  package::ModelOpenResult result =
      options.document ? package::ModelContainer::FromText(path, *options.document, context, options.data)
                       : package::ModelContainer::Open(path, context, options.open);
  opened.model = std::move(result.model);
  opened.environment_failed = result.environment_failed;
  if (opened.model == nullptr) return;
  opened.complete = true;
  opened.graph_text = TextOf(opened.model->graph_text(), options, context);
  if (const auto text = opened.model->quantization_text())
    opened.quantization_text = TextOf(*text, options, context);
  if (options.quantization)
    opened.quantization_text =
        context.sources.AddText(options.quantization->name, options.quantization->text);
}

}  // namespace

ModelFormat FormatOf(std::string_view path) {
  if (path.ends_with(".xml")) return ModelFormat::kOpenVino;
  return path.ends_with(".ir") ? ModelFormat::kGraphText : ModelFormat::kNnef;
}

Opened OpenModel(const std::string& path, ModelFormat format, const CompileOptions& options,
                 ir::OpRegistry& registry, Context& context) {
  Opened opened;
  if (!options.plugins->ok()) {
    options.plugins->Report(context.emitter, opened.environment_failed);
  } else if (format == ModelFormat::kNnef) {
    OpenDocument(path, options, context, opened);
  } else {
    OpenGraph(path, format, registry, context, opened);
  }
  opened.diagnostics = context.emitter.diagnostics();  // of the first stage
  return opened;
}

}  // namespace nnefc::driver
