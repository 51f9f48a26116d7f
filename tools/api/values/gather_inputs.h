#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/package/data_source.h"
#include "compiler/package/model.h"
#include "compiler/support/context.h"
#include "compiler/support/error_or.h"
#include "compiler/support/tensor/tensor_value.h"
#include "runtime/engine/executable.h"

namespace nnefc::api {

// The files with the data of inputs.
struct InputSources {
  std::vector<std::string> files;  // "NAME=FILE" of a .npy or .dat; the only input needs no "NAME="
  std::string archive;             // an .npz with data by name; empty if there is none
  std::optional<uint64_t> random;  // the seed of random data for the other inputs
  // If not 0, the data have a first axis in addition, with the data of this number of runs.
  int64_t runs = 0;
  uint64_t max_bytes =
      package::ModelOpenOptions().max_bytes;  // the limit on the unpacked size of the archive
};

// Returns whether a path ends in .npy or .dat.
bool IsTensorFile(const std::string& path);
// Reads such a file as data for `port`; returns no value after an error was emitted.
ErrorOr<std::optional<TensorValue>> ReadTensorFile(const std::string& path, const runtime::engine::Port& port,
                                                   Context& context);

// Reads the data of inputs. Returns an error for sources that fit no input, and for files that the system
// cannot open.
class InputGatherer {
 public:
  // `results` are the names of the graph's results, which an archive may also contain; `may_reshape` as for
  // ShapeAdvice. All references must outlive this object.
  InputGatherer(const InputSources& sources, const std::vector<runtime::engine::Port>& ports,
                std::vector<std::string> results, bool may_reshape, Context& context)
      : sources_(sources),
        ports_(ports),
        results_(std::move(results)),
        may_reshape_(may_reshape),
        context_(context) {}

  // Returns the data of all inputs; no value after an error was emitted.
  ErrorOr<std::optional<std::vector<TensorValue>>> Gather();
  // Returns the shapes of the data for inputs with unknown extents.
  ErrorOr<std::map<std::string, Shape>> ShapesOfOpenInputs();

 private:
  // Read the sources. The value is false after an error of the archive was emitted.
  ErrorOr<bool> ReadFiles();
  ErrorOr<Success> ReadNamedFile(const std::string& text);
  ErrorOr<bool> ReadArchive();
  std::optional<TensorValue> InputFor(const runtime::engine::Port& port);

  const InputSources& sources_;
  const std::vector<runtime::engine::Port>& ports_;
  std::vector<std::string> results_;
  bool may_reshape_;
  Context& context_;
  std::map<std::string, TensorValue> given_;
  std::set<std::string> unreadable_;  // already reported
};

}  // namespace nnefc::api
