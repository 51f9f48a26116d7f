// The check of a model for a device.

#include "tools/api/forms/device.h"

#include <map>
#include <memory>

#include "compiler/device/check_device.h"
#include "compiler/device/read_profile.h"
#include "compiler/device/replace_attributes.h"
#include "tools/api/document_text.h"
#include "tools/api/forms/compare_conversion.h"

namespace nnefc::api {

bool IsDeviceProfile(std::string_view target) {
  return target.ends_with(".json");
}

std::optional<device::Profile> DeviceProfile::ReadFor(Context& context) {
  if (text_) return device::ReadProfileText(context.sources.AddText(path_, *text_), context);
  const std::optional<FileId> file = device::OpenProfile(path_, context);
  environment_failed_ = !file;
  if (!file) return std::nullopt;
  text_ = context.sources.Text(*file);
  return device::ReadProfileText(*file, context);
}

bool CheckForDevice(Program& program, DeviceProfile& profile) {
  const bool is_valid = program.Check();
  driver::Compilation& compilation = program.compilation();
  const auto read = profile.ReadFor(compilation.context());
  if (is_valid && read) device::CheckDevice(compilation, *read);
  return !compilation.context().emitter.has_errors();
}

bool CheckGraphForDevice(Program& program, DeviceProfile& profile) {
  driver::Compilation& compilation = program.compilation();
  const auto read = profile.ReadFor(compilation.context());
  if (read) device::CheckDeviceGraph(compilation, *read);
  return !compilation.context().emitter.has_errors();
}

void AdaptOptions(const std::string& model, driver::CompileOptions& options, DeviceProfile& profile) {
  options.adaptation = {};
  Program first(model, options);
  if (!first.compilation().RunUntil(driver::Stage::kExpand)) return;
  const auto read = profile.ReadFor(first.compilation().context());
  if (!read) return;
  options.adaptation.compounds = device::CompoundsToExpand(first.compilation(), *read);
  // The second expansion shows which attributes of the compounds' bodies are replaced.
  auto is_changed = std::make_shared<bool>(false);
  options.adaptation.replace_attributes = [is_changed, profile = *read](ir::Graph& graph) {
    *is_changed = device::ReplaceAttributes(graph, profile);
  };
  Program second(model, options);
  (void)second.compilation().RunUntil(driver::Stage::kExpand);
  if (!*is_changed) options.adaptation.replace_attributes = nullptr;
}

namespace {

// Adds the diagnostics of `from` to `to`, with the texts that they refer to.
void MoveDiagnostics(const Context& from, Context& to) {
  std::map<int32_t, FileId> moved;
  const auto move = [&](SourceRange& range) {
    if (!range.valid()) return;
    const auto [entry, is_new] = moved.try_emplace(range.file.index);
    if (is_new) {
      entry->second = to.sources.AddText(std::string(from.sources.Name(range.file)),
                                         std::string(from.sources.Text(range.file)));
    }
    range.file = entry->second;
  };
  for (nnefc::Diagnostic diagnostic : from.emitter.diagnostics()) {
    move(diagnostic.range);
    for (DiagnosticNote& note : diagnostic.notes) move(note.range);
    diagnostic.fixes.clear();  // nobody edits the document before it is written
    to.emitter.Add(std::move(diagnostic));
  }
}

}  // namespace

bool CheckTextForDevice(Program& program, const std::string& document, DeviceProfile& profile) {
  Context& context = program.compilation().context();
  driver::CompileOptions options;
  options.dialect = ast::Dialect::kRatified;
  options.document = document;
  options.plugins = program.compilation().plugins();
  options.limits = context.limits;
  driver::Compilation written("upgraded", std::move(options));
  const auto read = profile.ReadFor(written.context());
  if (read && written.RunUntil(driver::Stage::kCheck)) device::CheckDeviceLanguage(written, *read);
  MoveDiagnostics(written.context(), context);
  return !context.emitter.has_errors();
}

bool AdaptToDevice(Program& source, driver::ConvertedModel& model, DeviceProfile& profile) {
  const auto options_of_model = [&] {
    driver::CompileOptions options = ConvertedOptions(source.compilation(), model);
    options.purpose = nnefc::expand::Purpose::kPrint;
    return options;
  };
  driver::CompileOptions options = options_of_model();
  AdaptOptions(kConvertedName, options, profile);
  if (!options.adaptation.empty()) {
    Program adapted(kConvertedName, std::move(options));
    if (adapted.Expand())
      model.document = FlatText(adapted.compilation(), source.compilation().context().limits);
  }
  Program written(kConvertedName, options_of_model());
  const bool is_accepted = written.Expand() && CheckForDevice(written, profile);
  MoveDiagnostics(written.compilation().context(), source.compilation().context());
  return is_accepted;
}

}  // namespace nnefc::api
