// Conversions between blocked formats and oneDNN's memory descriptors.

#include "runtime/onednn/library/formats.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace nnefc::runtime::onednn::library {

using fast::memory::StorageType;

namespace {

dnnl_data_type_t DataTypeOf(StorageType type) {
  switch (type) {
    case StorageType::kF32:
      return dnnl_f32;
    case StorageType::kBf16:
      return dnnl_bf16;
    case StorageType::kS32:
      return dnnl_s32;
    case StorageType::kS8:
      return dnnl_s8;
    case StorageType::kU8:
      return dnnl_u8;
    case StorageType::kNone:
      break;
  }
  return dnnl_data_type_undef;
}

StorageType StorageTypeOf(dnnl_data_type_t type) {
  switch (type) {
    case dnnl_f32:
      return StorageType::kF32;
    case dnnl_bf16:
      return StorageType::kBf16;
    case dnnl_s32:
      return StorageType::kS32;
    case dnnl_s8:
      return StorageType::kS8;
    case dnnl_u8:
      return StorageType::kU8;
    default:
      return StorageType::kNone;
  }
}

template <typename Number>
void AddBytes(const Number& number, std::string& key) {
  key.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

// A descriptor that is more than blocks: Winograd filters, or other sums after a filter.
class DescFormat final : public fast::memory::BackendFormat {
 public:
  explicit DescFormat(dnnl::memory::desc desc) : desc_(std::move(desc)) {}

  const dnnl::memory::desc& desc() const { return desc_; }
  size_t byte_size() const override { return desc_.get_size(); }

  // Only Winograd filters have a key.
  std::string Key() const override {
    const dnnl_memory_desc_t& data = desc_.data;
    if (data.format_kind != dnnl_format_kind_wino || data.extra.flags != 0) return "";
    const dnnl_wino_desc_t& wino = data.format_desc.wino_desc;
    std::string key;
    AddBytes(data.data_type, key);
    for (int axis = 0; axis < data.ndims; ++axis) AddBytes(data.dims[axis], key);
    AddBytes(wino.wino_format, key);
    for (int number :
         {wino.r, wino.alpha, wino.ic, wino.oc, wino.ic_block, wino.oc_block, wino.ic2_block, wino.oc2_block})
      AddBytes(number, key);
    AddBytes(wino.adj_scale, key);
    AddBytes(wino.size, key);
    return key;
  }

 private:
  dnnl::memory::desc desc_;
};

bool IsBlocked(const dnnl_memory_desc_t& data) {
  const bool has_known_extra =
      data.extra.flags == 0 || data.extra.flags == dnnl_memory_extra_flag_compensation_conv_asymmetric_src;
  return data.format_kind == dnnl_blocked && data.offset0 == 0 && has_known_extra &&
         static_cast<size_t>(data.format_desc.blocking.inner_nblks) <=
             fast::memory::BlockedFormat::kMaxBlocks &&
         std::all_of(data.padded_offsets, data.padded_offsets + data.ndims,
                     [](dnnl_dim_t offset) { return offset == 0; });
}

}  // namespace

dnnl::memory::desc DescOf(const fast::memory::BlockedFormat& format) {
  if (format.rank == 0) return {};
  if (format.backend != nullptr) {
    dnnl::memory::desc desc = static_cast<const DescFormat&>(*format.backend).desc();
    desc.data.data_type = DataTypeOf(format.type);
    return desc;
  }
  dnnl_memory_desc_t data = {};
  const auto rank = static_cast<size_t>(format.rank);
  data.ndims = format.rank;
  data.data_type = DataTypeOf(format.type);
  std::copy_n(format.extents.begin(), rank, data.dims);
  std::copy_n(format.padded_extents.begin(), rank, data.padded_dims);
  data.format_kind = format.is_any ? dnnl_format_kind_any : dnnl_blocked;
  if (format.is_any) return dnnl::memory::desc(data);
  dnnl_blocking_desc_t& blocking = data.format_desc.blocking;
  std::copy_n(format.strides.begin(), rank, blocking.strides);
  blocking.inner_nblks = format.num_blocks;
  for (int i = 0; i < format.num_blocks; ++i) {
    blocking.inner_idxs[i] = format.blocks[static_cast<size_t>(i)].axis;
    blocking.inner_blks[i] = format.blocks[static_cast<size_t>(i)].size;
  }
  if (format.sum_axes != 0) {
    data.extra.flags = dnnl_memory_extra_flag_compensation_conv_asymmetric_src;
    data.extra.asymm_compensation_mask = format.sum_axes;
  }
  return dnnl::memory::desc(data);
}

fast::memory::BlockedFormat FormatOfDesc(const dnnl::memory::desc& desc) {
  const dnnl_memory_desc_t& data = desc.data;
  fast::memory::BlockedFormat format;
  if (data.ndims == 0) return format;
  const auto rank = static_cast<size_t>(data.ndims);
  format.type = StorageTypeOf(data.data_type);
  format.rank = data.ndims;
  std::copy_n(data.dims, rank, format.extents.begin());
  std::copy_n(data.padded_dims, rank, format.padded_extents.begin());
  if (!IsBlocked(data)) {
    format.backend = std::make_shared<DescFormat>(desc);
    return format;
  }
  const dnnl_blocking_desc_t& blocking = data.format_desc.blocking;
  std::copy_n(blocking.strides, rank, format.strides.begin());
  format.num_blocks = blocking.inner_nblks;
  for (int i = 0; i < blocking.inner_nblks; ++i)
    format.blocks[static_cast<size_t>(i)] = {blocking.inner_idxs[i], blocking.inner_blks[i]};
  if (data.extra.flags != 0) {
    format.sum_axes = data.extra.asymm_compensation_mask;
    format.min_bytes = desc.get_size();
  }
  return format;
}

}  // namespace nnefc::runtime::onednn::library
