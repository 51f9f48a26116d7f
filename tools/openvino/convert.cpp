// Conversion of graphs to OpenVINO models in memory.

#include "tools/openvino/convert.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "openvino/frontend/exception.hpp"
#include "openvino/op/constant.hpp"
#include "openvino/op/result.hpp"
#include "openvino/op/util/multi_subgraph_base.hpp"
#include "openvino/runtime/core.hpp"

namespace nnefc::openvino_front_end {
namespace {

// Constants up to this size may be shapes or axes, and OpenVINO reads these while it reads the model.
constexpr size_t kSmall = 4096;

// Zeroed address space that uses memory only for pages written to.
class ZeroPages {
 public:
  explicit ZeroPages(size_t size) : size_(std::max<size_t>(size, 1)) {
    void* data =
        ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    FRONT_END_GENERAL_CHECK(data != MAP_FAILED, "no room for ", size_, " bytes of addresses");
    data_ = static_cast<std::byte*>(data);
  }
  ~ZeroPages() { ::munmap(data_, size_); }
  ZeroPages(const ZeroPages&) = delete;
  ZeroPages& operator=(const ZeroPages&) = delete;

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  size_t size_;
  std::byte* data_;
};

// The weights passed to OpenVINO while it reads the structure: a .bin file with only small constants filled
// in.
class Placeholder {
 public:
  explicit Placeholder(const api::OpenVinoForm& form) : pages_(form.weights_size) {
    for (const auto& [offset, tensor] : form.constants) {
      if (tensor.bytes().size() <= kSmall) Fill(offset, tensor);
      placed_.emplace(offset, tensor);
    }
  }

  ov::Tensor Weights() const { return {ov::element::u8, ov::Shape{pages_.size()}, pages_.data()}; }

  // Returns the constant with its own copy of small elements, or a reference to the model's elements.
  std::shared_ptr<ov::op::v0::Constant> Settle(const ov::op::v0::Constant& constant) const {
    const auto* data = static_cast<const std::byte*>(constant.get_data_ptr());
    const bool is_here = data >= pages_.data() && data < pages_.data() + pages_.size();
    const auto found = is_here ? placed_.find(static_cast<uint64_t>(data - pages_.data())) : placed_.end();
    const auto& type = constant.get_element_type();
    if (found == placed_.end())
      return std::make_shared<ov::op::v0::Constant>(type, constant.get_shape(), data);
    auto owner = std::make_shared<api::Tensor>(found->second);
    const void* bytes = owner->bytes().data();
    return std::make_shared<ov::op::v0::Constant>(type, constant.get_shape(), bytes, std::move(owner));
  }

 private:
  void Fill(uint64_t offset, const api::Tensor& tensor) {
    std::memcpy(pages_.data() + offset, tensor.bytes().data(), tensor.bytes().size());
  }

  ZeroPages pages_;
  std::unordered_map<uint64_t, api::Tensor> placed_;
};

// Replaces constants in the model and in the bodies of its branches and loops.
void SettleConstants(const ov::Model& model, const Placeholder& placeholder) {
  for (const std::shared_ptr<ov::Node>& node : model.get_ops()) {
    if (const auto* bodies = dynamic_cast<const ov::op::util::MultiSubGraphOp*>(node.get())) {
      for (const auto& body : bodies->get_functions()) SettleConstants(*body, placeholder);
    }
    const auto* constant = dynamic_cast<const ov::op::v0::Constant*>(node.get());
    if (constant == nullptr) continue;
    const auto settled = placeholder.Settle(*constant);
    settled->set_friendly_name(constant->get_friendly_name());
    settled->get_rt_info() = constant->get_rt_info();
    settled->output(0).get_tensor().set_names(node->output(0).get_names());
    for (ov::Input<ov::Node> reader : node->output(0).get_target_inputs()) {
      reader.replace_source_output(settled->output(0));
    }
  }
}

std::shared_ptr<ov::Model> KeepOutputs(const ov::Model& model, const std::vector<std::string>& wanted) {
  ov::ResultVector results;
  for (const std::string& name : wanted) {
    const auto found = std::ranges::find_if(model.get_results(), [&](const auto& result) {
      return result->input_value(0).get_names().contains(name);
    });
    FRONT_END_GENERAL_CHECK(found != model.get_results().end(), "the model has no output `", name, "`");
    results.push_back(*found);
  }
  return std::make_shared<ov::Model>(results, model.get_sinks(), model.get_parameters(),
                                     model.get_variables(), model.get_friendly_name());
}

}  // namespace

std::shared_ptr<ov::Model> Convert(const api::Model& model,
                                   const std::optional<std::vector<std::string>>& wanted) {
  const api::Outcome<api::OpenVinoForm> form = model.ToOpenVino();
  FRONT_END_GENERAL_CHECK(form, "OpenVINO has no form for the NNEF model:\n", form.report.ToText());
  const Placeholder placeholder(*form);
  std::shared_ptr<ov::Model> made = ov::Core().read_model(form->xml, placeholder.Weights());
  SettleConstants(*made, placeholder);
  if (wanted) made = KeepOutputs(*made, *wanted);
  made->validate_nodes_and_infer_types();
  return made;
}

}  // namespace nnefc::openvino_front_end
