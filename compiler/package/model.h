#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/package/tensors/dat.h"
#include "compiler/package/tensors/safetensors.h"
#include "compiler/support/context.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace nnefc::package {

class ModelContainer;

// Returns a label without leading slashes; exporters write some that do not change the file.
std::string_view WithoutSlashes(std::string_view label);

struct ModelOpenOptions {
  // The limit on the unpacked size of an archive: --max-bytes.
  uint64_t max_bytes = uint64_t{16} << 30;
  // Tensor files will be read: opening a compressed archive retains their data. Otherwise it retains only
  // their headers, and the first access to data decompresses the archive again.
  bool reads_data = false;
};

struct [[nodiscard]] ModelOpenResult {
  // Null on failure, after a diagnostic.
  std::unique_ptr<ModelContainer> model;
  // True if the failure is caused by the environment (a file that cannot be opened), not by the model.
  bool environment_failed = false;
};

// A model on disk (R 5.1, P 5.1). It is a folder or an archive (`.tar`, `.tgz`, other compressions) with
// `graph.nnef`, `<label>.dat` of each variable and optionally `graph.quant`, or a single document without
// weights. The path of the `graph.nnef` in a folder also opens the folder. As in tract, `.safetensors` files
// may contain the tensors of several labels, and sub-models may be nested: the folder `part` with a
// graph.nnef, or an archive `part.nnef.tar` or `part.nnef.tgz`. The labels of their tensors begin with
// `part/`. No file is ever unpacked to disk. Not thread-safe.
class ModelContainer {
 public:
  // Opens the model at `path`. The members of an archive may share one folder (`model/graph.nnef`). Entries
  // that leave it, links, devices and duplicate entries are errors. `context` must outlive the model.
  static ModelOpenResult Open(const std::string& path, Context& context,
                              const ModelOpenOptions& options = {});
  // Creates a model from an in-memory document, named `name` in messages, and the data of its variables by
  // label.
  static ModelOpenResult FromText(const std::string& name, std::string text, Context& context,
                                  std::map<std::string, TensorValue> data = {});
  virtual ~ModelContainer() = default;

  // The path that was opened.
  const std::string& name() const { return name_; }
  FileId graph_text() const { return graph_text_; }
  std::optional<FileId> quantization_text() const { return quantization_text_; }

  // Returns true for a folder or archive, a container of tensor files.
  virtual bool is_bundle() const { return false; }
  // Returns true if there is at least one tensor file, or a sub-model that may have one.
  bool has_weights() const;
  // Returns the labels of the existing tensors, sorted: `conv1/filter` for `conv1/filter.dat`. Variants such
  // as `conv1/filter.dat.int8` are ignored.
  std::vector<std::string> Labels() const;
  // Returns true if there is `<label>.dat` (ignoring leading slashes of the label), or a tensor with that
  // name in a `.safetensors` file.
  bool HasVariable(std::string_view label) const;
  // Reads the tensor file of a variable. Emits an error and returns nothing if it is missing, unreadable or
  // corrupt.
  [[nodiscard]] std::optional<DatFile> ReadVariableFile(std::string_view label, Emitter& emitter) const;
  // Reads only the header of the tensor file.
  [[nodiscard]] std::optional<DatHeader> ReadVariableHeader(std::string_view label, Emitter& emitter) const;
  // Reads the tensor file and decodes it as in DecodeDat, by the file's own quantization.
  [[nodiscard]] std::optional<TensorValue> ReadVariable(std::string_view label, ElementType type,
                                                        Emitter& emitter) const;

  // Returns true if there is `<label>.json`, a resource of tract.
  bool HasResource(std::string_view label) const;
  // Returns the text of an existing resource. Emits an error and returns nothing if it is unreadable or too
  // large.
  [[nodiscard]] std::optional<FileId> OpenResource(std::string_view label, Emitter& emitter) const;

  // Returns true if there is a sub-model with that label.
  bool HasSubmodel(std::string_view label) const;
  // Returns the document of an existing sub-model. Emits an error (for an archive only once) and returns
  // nothing if it is unreadable.
  [[nodiscard]] std::optional<FileId> OpenSubmodel(std::string_view label, Emitter& emitter) const;

 protected:
  ModelContainer(std::string name, FileId file, Context& context)
      : name_(std::move(name)), file_(file), context_(&context) {}

  // Calls `use` with the path of every file inside the model, until it returns false.
  virtual void Walk(llvm::function_ref<bool(const std::string&)> use) const = 0;
  // Requires that `member` is a path inside the model.
  virtual bool HasMember(const std::string& member) const = 0;
  [[nodiscard]] virtual std::optional<DataSource> ReadMember(const std::string& member,
                                                             Emitter& emitter) const = 0;
  // The first bytes of a tensor file, at least its header, and the file's size.
  struct Start {
    DataSource bytes;
    uint64_t size;
  };
  [[nodiscard]] virtual std::optional<Start> ReadStart(const std::string& member, Emitter& emitter) const;

  // Read an existing `.dat` file, or only its header.
  [[nodiscard]] virtual std::optional<DatFile> ReadTensor(const std::string& member, Emitter& emitter) const;
  [[nodiscard]] virtual std::optional<DatHeader> ReadHeader(const std::string& member,
                                                            Emitter& emitter) const;

  Context& context() const { return *context_; }

  std::string name_;
  FileId file_;  // the model as a whole, for messages
  Context* context_;
  FileId graph_text_;
  std::optional<FileId> quantization_text_;

  static ModelOpenResult OpenArchive(const DataSource& archive, const std::string& path, Context& context,
                                     const ModelOpenOptions& options);
  // Sets the options for nested archives. They share the remainder of the limit on unpacked bytes.
  void OpenInnerAs(const ModelOpenOptions& options, uint64_t unpacked);

 private:
  // A candidate for a nested archive.
  struct Inner {
    bool is_there = false;
    std::unique_ptr<ModelContainer> model = nullptr;  // null after a reported error
  };
  // Opens the archive with that path, excluding its suffix.
  const Inner& OpenInner(std::string_view path) const;
  // Returns the nested archive with the content of a label, and the label inside it; null if there is none.
  const Inner* FindInner(std::string_view label, std::string& inside) const;
  std::nullopt_t Lost(std::string_view label, Emitter& emitter) const;
  // Returns the text of a small existing file; nothing if it is unreadable or larger than `most` bytes.
  [[nodiscard]] std::optional<FileId> OpenText(const std::string& member, uint64_t most,
                                               Emitter& emitter) const;

  std::string SubmodelAround(std::string_view member) const;

  // The location of a variable's tensor: a separate file, or an entry of one.
  struct Place {
    std::string member;
    const SafetensorsEntry* entry = nullptr;  // entry of a `.safetensors` file
  };
  // Returns the location of a variable. Emits an error and returns nothing if there is none.
  [[nodiscard]] std::optional<Place> Find(std::string_view label, Emitter& emitter) const;
  // Returns all locations for a label.
  std::vector<Place> Places(std::string_view label) const;
  // Returns the headers of all `.safetensors` files by path. The first call reads them and reports their
  // errors.
  const std::map<std::string, SafetensorsIndex>& Indices() const;

  mutable std::optional<std::map<std::string, SafetensorsIndex>> indices_;
  mutable bool is_index_missing_ = false;                    // a header was unreadable
  mutable std::map<std::string, Inner, std::less<>> inner_;  // key: path
  ModelOpenOptions inner_options_;
  std::shared_ptr<uint64_t> left_;  // remaining limit for nested archives
  int depth_ = 0;                   // number of enclosing archives
};

}  // namespace nnefc::package
