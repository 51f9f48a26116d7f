// The entry point of the writer of OpenVINO models.

#include "compiler/openvino/write.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "compiler/openvino/weights.h"
#include "compiler/openvino/writing/layer_writer.h"
#include "compiler/openvino/writing/written_form.h"
#include "compiler/openvino/writing/xml_writer.h"
#include "compiler/support/files/temporary_files.h"

namespace nnefc::openvino {

namespace {

// A backup of the file at `path`, which is renamed until its replacement is complete. Files that are not
// regular, such as symbolic links, are not renamed.
class Backup {
 public:
  explicit Backup(const std::string& path) : path_(path), kept_(path + ".XXXXXX") {
    std::error_code ignored;
    const auto status = std::filesystem::symlink_status(path_, ignored);
    is_replaced_ = std::filesystem::is_regular_file(status) || !std::filesystem::exists(status);
    if (!is_replaced_) return;
    const int descriptor = ::mkostemp(kept_.data(), 0);
    if (descriptor >= 0) ::close(descriptor);
    is_kept_ = descriptor >= 0 && std::rename(path_.c_str(), kept_.c_str()) == 0;
    if (!is_kept_ && descriptor >= 0) std::remove(kept_.c_str());
  }
  Backup(const Backup&) = delete;
  Backup& operator=(const Backup&) = delete;
  ~Backup() {
    if (is_kept_) std::remove(kept_.c_str());
  }
  // Restores the former state of the path: the file, or its absence.
  void Restore() {
    if (is_kept_) {
      std::rename(kept_.c_str(), path_.c_str());
    } else if (is_replaced_) {
      std::remove(path_.c_str());
    }
    is_kept_ = false;
  }

 private:
  std::string path_;
  std::string kept_;
  bool is_replaced_ = false;
  bool is_kept_ = false;
};

// Moves both files to their final paths, or neither: after an error the former weights file is restored.
ErrorOr<Success> CommitBoth(OutputFile& weights, const std::string& weights_path, OutputFile& xml) {
  const auto hold = HoldTemporaryFiles();
  Backup backup(weights_path);
  if (auto committed = weights.Commit(); !committed) {
    backup.Restore();
    return committed;
  }
  auto committed = xml.Commit();
  if (!committed) backup.Restore();
  return committed;
}

void WriteNet(const ir::Graph& graph, openvino::XmlWriter& xml, openvino::WeightsWriter& weights) {
  xml.Begin("net");
  xml.Attribute("name", graph.name());
  xml.Attribute("version", 11);
  const std::unique_ptr<ir::Graph> form = openvino::WrittenForm(graph);
  openvino::LayerWriter(&xml, &weights).WriteGraph(form != nullptr ? *form : graph);
  xml.End();
}

}  // namespace

ErrorOr<Success> WriteOpenVino(const ir::Graph& graph, const std::string& xml_path,
                               const WriteOptions& options) {
  const std::string weights_path =
      options.weights_path.empty() ? openvino::WeightsPath(xml_path) : options.weights_path;
  if (weights_path == xml_path)
    return SystemError{fmt::format("`{}` cannot hold both XML and constants", xml_path)};
  auto weights_file = OutputFile::Create(weights_path);
  if (!weights_file) return weights_file.error();
  auto xml_file = OutputFile::Create(xml_path);
  if (!xml_file) return xml_file.error();

  openvino::XmlWriter xml(&*xml_file);
  openvino::WeightsWriter weights(&*weights_file);
  WriteNet(graph, xml, weights);
  if (auto written = weights.Finish(); !written) return written;
  if (auto written = xml.Finish(); !written) return written;
  return CommitBoth(*weights_file, weights_path, *xml_file);
}

OpenVinoInMemory WriteOpenVinoInMemory(const ir::Graph& graph) {
  openvino::XmlWriter xml(nullptr);
  openvino::WeightsWriter weights(nullptr);
  WriteNet(graph, xml, weights);
  return {.xml = xml.TakeText(), .constants = weights.TakePlaced(), .weights_size = weights.size()};
}

}  // namespace nnefc::openvino
