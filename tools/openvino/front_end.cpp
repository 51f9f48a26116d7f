// The OpenVINO front end: loads NNEF models through OpenVINO's FrontEnd interface.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "openvino/frontend/exception.hpp"
#include "openvino/frontend/frontend.hpp"
#include "openvino/frontend/manager.hpp"
#include "tools/openvino/convert.h"
#include "tools/openvino/input_model.h"

namespace nnefc::openvino_front_end {
namespace {

constexpr const char* kDocument = "graph.nnef";

// Returns the path of a model. OpenVINO passes paths in several types.
std::optional<std::filesystem::path> PathOf(const std::vector<ov::Any>& arguments) {
  if (arguments.empty()) return std::nullopt;
  const ov::Any& first = arguments.front();
  if (first.is<std::string>()) return first.as<std::string>();
  if (first.is<std::filesystem::path>()) return first.as<std::filesystem::path>();
  if (first.is<std::wstring>()) return std::filesystem::path(first.as<std::wstring>());
  return std::nullopt;
}

// Recognises files by name only, without opening them.
bool IsNnef(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return std::filesystem::exists(path / kDocument, error);
  const std::string name = path.filename().string();
  for (const char* ending : {".nnef", ".tgz", ".tar", ".tar.gz"}) {
    if (name.ends_with(ending)) return std::filesystem::is_regular_file(path, error);
  }
  return false;
}

class FrontEnd : public ov::frontend::FrontEnd {
 public:
  std::shared_ptr<ov::Model> convert(const ov::frontend::InputModel::Ptr& model) const override {
    auto* ours = dynamic_cast<NnefModel*>(model.get());
    FRONT_END_GENERAL_CHECK(ours != nullptr, "the model was not loaded by the NNEF front end");
    return Convert(ours->Read(), ours->wanted());
  }
  // Partial conversion is not supported.
  void convert(const std::shared_ptr<ov::Model>&) const override {}
  void normalize(const std::shared_ptr<ov::Model>&) const override {}
  std::string get_name() const override { return "nnef"; }
  // Ignores extensions: none of OpenVINO's kinds (progress reports, operations of other frameworks) applies
  // to NNEF.
  void add_extension(const std::shared_ptr<ov::Extension>&) override {}

 protected:
  bool supported_impl(const std::vector<ov::Any>& arguments) const override {
    const auto path = PathOf(arguments);
    return path && IsNnef(*path);
  }
  ov::frontend::InputModel::Ptr load_impl(const std::vector<ov::Any>& arguments) const override {
    const auto path = PathOf(arguments);
    FRONT_END_GENERAL_CHECK(path.has_value(), "the NNEF front end reads a model from a path");
    // OpenVINO queries its own front ends about folders first, and one of them fails for them. A model's
    // folder can therefore also be specified by the document in it.
    const bool names_folder = path->filename() == kDocument && path->has_parent_path();
    return std::make_shared<NnefModel>(names_folder ? path->parent_path().string() : path->string());
  }
};

}  // namespace
}  // namespace nnefc::openvino_front_end

// The entry points that OpenVINO's manager requests from a front end.
extern "C" __attribute__((visibility("default"))) ov::frontend::FrontEndVersion nnefc_front_end_version() {
  return OV_FRONTEND_API_VERSION;
}

extern "C" __attribute__((visibility("default"))) void* nnefc_front_end_data() {
  auto* info = new ov::frontend::FrontEndPluginInfo();
  info->m_name = "nnef";
  info->m_creator = [] { return std::make_shared<nnefc::openvino_front_end::FrontEnd>(); };
  return info;
}
