// Input data of a run, from files, folders or random numbers.

#include "tools/api/values/gather_inputs.h"

#include <new>

#include "compiler/driver/rules.h"
#include "compiler/package/tensors/dat.h"
#include "compiler/package/tensors/npy.h"
#include "compiler/package/tensors/npz.h"
#include "compiler/package/tensors/random.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include "tools/api/values/bind_inputs.h"

namespace nnefc::api {

bool IsTensorFile(const std::string& path) {
  return path.ends_with(".npy") || path.ends_with(".dat");
}

ErrorOr<std::optional<TensorValue>> ReadTensorFile(const std::string& path, const runtime::engine::Port& port,
                                                   Context& context) {
  const ErrorOr<package::DataSource> source = package::OpenData(path, context);
  if (!source) return source.error();
  if (path.ends_with(".npy")) return package::ReadNpy(*source, context.emitter);
  std::optional<package::DatFile> dat = package::ReadDat(*source, context.emitter);
  if (!dat) return std::optional<TensorValue>();
  // The items of a tensor file are treated as numbers of any other file; logical ones may be 8-bit integers
  // (P 5.2).
  const bool is_plain = dat->coding == package::DatCoding::kPlain && port.type != ElementType::kBoolean;
  return is_plain ? std::optional(dat->value) : package::DecodeDat(*dat, port.type, context.emitter);
}

ErrorOr<std::optional<std::vector<TensorValue>>> InputGatherer::Gather() {
  const ErrorOr<bool> read = ReadFiles();
  if (!read) return read.error();
  std::optional<std::vector<TensorValue>> inputs;
  if (!*read) return inputs;
  inputs.emplace();
  for (const runtime::engine::Port& port : ports_) {
    if (std::optional<TensorValue> value = InputFor(port)) {
      // Aligned once; entries of an archive have arbitrary offsets, and each run would copy them.
      inputs->push_back(value->AlignedToElements());
    }
  }
  if (context_.emitter.has_errors()) inputs.reset();
  return inputs;
}

ErrorOr<std::map<std::string, Shape>> InputGatherer::ShapesOfOpenInputs() {
  std::map<std::string, Shape> shapes;
  const ErrorOr<bool> read = ReadFiles();
  if (!read) return read.error();
  if (!*read) return shapes;
  for (const runtime::engine::Port& port : ports_) {
    const auto given = given_.find(port.name);
    if (given == given_.end() || port.shape.extents()) continue;
    if (FitsShape(port.shape, given->second.shape())) shapes[port.name] = given->second.shape();
  }
  return shapes;
}

ErrorOr<bool> InputGatherer::ReadFiles() {
  for (const std::string& text : sources_.files) {
    if (auto read = ReadNamedFile(text); !read) return read.error();
  }
  if (sources_.archive.empty()) return true;
  return ReadArchive();
}

ErrorOr<Success> InputGatherer::ReadNamedFile(const std::string& text) {
  const size_t equals = text.find('=');
  const bool is_only = equals == std::string::npos && ports_.size() == 1;  // a single input needs no name
  if (equals == std::string::npos && !is_only)
    return SystemError{
        fmt::format("`--input {}`: expected NAME=FILE; only the one input of a graph needs no name", text)};
  const std::string name = is_only ? ports_.front().name : text.substr(0, equals);
  const runtime::engine::Port* port = FindPort(ports_, name);
  if (port == nullptr) return SystemError{fmt::format("`--input {}`: {}", text, NoInput(ports_, name))};
  const std::string path = is_only ? text : text.substr(equals + 1);
  if (!IsTensorFile(path))
    return SystemError{fmt::format("`--input {}={}`: expected a .npy or .dat file", name, path)};
  ErrorOr<std::optional<TensorValue>> value = ReadTensorFile(path, *port, context_);
  if (!value) return value.error();
  if (*value) {
    given_[port->name] = std::move(**value);
  } else {
    unreadable_.insert(port->name);
  }
  return Success{};
}

ErrorOr<bool> InputGatherer::ReadArchive() {
  if (IsTensorFile(sources_.archive)) {
    const std::string name = ports_.empty() ? "NAME" : ports_.front().name;
    return SystemError{
        fmt::format("`--inputs` takes an .npz; the data of one input are given by `--input {}={}`", name,
                    sources_.archive)};
  }
  const ErrorOr<package::DataSource> source = package::OpenData(sources_.archive, context_);
  if (!source) return source.error();
  auto tensors = package::ReadNpz(*source, context_, {.max_bytes = sources_.max_bytes});
  if (!tensors) return false;
  for (package::NamedTensor& tensor : *tensors) {
    const runtime::engine::Port* port = FindPort(ports_, tensor.name);
    // NumPy names an unnamed array `arr_0`; it is for the only input.
    if (port == nullptr && tensors->size() == 1 && ports_.size() == 1 && tensor.name == "arr_0")
      port = &ports_.front();
    // Archives of test data also contain the expected results.
    if (port == nullptr && llvm::is_contained(results_, tensor.name)) continue;
    if (port == nullptr) {
      context_.emitter.Emit(driver::kInputUnknown, {}, "`{}`: {}", sources_.archive,
                            NoInput(ports_, tensor.name));
      continue;
    }
    given_.try_emplace(port->name, std::move(tensor.value));
  }
  return true;
}

std::optional<TensorValue> InputGatherer::InputFor(const runtime::engine::Port& port) {
  const auto given = given_.find(port.name);
  if (given != given_.end()) return FitInput(given->second, port, may_reshape_, context_.emitter);
  if (unreadable_.contains(port.name)) return std::nullopt;
  if (!sources_.random) {
    context_.emitter.Emit(driver::kInputMissing, {},
                          "no data for input `{}` of {}{}: give `--input {}=FILE`, `--inputs FILE.npz` or "
                          "`--random-inputs SEED`",
                          port.name, Name(port.type), ir::ToString(port.shape), port.name);
    return std::nullopt;
  }
  const std::optional<Shape> shape = port.shape.extents();
  if (!shape) {
    context_.emitter.Emit(
        driver::kInputMissing, {},
        "the shape of input `{}` is {}: `--input-shape {}=...` makes it known for random data", port.name,
        ir::ToString(port.shape), port.name);
    return std::nullopt;
  }
  TensorValue value =
      package::RandomTensor(ir::DataRole::kInput, *sources_.random, port.name, port.type, *shape);
  if (!value.valid()) throw std::bad_alloc();
  return value;
}

}  // namespace nnefc::api
