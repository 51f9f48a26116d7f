// Loading of plug-ins, and validation of their contributions.

#include "compiler/plugin/plugins.h"

#include <filesystem>
#include <stdexcept>

#include "compiler/ir/ops/opset/op_context.h"
#include "compiler/plugin/declared_row.h"
#include "compiler/plugin/interface.h"
#include "compiler/plugin/rules.h"
#include "compiler/semantics/extensions.h"
#include "compiler/support/files/file.h"
#include "compiler/transform/guard.h"
#include "compiler/transform/pipeline/standard.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::plugin {
namespace {

// Checks the inputs and attributes against the row, as for OpenVINO operations: files may contain anything.
void CheckSchema(ir::InferContext& context) {
  ir::ops::opset::OpContext(context).CheckSchema();
}

// Adds the plug-in's name to exceptions of a shape function.
void NameInFailures(ir::InferFunction& function, const std::string& plugin) {
  if (function == nullptr) return;
  function = [inner = std::move(function), plugin](ir::InferContext& context) {
    try {
      inner(context);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      throw std::runtime_error(fmt::format("{} (in `{}`)", error.what(), plugin));
    } catch (...) {
      throw std::runtime_error(
          fmt::format("it threw something other than a std::exception (in `{}`)", plugin));
    }
  };
}

}  // namespace

std::shared_ptr<const Plugins> Plugins::Load(const std::vector<std::string>& paths) {
  auto plugins = std::make_shared<Plugins>();
  std::vector<std::filesystem::path> loaded;
  std::vector<std::string> folders;
  for (const std::string& path : paths) {
    std::error_code none;
    std::filesystem::path whole = std::filesystem::weakly_canonical(path, none);
    if (!none && llvm::is_contained(loaded, whole)) continue;
    loaded.push_back(std::move(whole));
    if (std::filesystem::is_directory(path, none)) {
      folders.push_back(path);
    } else {
      plugins->LoadOne(path);
    }
  }
  if (!folders.empty()) plugins->LoadFolders(folders);
  plugins->DeclareOperations();
  return plugins;
}

void Plugins::Report(Emitter& emitter, bool& environment_failed) const {
  for (const Mistake& mistake : mistakes_) {
    environment_failed |= mistake.rule == &kUnreadable;
    emitter.Emit(*mistake.rule, {}, "{}", mistake.message);
  }
}

// ---- loading ----

void Plugins::LoadOne(const std::string& path) {
  const ErrorOr<std::shared_ptr<const MappedFile>> file = MappedFile::Open(path);
  if (!file) {
    mistakes_.push_back({&kUnreadable, file.error().message});
    return;
  }
  if (path.ends_with(".py")) {
    Fail(kNoPlugin, path, "it is a Python module; pass the folder that contains it");
    return;
  }
  // Checked before loading, because that runs initializers.
  const ErrorOr<std::string, LoadError> interface = ReadInterface((*file)->bytes());
  if (!interface) {
    Fail(kNoPlugin, path, "{}", interface.error().message);
    return;
  }
  if (*interface != NNEFC_INTERFACE) {
    Fail(kOtherInterface, path,
         "it was built for another nnefc; rebuild it with this one ({}; this one has {})", *interface,
         NNEFC_INTERFACE);
    return;
  }
  // A name without a slash would be searched in the system's library folders.
  const auto code = SharedLibrary::Load(std::filesystem::absolute(path).string());
  if (!code) {
    Fail(kNotLoadable, path, "{}", code.error().message);
    return;
  }
  Plugin& plugin = plugins_.emplace_back(Plugin{.path = path, .code = *code});
  // An error discards all registrations; the code stays loaded, because exceptions may refer to it.
  if (!RunRegistration(plugin) || !IsSound(plugin)) plugin.registrar = Registrar();
}

void Plugins::LoadFolders(const std::vector<std::string>& paths) {
  const auto loader = llvm::find_if(
      plugins_, [](const Plugin& plugin) { return plugin.registrar.folder_loader() != nullptr; });
  if (loader == plugins_.end()) {
    for (const std::string& path : paths) {
      mistakes_.push_back({&kUnreadable, fmt::format("`{}` is a folder, no shared library; `python -m nnefc` "
                                                     "takes folders of Python modules",
                                                     path)});
    }
    return;
  }
  const std::shared_ptr<const SharedLibrary> code = loader->code;
  std::vector<ExtensionFolder> folders;
  folders.reserve(paths.size());
  for (const std::string& path : paths) folders.push_back({.path = path});
  try {
    loader->registrar.folder_loader()(folders);
  } catch (const std::exception& error) {
    Fail(kRegistrationFailed, loader->path, "it cannot load folders: {}", error.what());
    return;
  } catch (...) {
    Fail(kRegistrationFailed, loader->path,
         "it cannot load folders: it threw something other than a std::exception");
    return;
  }
  for (ExtensionFolder& folder : folders) {
    if (!folder.mistake.empty()) {
      Fail(kNotLoadable, folder.path, "{}", folder.mistake);
      continue;
    }
    Plugin& plugin = plugins_.emplace_back(Plugin{.path = folder.path, .code = code});
    for (TransformationFactory& make : folder.transformations)
      plugin.registrar.AddTransformation(std::move(make));
    for (ir::OpInfo& row : folder.operations) plugin.registrar.AddOperation(std::move(row));
    for (RegisteredKernel& kernel : folder.kernels)
      plugin.registrar.AddKernel(std::move(kernel.set), std::move(kernel.operation), std::move(kernel.add));
    if (!IsSound(plugin)) plugin.registrar = Registrar();
  }
}

bool Plugins::RunRegistration(Plugin& plugin) {
  using Function = void (*)(Registrar&);
  const char* name = NNEFC_TEXT_OF(NNEFC_REGISTER_FUNCTION);
  const auto function = reinterpret_cast<Function>(plugin.code->Find(name));
  if (function == nullptr)
    return Fail(kNoPlugin, plugin.path, "it has no `{}`, which `NNEFC_EXTENSION` makes", name);
  try {
    function(plugin.registrar);
    return true;
  } catch (const std::exception& error) {
    return Fail(kRegistrationFailed, plugin.path, "its registration failed: {}", error.what());
  } catch (...) {
    return Fail(kRegistrationFailed, plugin.path,
                "its registration failed: it threw something other than a std::exception");
  }
}

// ---- registrations ----

bool Plugins::IsSound(Plugin& plugin) {
  return HasSoundTransformations(plugin) && HasSoundLibraries(plugin) && HasSoundOperations(plugin);
}

bool Plugins::Owns(const Plugin& plugin, std::string name) {
  const auto [entry, is_new] = owners_.try_emplace(std::move(name), plugin.path);
  if (is_new) return true;
  return Fail(kDuplicateEntry, plugin.path, "the {} is registered {}", entry->first,
              entry->second == plugin.path ? "twice" : fmt::format("by `{}` already", entry->second));
}

bool Plugins::Describes(const Plugin& plugin, const transform::Transformation& made) {
  using transform::Transformation;
  static constexpr std::pair<std::string_view, void (*)(const Transformation&)> kFunctions[] = {
      {"phase", [](const Transformation& item) { (void)item.phase(); }},
      {"kind", [](const Transformation& item) { (void)item.kind(); }},
      {"RunBefore", [](const Transformation& item) { (void)item.RunBefore(); }},
      {"RunAfter", [](const Transformation& item) { (void)item.RunAfter(); }},
      {"Description", [](const Transformation& item) { (void)item.Description(); }},
      {"Example", [](const Transformation& item) { (void)item.Example(); }},
      {"ExampleOperations", [](const Transformation& item) { (void)item.ExampleOperations(); }},
      {"is_anchor", [](const Transformation& item) { (void)item.is_anchor(); }},
      {"replacement_id", [](const Transformation& item) { (void)item.replacement_id(); }}};
  for (const auto& [function, call] : kFunctions) {
    Emitter apart;
    if (transform::Guarded(made, function, apart, [&] { call(made); })) continue;
    return Fail(kRegistrationFailed, plugin.path, "{}", apart.diagnostics().front().message);
  }
  return true;
}

bool Plugins::HasSoundTransformations(const Plugin& plugin) {
  const transform::TransformationList standard = transform::StandardTransformations();
  for (const TransformationFactory& make : plugin.registrar.transformations()) {
    std::string name;
    try {
      const std::unique_ptr<transform::Transformation> made = make();
      if (made == nullptr)
        return Fail(kWrongEntry, plugin.path, "a transformation that it registers is null");
      name = made->name();
      if (!Describes(plugin, *made)) return false;
    } catch (const std::exception& error) {
      return Fail(kRegistrationFailed, plugin.path, "a transformation cannot be made: {}", error.what());
    } catch (...) {
      return Fail(kRegistrationFailed, plugin.path, "a transformation cannot be made");
    }
    if (standard.Find(name) != nullptr)
      return Fail(kDuplicateEntry, plugin.path, "nnefc has a transformation `{}`; an id belongs to one",
                  name);
    if (!Owns(plugin, fmt::format("transformation `{}`", name))) return false;
  }
  return true;
}

bool Plugins::HasSoundLibraries(const Plugin& plugin) {
  for (const auto& [name, text] : plugin.registrar.libraries()) {
    const semantics::AddedLibraryReport report = semantics::CheckAddedLibrary({name, text});
    if (!report.mistake.empty())
      return Fail(kLibraryText, plugin.path, "its library `{}` has a mistake: {}", name, report.mistake);
    if (!Owns(plugin, fmt::format("library `{}`", name))) return false;
    for (const std::string& fragment : report.fragments) {
      if (!Owns(plugin, fmt::format("fragment `{}`", fragment))) return false;
    }
  }
  return true;
}

bool Plugins::HasSoundRow(Plugin& plugin, const ir::OpInfo& row) {
  const std::string name = row.set + "." + row.name;
  if (row.set.empty() || row.name.empty())
    return Fail(kWrongEntry, plugin.path, "an operation that it registers has no set or no name: `{}`", name);
  if (row.infer == nullptr)
    return Fail(kWrongEntry, plugin.path, "the operation `{}` has no shape function", name);
  if (ir::StandardOps().Find(row.set, row.name).valid())
    return Fail(kDuplicateEntry, plugin.path, "nnefc has an operation `{}`", name);
  if (row.set != ir::kNnefSet && row.set.starts_with("opset"))
    return Fail(kWrongEntry, plugin.path, "the operation `{}` must be of a set of the plug-in's own", name);
  if (!Owns(plugin, fmt::format("operation `{}`", name))) return false;
  if (row.set != ir::kNnefSet) return true;
  const auto declares = owners_.find(fmt::format("fragment `{}`", row.name));
  if (declares == owners_.end() || declares->second != plugin.path)
    return Fail(kWrongEntry, plugin.path, "no library of it declares the operation `{}`", name);
  return true;
}

bool Plugins::HasSoundOperations(Plugin& plugin) {
  const Registrar& registrar = plugin.registrar;
  for (const ir::OpInfo& row : registrar.operations()) {
    if (!HasSoundRow(plugin, row)) return false;
  }
  const auto adds = [&](std::string_view set, std::string_view name) {
    return llvm::any_of(registrar.operations(),
                        [&](const ir::OpInfo& row) { return row.set == set && row.name == name; });
  };
  for (const auto& [operation, lowering] : registrar.lowerings()) {
    if (!adds(ir::kNnefSet, operation) || lowering == nullptr)
      return Fail(kWrongEntry, plugin.path, "the lowering of `{}` is of no NNEF operation that it adds",
                  operation);
    if (!Owns(plugin, fmt::format("lowering of `{}`", operation))) return false;
  }
  for (const Registrar::Kernel& kernel : registrar.kernels()) {
    if (!adds(kernel.set, kernel.operation) || kernel.add == nullptr)
      return Fail(kWrongEntry, plugin.path, "the kernel of `{}.{}` is of no operation that it adds",
                  kernel.set, kernel.operation);
    if (!Owns(plugin, fmt::format("kernel of `{}.{}`", kernel.set, kernel.operation))) return false;
  }
  return true;
}

void Plugins::DeclareOperations() {
  std::vector<semantics::AddedLibrary> texts;
  for (const Plugin& plugin : plugins_) {
    for (const auto& [name, text] : plugin.registrar.libraries()) texts.push_back({name, text});
  }
  if (!texts.empty()) library_ = std::make_unique<const semantics::StandardLibrary>(texts);
  for (Plugin& plugin : plugins_) {
    plugin.rows = plugin.registrar.operations();
    for (ir::OpInfo& row : plugin.rows) {
      NameInFailures(row.infer, plugin.path);
      NameInFailures(row.check, plugin.path);
      if (row.set != ir::kNnefSet) {
        if (row.check == nullptr) row.check = CheckSchema;
        continue;
      }
      const SymbolTable& symbols = library().base().symbols;
      const std::string mistake =
          FillFromDeclaration(row, library().FindOperation(symbols.Find(row.name)).callee, symbols);
      if (!mistake.empty()) Fail(kWrongEntry, plugin.path, "{}", mistake);
    }
  }
  RequireOperations();
}

// Checks that every primitive has the row of an operation.
void Plugins::RequireOperations() {
  for (const semantics::Extension* extension : library().extensions()) {
    if (extension->text.empty()) continue;
    const semantics::CheckedDocument& document = library().Get(*extension);
    for (const ast::Fragment& fragment : document.ast().fragments) {
      const std::string name(library().base().symbols.Text(fragment.name.symbol));
      if (fragment.has_body || owners_.count(fmt::format("operation `nnef.{}`", name)) != 0) continue;
      Fail(kWrongEntry, owners_.at(fmt::format("library `{}`", extension->name)),
           "the fragment `{}` of its library `{}` has no body, and no operation is registered for it", name,
           extension->name);
    }
  }
}

// ---- contributions to a run ----

bool Plugins::AddTransformations(transform::TransformationList& list, Emitter& emitter) const {
  for (const Plugin& plugin : plugins_) {
    const auto fail = [&](std::string_view why) {
      emitter.Emit(kRegistrationFailed, {}, "plug-in `{}`: a transformation cannot be made: {}", plugin.path,
                   why);
      return false;
    };
    for (const TransformationFactory& make : plugin.registrar.transformations()) {
      try {
        std::unique_ptr<transform::Transformation> made = make();
        if (made == nullptr) return fail("it is null");
        if (made->plugin.empty()) made->plugin = plugin.path;
        list.Add(std::move(made));
      } catch (const std::exception& error) {
        return fail(error.what());
      } catch (...) {
        return fail("its constructor threw something other than a std::exception");
      }
    }
  }
  return true;
}

void Plugins::AddOperations(ir::OpRegistry& registry) const {
  for (const Plugin& plugin : plugins_) {
    for (const ir::OpInfo& row : plugin.rows) registry.Add(row);
  }
}

lower::LowerFunction Plugins::FindLowering(const std::string& operation) const {
  for (const Plugin& plugin : plugins_) {
    for (const auto& [name, lowering] : plugin.registrar.lowerings()) {
      if (name == operation) return lowering;
    }
  }
  return nullptr;
}

void Plugins::AddKernels(runtime::kernels::KernelRegistry& registry) const {
  for (const Plugin& plugin : plugins_) {
    for (const Registrar::Kernel& kernel : plugin.registrar.kernels()) {
      const auto fail = [&](std::string_view why) {
        throw std::runtime_error(fmt::format("plug-in `{}`: the kernel of `{}.{}` cannot be added: {}",
                                             plugin.path, kernel.set, kernel.operation, why));
      };
      try {
        kernel.add(registry);
      } catch (const std::exception& error) {
        fail(error.what());
      } catch (...) {
        fail("it threw something other than a std::exception");
      }
    }
  }
}

}  // namespace nnefc::plugin
