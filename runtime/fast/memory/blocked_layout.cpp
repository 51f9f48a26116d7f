// Layouts of values in blocked formats.

#include "runtime/fast/memory/blocked_layout.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "fmt/format.h"

namespace nnefc::runtime::fast::memory {

namespace {

// A binary key made of consecutive fields.
class KeyWriter {
 public:
  template <typename T>
  void Add(const T& value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    key_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  template <typename Items>
  void AddAll(const Items& items, size_t count) {
    Add(count);
    for (size_t i = 0; i < count; ++i) Add(items[i]);
  }
  void AddText(const std::string& text) {
    Add(text.size());
    key_ += text;
  }
  std::string Take() { return std::move(key_); }

 private:
  std::string key_;
};

void AddFormat(const BlockedFormat& format, KeyWriter& key) {
  const auto rank = static_cast<size_t>(format.rank);
  key.Add(format.type);
  key.AddAll(format.extents, rank);
  key.Add(format.backend != nullptr);
  if (format.backend != nullptr) {
    key.AddText(format.backend->Key());
    return;
  }
  key.AddAll(format.padded_extents, rank);
  key.AddAll(format.strides, rank);
  key.Add(format.num_blocks);
  for (int i = 0; i < format.num_blocks; ++i) {
    key.Add(format.blocks[static_cast<size_t>(i)].axis);
    key.Add(format.blocks[static_cast<size_t>(i)].size);
  }
  key.Add(format.sum_axes);
  key.Add(format.min_bytes);
}

const BlockedLayout* AsBlocked(const tensor::Layout& layout) {
  return dynamic_cast<const BlockedLayout*>(layout.get());
}

}  // namespace

bool BlockedLayout::Equals(const tensor::OpaqueLayout& other) const {
  const auto* same = dynamic_cast<const BlockedLayout*>(&other);
  return same != nullptr && same->format_ == format_ && same->form_ == form_;
}

std::string BlockedLayout::ToString() const {
  std::string type = format_.type == StorageType::kBf16 ? "bf16 " : "";
  if (form_.codes) type = fmt::format("u8 * {:.4g} - {} ", form_.codes->scale, form_.codes->zero);
  if (form_.filter_codes) type = "i8 ";
  if (form_.merged_groups > 1) type += fmt::format("{} groups in one ", form_.merged_groups);
  if (!format_.is_blocked()) return type + "packed";
  // Axes from outermost to innermost, blocked ones in capitals.
  llvm::SmallVector<size_t, 6> order;
  for (size_t axis = 0; axis < format_.shape().size(); ++axis) order.push_back(axis);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return format_.strides[a] > format_.strides[b]; });
  const llvm::ArrayRef<BlockedFormat::Block> blocks(format_.blocks.data(),
                                                    static_cast<size_t>(format_.num_blocks));
  std::string text = type + (form_.order.empty() ? "" : "transposed ");
  for (size_t axis : order) {
    const bool is_blocked = std::any_of(blocks.begin(), blocks.end(), [&](const BlockedFormat::Block& block) {
      return block.axis == static_cast<int64_t>(axis);
    });
    text += static_cast<char>((is_blocked ? 'A' : 'a') + static_cast<char>(axis));
  }
  for (const BlockedFormat::Block& block : blocks)
    text += fmt::format("{}{}", block.size, static_cast<char>('a' + block.axis));
  return text;
}

std::string BlockedLayout::Key() const {
  if (format_.backend != nullptr && format_.backend->Key().empty()) return "";
  KeyWriter key;
  AddFormat(format_, key);
  key.AddAll(form_.order, form_.order.size());
  key.Add(form_.merged_groups);
  key.Add(form_.codes.has_value());
  if (form_.codes) {
    key.Add(form_.codes->scale);
    key.Add(form_.codes->zero);
  }
  key.Add(form_.filter_codes.has_value());
  if (form_.filter_codes) {
    key.AddAll(form_.filter_codes->scales, form_.filter_codes->scales.size());
    key.Add(form_.filter_codes->mask);
  }
  return key.Take();
}

bool IsDenseF32(const kernels::ValueInfo& value) {
  if (value.type != ElementType::kF32 || value.shape.size() > BlockedFormat::kMaxRank) return false;
  if (tensor::StridesOf(value.layout) != nullptr) return false;
  return Volume(value.shape).value_or(0) > 0;
}

bool AreDenseF32(const kernels::KernelRequest& request) {
  return std::all_of(request.inputs.begin(), request.inputs.end(), IsDenseF32) &&
         std::all_of(request.outputs.begin(), request.outputs.end(), IsDenseF32);
}

BlockedFormat FormatOf(const tensor::Layout& layout, llvm::ArrayRef<int64_t> shape) {
  BlockedFormat format = MemoryFormatOf(layout, shape);
  if (FormOf(layout).codes) format.type = StorageType::kF32;
  return format;
}

BlockedFormat FormatOf(const kernels::ValueInfo& value) {
  return FormatOf(value.layout, value.shape);
}

BlockedFormat FormatInF32(const kernels::ValueInfo& value) {
  BlockedFormat format = FormatOf(value);
  format.type = StorageType::kF32;
  return format;
}

BlockedFormat MemoryFormatOf(const tensor::Layout& layout, llvm::ArrayRef<int64_t> shape) {
  const BlockedLayout* blocked = AsBlocked(layout);
  return blocked == nullptr ? RowMajorFormat(shape) : blocked->format();
}

const BlockedLayout::Form& FormOf(const tensor::Layout& layout) {
  static const BlockedLayout::Form kRowMajor;
  const BlockedLayout* blocked = AsBlocked(layout);
  return blocked == nullptr ? kRowMajor : blocked->form();
}

bool IsChannelBlocked(const kernels::ValueInfo& value) {
  const size_t rank = value.shape.size();
  return value.layout != nullptr && QuantizationOf(value) == nullptr && rank >= 3 && rank <= 5 &&
         FormatOf(value) == ChannelBlockedFormat(value.shape);
}

bool IsImageMemory(const kernels::ValueInfo& value) {
  const size_t rank = value.shape.size();
  if (value.layout == nullptr || rank < 3 || rank > 5) return false;
  return IsChannelBlocked(value) || FormatOf(value) == ChannelsLastFormat(value.shape, StorageType::kF32);
}

const ValueQuantization* QuantizationOf(const kernels::ValueInfo& value) {
  const std::optional<ValueQuantization>& codes = FormOf(value.layout).codes;
  return codes ? &*codes : nullptr;
}

tensor::Layout QuantizedLayout(const BlockedFormat& format, const ValueQuantization& codes) {
  const BlockedFormat values = IsRowMajor(format) ? RowMajorFormat(format.shape()) : format;
  return std::make_shared<BlockedLayout>(QuantizedFormat(values), BlockedLayout::Form{.codes = codes});
}

tensor::Layout LayoutOf(const BlockedFormat& format) {
  if (!IsRowMajor(format)) return std::make_shared<BlockedLayout>(format);
  if (format.type == StorageType::kF32) return nullptr;
  return std::make_shared<BlockedLayout>(RowMajorFormat(format.shape(), format.type));
}

StorageType MatmulType(const kernels::KernelRequest& request) {
  return request.precision == kernels::Precision::kBf16 ? StorageType::kBf16 : StorageType::kF32;
}

}  // namespace nnefc::runtime::fast::memory
