#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/package/dat.h"
#include "compiler/package/safetensors.h"
#include "compiler/support/context.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace nnefc {

class ModelContainer;

// A label as models know it: what exporters write with a slash before it names the
// same file.
std::string_view WithoutSlashes(std::string_view label);

struct ModelOpenOptions {
  // Bound on the unpacked size of an archive: --max-bytes.
  uint64_t max_bytes = uint64_t{16} << 30;
  // Tensor files will be read: those of a compressed archive are kept when it is
  // opened. Otherwise their headers alone are, and it is unpacked once more if a
  // file is read after all.
  bool reads_data = false;
};

struct [[nodiscard]] ModelOpenResult {
  // Null on failure, which was emitted.
  std::unique_ptr<ModelContainer> model;
  // True if the failure is the environment's (a file that cannot be opened)
  // and not the model's.
  bool environment_failed = false;
};

// A model as it lies on disk (R 5.1, P 5.1): a folder or an archive (`.tar`,
// `.tgz`, other compressions) with `graph.nnef`, `<label>.dat` of each variable
// and perhaps `graph.quant`, also known by its `graph.nnef`; or a bare document
// without weights. As tract reads them, `.safetensors` files may hold the tensors
// of many labels, and models may lie inside: the folder `part` with a graph.nnef,
// or an archive `part.nnef.tar` or `part.nnef.tgz`. The labels of their tensors
// begin with `part/` here. Nothing is ever unpacked to disk. A model is for one
// thread.
class ModelContainer {
 public:
  // Opens the model at `path`. The members of an archive may lie in one folder
  // (`model/graph.nnef`); entries that leave it, links, devices and entries
  // that are given twice are refused. `context` must outlive the model.
  static ModelOpenResult Open(const std::string& path, Context& context,
                              const ModelOpenOptions& options = {});
  // A document held in memory, which messages call `name`, and the data of its
  // variables by label.
  static ModelOpenResult FromText(const std::string& name, std::string text, Context& context,
                                  std::map<std::string, TensorValue> data = {});
  virtual ~ModelContainer() = default;

  // The path that was opened.
  const std::string& name() const { return name_; }
  FileId graph_text() const { return graph_text_; }
  std::optional<FileId> quantization_text() const { return quantization_text_; }

  // True of a folder or archive, where the tensor files of variables belong.
  virtual bool is_bundle() const { return false; }
  // True if there is at least one tensor file, or a model inside that may have one.
  bool has_weights() const;
  // Labels of the tensors present, sorted: `conv1/filter` for
  // `conv1/filter.dat`; variants such as `conv1/filter.dat.int8` do not count.
  std::vector<std::string> Labels() const;
  // True if there is `<label>.dat`, leading slashes of the label aside, or a tensor
  // of that name in a `.safetensors` file.
  bool HasVariable(std::string_view label) const;
  // Reads the tensor file of a variable; nothing if there is none, it cannot
  // be read or is damaged, which was emitted.
  [[nodiscard]] std::optional<DatFile> ReadVariableFile(std::string_view label, Emitter& emitter) const;
  // The same of what its header says, without the items.
  [[nodiscard]] std::optional<DatHeader> ReadVariableHeader(std::string_view label, Emitter& emitter) const;
  // The same, decoded as in DecodeDat by what the file itself tells.
  [[nodiscard]] std::optional<TensorValue> ReadVariable(std::string_view label, ElementType type,
                                                        Emitter& emitter) const;

  // True if there is `<label>.json`, a resource as tract has them.
  bool HasResource(std::string_view label) const;
  // The text of a resource that is there; nothing if it cannot be read or is too
  // large, which was emitted.
  [[nodiscard]] std::optional<FileId> OpenResource(std::string_view label, Emitter& emitter) const;

  // True if a model lies inside by that label.
  bool HasSubmodel(std::string_view label) const;
  // The document of one that is there; nothing if it cannot be read, which was emitted, of an archive once.
  [[nodiscard]] std::optional<FileId> OpenSubmodel(std::string_view label, Emitter& emitter) const;

 protected:
  ModelContainer(std::string name, FileId file, Context& context)
      : name_(std::move(name)), file_(file), context_(&context) {}

  // Calls `use` with the path inside the model of every file until it returns false.
  virtual void Walk(llvm::function_ref<bool(const std::string&)> use) const = 0;
  // `member` is the file's path inside the model; it leads nowhere else.
  virtual bool HasMember(const std::string& member) const = 0;
  [[nodiscard]] virtual std::optional<DataSource> ReadMember(const std::string& member,
                                                             Emitter& emitter) const = 0;
  // The first bytes of a tensor file, its header at least, and its size.
  struct Start {
    DataSource bytes;
    uint64_t size;
  };
  [[nodiscard]] virtual std::optional<Start> ReadStart(const std::string& member, Emitter& emitter) const;

  // Reads a `.dat` file that is there, or what its header says.
  [[nodiscard]] virtual std::optional<DatFile> ReadTensor(const std::string& member, Emitter& emitter) const;
  [[nodiscard]] virtual std::optional<DatHeader> ReadHeader(const std::string& member,
                                                            Emitter& emitter) const;

  Context& context() const { return *context_; }

  std::string name_;
  FileId file_;  // tells the model as a whole
  Context* context_;
  FileId graph_text_;
  std::optional<FileId> quantization_text_;

  static ModelOpenResult OpenArchive(const DataSource& archive, const std::string& path, Context& context,
                                     const ModelOpenOptions& options);
  // Archives inside are opened as this model was, and unpack to what it leaves of the
  // bound, all together.
  void OpenInnerAs(const ModelOpenOptions& options, uint64_t unpacked);

 private:
  // An archive that may lie inside.
  struct Inner {
    bool is_there = false;
    std::unique_ptr<ModelContainer> model = nullptr;  // null: it cannot be read, which was emitted
  };
  // The archive of that path, its suffix left out.
  const Inner& OpenInner(std::string_view path) const;
  // The archive inside that holds what a label names, and its label there; null if that is none's.
  const Inner* FindInner(std::string_view label, std::string& inside) const;
  std::nullopt_t Lost(std::string_view label, Emitter& emitter) const;
  // The text of a small file that is there; nothing if it cannot be read, or is larger than `most` bytes.
  [[nodiscard]] std::optional<FileId> OpenText(const std::string& member, uint64_t most,
                                               Emitter& emitter) const;

  std::string SubmodelAround(std::string_view member) const;

  // Where the tensor of a variable lies: a file of its own, or an entry of one.
  struct Place {
    std::string member;
    const SafetensorsEntry* entry = nullptr;  // of a `.safetensors` file
  };
  // The place of a variable, which is there; nothing if it is not, which was emitted.
  std::optional<Place> Find(std::string_view label, Emitter& emitter) const;
  // Every place that a label names.
  std::vector<Place> Places(std::string_view label) const;
  // The headers of all `.safetensors` files by path, read when they are first asked for.
  // What is wrong with one is told then.
  const std::map<std::string, SafetensorsIndex>& Indices() const;

  mutable std::optional<std::map<std::string, SafetensorsIndex>> indices_;
  mutable bool is_index_missing_ = false;                    // some header could not be read
  mutable std::map<std::string, Inner, std::less<>> inner_;  // by path
  ModelOpenOptions inner_options_;
  std::shared_ptr<uint64_t> left_;  // bytes that archives inside may unpack to
  int depth_ = 0;                   // archives around it
};

}  // namespace nnefc
