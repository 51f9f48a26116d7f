// The stage `expand` of a compilation: the graph of operations with inferred shapes.

#include "compiler/driver/data/submodels.h"
#include "compiler/driver/data/variable_data.h"
#include "compiler/driver/rules.h"
#include "compiler/driver/stages.h"
#include "compiler/expand/rules.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::driver {
namespace {

// An expansion whose diagnostics are not emitted, since another one may replace it.
struct Candidate {
  expand::ExpandedDocument document;
  expand::InstanceRecord record;
  Emitter reported;
};

// Returns true if all errors are shapes that depend on symbols.
bool DependsOnSymbols(const Emitter& reported) {
  return reported.has_errors() && llvm::all_of(reported.diagnostics(), [](const Diagnostic& diagnostic) {
           return diagnostic.severity != Severity::kError || diagnostic.rule == &expand::kShapeUnknown;
         });
}

// The expansions of one document.
class ModelExpander {
 public:
  // All arguments must outlive this object.
  ModelExpander(const Opened& opened, const Checked& checked, const CompileOptions& options,
                ir::OpRegistry& registry, Context& context)
      : opened_(opened),
        checked_(*checked.document),
        options_(options),
        library_(options.plugins->library()),
        registry_(registry),
        context_(context),
        submodels_(*opened.model, library_, options.leniency, context) {}

  Expanded Run() {
    const expand::ExpandOptions settings = Settings();
    Candidate candidate = TrySymbols(Expand(settings), settings);
    Context quantizing(context_, context_.emitter.room());
    Expanded expanded;
    bool is_quantized = !options_.quantize;
    if (opened_.quantization_text) {
      expanded.quantization = CheckModelQuantization(*opened_.quantization_text, checked_, candidate.document,
                                                     library_, registry_, quantizing);
      is_quantized = expanded.quantization.complete;
      if (options_.quantize && is_quantized && candidate.document.complete)
        candidate = Quantize(std::move(candidate), expanded.quantization.table, settings);
    } else if (options_.quantize) {
      quantizing.emitter.Emit(kQuantizationMissing, SourceRange(),
                              "`{}` has no `graph.quant` file, which would say what to quantize",
                              opened_.model->name());
    }
    context_.emitter.Take(std::move(candidate.reported));
    context_.emitter.Take(std::move(quantizing.emitter));
    expanded.document = std::move(candidate.document);
    expanded.record = std::move(candidate.record);
    expanded.complete = expanded.document.complete && is_quantized;
    return expanded;
  }

 private:
  expand::ExpandOptions Settings() {
    expand::ExpandOptions settings{
        .input_shapes = options_.input_shapes,
        .lower = options_.lower,
        .purpose = options_.purpose,
        .variable_data =
            [this](const std::string& label, ElementType type) {
              Emitter quiet;  // mistakes in it are reported by its reader
              std::optional<package::DatFile> dat = opened_.model->ReadVariableFile(label, quiet);
              if (!dat) return std::optional<TensorValue>();
              if (type == ElementType::kDynamic) return std::optional(dat->value);
              if (checked_.dialect().vendor_meanings) ReadPlainIntegers(*dat);
              return package::DecodeDat(*dat, type, quiet);
            },
        .submodel = [this](const std::string& path,
                           SourceRange place) { return submodels_.Find(path, place); }};
    llvm::append_range(settings.lower, options_.adaptation.compounds);
    settings.replace_attributes = options_.adaptation.replace_attributes;
    if (opened_.quantization_text && checked_.dialect().vendor_meanings)
      settings.quantized = QuantizedNames(*opened_.quantization_text, checked_.dialect(), context_);
    return settings;
  }

  Candidate Expand(expand::ExpandOptions settings) {
    Context own(context_, context_.emitter.room());
    Candidate candidate;
    if (options_.keep_instances) settings.record = &candidate.record;
    candidate.document = expand::ExpandDocument(checked_, library_, registry_, settings, own);
    candidate.reported = std::move(own.emitter);
    return candidate;
  }

  // Returns the expansion with trial extents if operations depend on symbols that no input determines;
  // otherwise `first`.
  Candidate TrySymbols(Candidate first, expand::ExpandOptions settings) {
    settings.tries_symbols = !checked_.symbols().empty() && settings.purpose != expand::Purpose::kPrint &&
                             first.reported.has_errors();
    if (!settings.tries_symbols) return first;
    Candidate trial = Expand(std::move(settings));
    const bool is_chosen = DependsOnSymbols(first.reported) || !trial.reported.has_errors();
    return is_chosen ? std::move(trial) : std::move(first);
  }

  // Returns the expansion in which the tensors of graph.quant are quantized right after their computation.
  Candidate Quantize(Candidate exact, const QuantizationTable& table, expand::ExpandOptions settings) {
    settings.quantize = table.LinesToCompute(*exact.document.graph, *opened_.model);
    return TrySymbols(Expand(settings), settings);
  }

  const Opened& opened_;
  const semantics::CheckedDocument& checked_;
  const CompileOptions& options_;
  const semantics::StandardLibrary& library_;
  ir::OpRegistry& registry_;
  Context& context_;
  Submodels submodels_;
};

}  // namespace

Expanded ExpandModel(const Opened& opened, const Checked& checked, const CompileOptions& options,
                     ir::OpRegistry& registry, Context& context) {
  context.sources.Release(opened.graph_text);  // only diagnostics read it from now on
  Context own(context, context.emitter.room());
  Expanded expanded = ModelExpander(opened, checked, options, registry, own).Run();
  expanded.diagnostics = own.emitter.diagnostics();
  context.emitter.Take(std::move(own.emitter));
  return expanded;
}

}  // namespace nnefc::driver
