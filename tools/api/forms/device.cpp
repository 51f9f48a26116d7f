// The check of a model for a device.

#include "tools/api/forms/device.h"

#include <map>
#include <memory>

#include "compiler/device/check_device.h"
#include "compiler/device/read_profile.h"
#include "tools/api/document_text.h"
#include "tools/api/forms/compare_conversion.h"

namespace nnefc::api {

bool IsDeviceProfile(std::string_view target) {
  return target.ends_with(".json");
}

bool CheckForDevice(Program& program, const std::string& profile, bool& environment_failed) {
  const bool is_valid = program.Check();
  driver::Compilation& compilation = program.compilation();
  const auto read = device::ReadProfile(profile, compilation.context(), environment_failed);
  if (is_valid && read) device::CheckDevice(compilation, *read);
  return !compilation.context().emitter.has_errors();
}

bool CheckGraphForDevice(Program& program, const std::string& profile, bool& environment_failed) {
  driver::Compilation& compilation = program.compilation();
  const auto read = device::ReadProfile(profile, compilation.context(), environment_failed);
  if (read) device::CheckDeviceGraph(compilation, *read);
  return !compilation.context().emitter.has_errors();
}

std::optional<std::vector<std::string>> CompoundsForDevice(Program& program, const std::string& profile,
                                                           bool& environment_failed) {
  driver::Compilation& compilation = program.compilation();
  const auto read = device::ReadProfile(profile, compilation.context(), environment_failed);
  if (!read) return std::nullopt;
  return device::CompoundsToExpand(compilation, *read);
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

bool AdaptToDevice(Program& source, driver::ConvertedModel& model, const std::string& profile,
                   bool& environment_failed) {
  std::unique_ptr<Program> program;
  const auto expanded = [&](std::vector<std::string> compounds) {
    driver::CompileOptions options = ConvertedOptions(source.compilation(), model);
    options.purpose = nnefc::expand::Purpose::kPrint;
    options.lower = std::move(compounds);
    program = std::make_unique<Program>(kConvertedName, std::move(options));
    return program->Expand();
  };
  const auto adapt = [&] {
    if (!expanded({})) return false;
    const auto compounds = CompoundsForDevice(*program, profile, environment_failed);
    if (!compounds) return false;
    if (!compounds->empty()) {
      if (!expanded(*compounds)) return false;
      model.document = FlatText(program->compilation(), source.compilation().context().limits);
      if (!expanded({})) return false;
    }
    return CheckForDevice(*program, profile, environment_failed);
  };
  const bool is_accepted = adapt();
  MoveDiagnostics(program->compilation().context(), source.compilation().context());
  return is_accepted;
}

}  // namespace nnefc::api
