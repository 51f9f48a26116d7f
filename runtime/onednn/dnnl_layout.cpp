#include "runtime/onednn/dnnl_layout.h"

#include "compiler/support/x86.h"

#if defined(NNEFC_X86)
#include <cpuid.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include "fmt/core.h"
#include "runtime/fast/simd/loop_math.h"
#include "runtime/onednn/precision.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime {

using dnnl::memory;

namespace {

constexpr size_t kMaxRank = 12;

memory::dims PlainStrides(const memory::dims& dims) {
  memory::dims strides(dims.size());
  int64_t stride = 1;
  for (size_t axis = dims.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= dims[axis];
  }
  return strides;
}

// Returns true if the memory order is row-major: no padding, and at most one blocked axis, with all later
// axes of extent 1.
bool IsRowMajor(const dnnl_memory_desc_t& data) {
  if (data.format_kind != dnnl_blocked || data.offset0 != 0) return false;
  const dnnl_blocking_desc_t& blocking = data.format_desc.blocking;
  if (blocking.inner_nblks > 1) return false;
  int blocked_axis = -1;
  int64_t block = 1;
  if (blocking.inner_nblks == 1) {
    blocked_axis = static_cast<int>(blocking.inner_idxs[0]);
    block = blocking.inner_blks[0];
    // All axes after the blocked one must have extent 1.
    for (int axis = blocked_axis + 1; axis < data.ndims; ++axis) {
      if (data.dims[axis] != 1) return false;
    }
  }
  int64_t expected = 1;
  for (int axis = data.ndims - 1; axis >= 0; --axis) {
    if (data.padded_dims[axis] != data.dims[axis]) return false;
    if (axis == blocked_axis) {
      if (data.dims[axis] > block && blocking.strides[axis] != block) return false;
    } else if (data.dims[axis] != 1 && blocking.strides[axis] != expected) {
      return false;
    }
    expected *= data.dims[axis];
  }
  return true;
}

#if defined(NNEFC_X86)
bool LibraryHasAll(dnnl::cpu_isa instructions) {
  const int wanted = static_cast<int>(instructions);
  return (static_cast<int>(dnnl::get_effective_cpu_isa()) & wanted) == wanted;
}

// Returns true if an environment variable restricts oneDNN's instruction sets.
bool AreInstructionsNamed() {
  static const bool are =
      std::getenv("DNNL_MAX_CPU_ISA") != nullptr || std::getenv("ONEDNN_MAX_CPU_ISA") != nullptr;
  return are;
}

// Queries the library, and therefore loads it, only if the processor may support the instructions and no
// environment variable restricts them.
bool HasAll(dnnl::cpu_isa instructions, bool processor_may) {
  return AreInstructionsNamed() ? LibraryHasAll(instructions) : processor_may;
}

constexpr unsigned kFeatures = 7;

bool ProcessorHasTiles() {
  constexpr unsigned kTiles = 1U << 24;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(kFeatures, 0, &a, &b, &c, &d) != 0 && (d & kTiles) != 0;
}

// Intel processors with AMX compute bf16 dot products in vector units at half the speed of f32 (one dot
// product every second cycle), including virtual machines that hide AMX. Cooper Lake and AMD processors are
// twice as fast with bf16.
bool ProcessorHasSlowBf16() {
  return __builtin_cpu_is("intel") != 0 && __builtin_cpu_is("cooperlake") == 0;
}

// AVX-VNNI, with 256-bit registers.
bool ProcessorHasNarrowVnni() {
  constexpr unsigned kVnni = 1U << 4;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(kFeatures, 1, &a, &b, &c, &d) != 0 && (a & kVnni) != 0;
}
#endif

}  // namespace

bool DnnLayout::Equals(const OpaqueLayout& other) const {
  const auto* same = dynamic_cast<const DnnLayout*>(&other);
  return same != nullptr && same->desc_ == desc_ && same->form_ == form_;
}

std::string DnnLayout::ToString() const {
  const dnnl_memory_desc_t& data = desc_.data;
  std::string type = TypeOf(desc_) == DnnType::bf16 ? "bf16 " : "";
  if (form_.codes) type = fmt::format("u8 * {:.4g} - {} ", form_.codes->scale, form_.codes->zero);
  if (form_.filter_codes) type = "i8 ";
  if (form_.merged_groups > 1) type += fmt::format("{} groups in one ", form_.merged_groups);
  if (data.format_kind != dnnl_blocked) return type + "packed";
  const dnnl_blocking_desc_t& blocking = data.format_desc.blocking;
  // oneDNN's notation: axes from outermost to innermost, blocked ones in capitals.
  std::vector<int> order;
  order.reserve(static_cast<size_t>(data.ndims));
  for (int axis = 0; axis < data.ndims; ++axis) order.push_back(axis);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return blocking.strides[a] > blocking.strides[b]; });
  std::string text = type + (form_.order.empty() ? "" : "transposed ");
  for (int axis : order) {
    bool blocked = false;
    for (int i = 0; i < blocking.inner_nblks; ++i) blocked |= blocking.inner_idxs[i] == axis;
    text += static_cast<char>((blocked ? 'A' : 'a') + axis);
  }
  for (int i = 0; i < blocking.inner_nblks; ++i) {
    text += fmt::format("{}{}", blocking.inner_blks[i], static_cast<char>('a' + blocking.inner_idxs[i]));
  }
  return text;
}

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
  std::string Take() { return std::move(key_); }

 private:
  std::string key_;
};

// Returns false for an unknown format.
bool AddFormat(const dnnl_memory_desc_t& data, KeyWriter& key) {
  if (data.format_kind == dnnl_blocked) {
    const dnnl_blocking_desc_t& blocking = data.format_desc.blocking;
    const auto blocks = static_cast<size_t>(blocking.inner_nblks);
    key.AddAll(blocking.strides, static_cast<size_t>(data.ndims));
    key.AddAll(blocking.inner_blks, blocks);
    key.AddAll(blocking.inner_idxs, blocks);
    return true;
  }
  if (data.format_kind != dnnl_format_kind_wino) return false;
  const dnnl_wino_desc_t& wino = data.format_desc.wino_desc;
  key.Add(wino.wino_format);
  for (int number :
       {wino.r, wino.alpha, wino.ic, wino.oc, wino.ic_block, wino.oc_block, wino.ic2_block, wino.oc2_block})
    key.Add(number);
  key.Add(wino.adj_scale);
  key.Add(wino.size);
  return true;
}

}  // namespace

std::string DnnLayout::Key() const {
  const dnnl_memory_desc_t& data = desc_.data;
  KeyWriter key;
  const auto rank = static_cast<size_t>(data.ndims);
  key.Add(data.format_kind);
  key.Add(data.data_type);
  key.Add(data.offset0);
  key.AddAll(data.dims, rank);
  key.AddAll(data.padded_dims, rank);
  key.AddAll(data.padded_offsets, rank);
  if (!AddFormat(data, key)) return "";
  key.Add(data.extra.flags);
  if (data.extra.flags != 0) {
    key.Add(data.extra.compensation_mask);
    key.Add(data.extra.scale_adjust);
    key.Add(data.extra.asymm_compensation_mask);
  }
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

const dnnl::engine& DnnEngine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

#if defined(NNEFC_X86)
bool HasAvx512() {
  static const bool has = HasAll(dnnl::cpu_isa::avx512_core, WidestVectorUnit() == VectorUnit::kAvx512);
  return has;
}

bool HasBf16() {
  static const bool has =
      HasAll(dnnl::cpu_isa::avx512_core_bf16, HasAvx512() && __builtin_cpu_supports("avx512vnni") != 0 &&
                                                  __builtin_cpu_supports("avx512bf16") != 0);
  return has;
}

bool HasAmx() {
  // The library also checks for permission from the operating system to use AMX tiles.
  static const bool has = HasBf16() && ProcessorHasTiles() && LibraryHasAll(dnnl::cpu_isa::avx512_core_amx);
  return has;
}

Precision EffectivePrecision(Precision precision) {
  if (precision != Precision::kBf16) return precision;  // avoids loading the library
  static const bool is_faster =
      HasAmx() || (HasBf16() && (AreInstructionsNamed() || !ProcessorHasSlowBf16()));
  return is_faster ? precision : Precision::kF32;
}

bool HasVnni() {
  static const bool has =
      HasAvx512() ? HasAll(dnnl::cpu_isa::avx512_core_vnni, __builtin_cpu_supports("avx512vnni") != 0)
                  : HasAll(dnnl::cpu_isa::avx2_vnni, ProcessorHasNarrowVnni());
  return has;
}
#else
bool HasAvx512() {
  return false;
}

bool HasBf16() {
  return false;
}

bool HasAmx() {
  return false;
}

bool HasVnni() {
  return false;
}

Precision EffectivePrecision(Precision precision) {
  return precision == Precision::kBf16 ? Precision::kF32 : precision;
}
#endif

memory::dims DnnDims(llvm::ArrayRef<int64_t> shape) {
  if (shape.empty()) return {1};
  return {shape.begin(), shape.end()};
}

bool DnnAccepts(const ValueInfo& value) {
  if (value.type != ElementType::kF32 || value.shape.size() > kMaxRank) return false;
  if (StridesOf(value.layout) != nullptr) return false;
  return Volume(value.shape).value_or(0) > 0;
}

bool DnnAcceptsAll(const KernelRequest& request) {
  for (const ValueInfo& input : request.inputs) {
    if (!DnnAccepts(input)) return false;
  }
  for (const ValueInfo& output : request.outputs) {
    if (!DnnAccepts(output)) return false;
  }
  return true;
}

memory::desc PlainDesc(llvm::ArrayRef<int64_t> shape, DnnType type) {
  const memory::dims dims = DnnDims(shape);
  return memory::desc(dims, type, PlainStrides(dims));
}

AxisOrder SwappedOrder(size_t rank, size_t first, size_t second) {
  AxisOrder order;
  for (size_t axis = 0; axis < rank; ++axis) order.push_back(axis);
  std::swap(order[first], order[second]);
  return order;
}

memory::desc OrderedDesc(llvm::ArrayRef<int64_t> extents, const AxisOrder& order) {
  if (order.empty()) return PlainDesc(extents);
  memory::dims strides(extents.size());
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= extents[order[i]];
  }
  return memory::desc(DnnDims(extents), memory::data_type::f32, strides);
}

memory::desc StackedDesc(const memory::desc& matrix, int64_t count) {
  memory::desc stacked = matrix;
  dnnl_memory_desc_t& data = stacked.data;
  dnnl_blocking_desc_t& blocking = data.format_desc.blocking;
  data.ndims = 3;
  for (int axis = 2; axis > 0; --axis) {
    data.dims[axis] = data.dims[axis - 1];
    data.padded_dims[axis] = data.padded_dims[axis - 1];
    data.padded_offsets[axis] = data.padded_offsets[axis - 1];
    blocking.strides[axis] = blocking.strides[axis - 1];
  }
  data.dims[0] = data.padded_dims[0] = count;
  data.padded_offsets[0] = 0;
  blocking.strides[0] = data.padded_dims[1] * data.padded_dims[2];
  for (int i = 0; i < blocking.inner_nblks; ++i) ++blocking.inner_idxs[i];
  return stacked;
}

memory::desc AnyDesc(llvm::ArrayRef<int64_t> shape, DnnType type) {
  return memory::desc(DnnDims(shape), type, memory::format_tag::any);
}

dnnl_blocking_desc_t& PutInBlocks(dnnl::memory::desc& desc, size_t axis, int64_t block) {
  dnnl_memory_desc_t& data = desc.data;
  data.padded_dims[axis] = RoundUp(data.dims[axis], block);
  dnnl_blocking_desc_t& blocking = data.format_desc.blocking;
  blocking.inner_nblks = 1;
  blocking.inner_idxs[0] = static_cast<int64_t>(axis);
  blocking.inner_blks[0] = block;
  return blocking;
}

dnnl_blocking_desc_t& PutOutputsInBlocks(dnnl::memory::desc& desc, int64_t block) {
  dnnl_blocking_desc_t& blocking = PutInBlocks(desc, 0, block);
  int64_t stride = block;
  for (int axis = desc.data.ndims; axis-- > 1; stride *= desc.data.dims[axis])
    blocking.strides[axis] = stride;
  blocking.strides[0] = stride;
  return blocking;
}

memory::desc ChannelBlockedDesc(llvm::ArrayRef<int64_t> shape) {
  using Tag = memory::format_tag;
  static constexpr Tag kTags[] = {Tag::nCw16c, Tag::nChw16c, Tag::nCdhw16c};
  return memory::desc(DnnDims(shape), memory::data_type::f32, kTags[shape.size() - 3]);
}

bool IsChannelBlocked(const ValueInfo& value) {
  const size_t rank = value.shape.size();
  return value.layout != nullptr && QuantizationOf(value) == nullptr && rank >= 3 && rank <= 5 &&
         DescOf(value) == ChannelBlockedDesc(value.shape);
}

memory::desc ChannelsLastDesc(llvm::ArrayRef<int64_t> shape, DnnType type) {
  using Tag = memory::format_tag;
  static constexpr Tag kTags[] = {Tag::nwc, Tag::nhwc, Tag::ndhwc};
  return memory::desc(DnnDims(shape), type, kTags[shape.size() - 3]);
}

memory::desc NumberDesc(size_t rank) {
  return PlainDesc(Shape(std::max<size_t>(rank, 1), 1));
}

memory::desc DescOf(const Layout& layout, llvm::ArrayRef<int64_t> shape) {
  const auto* dnn = dynamic_cast<const DnnLayout*>(layout.get());
  if (dnn == nullptr) return PlainDesc(shape);
  memory::desc desc = dnn->desc();
  if (dnn->form().codes) desc.data.data_type = dnnl_f32;
  return desc;
}

memory::desc DescOf(const ValueInfo& value) {
  return DescOf(value.layout, value.shape);
}

memory::desc DescInF32(const ValueInfo& value) {
  memory::desc desc = DescOf(value);
  desc.data.data_type = dnnl_f32;
  return desc;
}

const DnnQuantization* QuantizationOf(const ValueInfo& value) {
  const auto* layout = dynamic_cast<const DnnLayout*>(value.layout.get());
  return layout != nullptr && layout->form().codes ? &*layout->form().codes : nullptr;
}

memory::desc QuantizedDesc(const memory::desc& desc) {
  memory::desc codes = desc;
  codes.data.data_type = dnnl_u8;
  return codes;
}

Layout QuantizedLayout(const memory::desc& desc, const DnnQuantization& codes) {
  const memory::desc plain = IsRowMajor(desc.data) ? PlainDesc(desc.dims()) : desc;
  return std::make_shared<DnnLayout>(QuantizedDesc(plain), DnnLayout::Form{.codes = codes});
}

DnnType TypeOf(const memory::desc& desc) {
  return static_cast<DnnType>(desc.data.data_type);
}

Layout LayoutOf(const memory::desc& desc) {
  if (!IsRowMajor(desc.data)) return std::make_shared<DnnLayout>(desc);
  if (TypeOf(desc) == DnnType::f32) return nullptr;
  return std::make_shared<DnnLayout>(PlainDesc(desc.dims(), TypeOf(desc)));
}

bool IsPadded(const memory::desc& desc) {
  size_t bytes = memory::data_type_size(TypeOf(desc));
  for (int64_t extent : desc.dims()) bytes *= static_cast<size_t>(extent);
  return desc.get_size() != bytes;
}

std::optional<memory::format_tag> ChannelBlockedTag(const memory::desc& desc) {
  using Tag = memory::format_tag;
  static constexpr Tag kTags[3][2] = {
      {Tag::nCw16c, Tag::nCw8c}, {Tag::nChw16c, Tag::nChw8c}, {Tag::nCdhw16c, Tag::nCdhw8c}};
  const memory::dims dims = desc.dims();
  if (dims.size() < 3 || dims.size() > 5) return std::nullopt;
  for (Tag tag : kTags[dims.size() - 3]) {
    if (desc == memory::desc(dims, TypeOf(desc), tag)) return tag;
  }
  return std::nullopt;
}

bool IsChannelsLast(const memory::desc& desc) {
  const memory::dims dims = desc.dims();
  return dims.size() >= 3 && dims.size() <= 5 && desc == ChannelsLastDesc(dims, TypeOf(desc));
}

}  // namespace nnefc::runtime
