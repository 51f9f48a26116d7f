#include "runtime/onednn/onednn.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <type_traits>

#include "fmt/core.h"
#include "runtime/onednn/precision.h"
#include "runtime/onednn/threading.h"

namespace nnefc::runtime {

namespace {

template <typename Result, typename... Arguments>
Result Fail(Arguments... /*arguments*/) {
  if constexpr (std::is_same_v<Result, dnnl_status_t>) return dnnl_runtime_error;
  return Result();
}

template <typename Result, typename... Arguments>
void SetFailing(Result (*&function)(Arguments...)) {
  function = &Fail<Result, Arguments...>;
}

DnnlFunctions FailingFunctions() {
  DnnlFunctions functions;
#define NNEFC_DNNL_FAIL(name) SetFailing(functions.name);
  NNEFC_DNNL_FUNCTIONS(NNEFC_DNNL_FAIL)
#undef NNEFC_DNNL_FAIL
  return functions;
}

struct LoadedFunctions {
  DnnlFunctions functions;
  std::string fault = {};

  static LoadedFunctions Load() {
    constexpr const char* kLibrary = "libnnefc_onednn.so";
    // Loaded until the process ends.
    void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    const void* functions = library == nullptr ? nullptr : ::dlsym(library, "nnefc_dnnl_functions");
    if (functions == nullptr) {
      const char* reason = ::dlerror();
      return {.functions = FailingFunctions(),
              .fault = fmt::format("`{}`, which comes with nnefc, cannot be loaded: {}", kLibrary,
                                   reason == nullptr ? "the system does not say why" : reason)};
    }
    InstallOneDnnThreads(::dlsym(library, "dnnl_version"));
    return {.functions = *static_cast<const DnnlFunctions*>(functions)};
  }
};

// Null before the first call.
std::atomic<const LoadedFunctions*> loaded_functions = nullptr;

// An axis order, outermost first, with at most one blocked axis.
struct Order {
  dnnl_format_tag_t tag;
  std::array<int8_t, 5> axes;
  int rank;
  int blocked = -1;
  int64_t block = 1;
};
constexpr Order kOrders[] = {
    {dnnl_acb, {0, 2, 1}, 3},
    {dnnl_acdb, {0, 2, 3, 1}, 4},
    {dnnl_acdeb, {0, 2, 3, 4, 1}, 5},
    {dnnl_aBc16b, {0, 1, 2}, 3, 1, 16},
    {dnnl_aBcd16b, {0, 1, 2, 3}, 4, 1, 16},
    {dnnl_aBcde16b, {0, 1, 2, 3, 4}, 5, 1, 16},
    {dnnl_aBc8b, {0, 1, 2}, 3, 1, 8},
    {dnnl_aBcd8b, {0, 1, 2, 3}, 4, 1, 8},
    {dnnl_aBcde8b, {0, 1, 2, 3, 4}, 5, 1, 8},
    {dnnl_Abcd16a, {0, 1, 2, 3}, 4, 0, 16},
    {dnnl_Abcde16a, {0, 1, 2, 3, 4}, 5, 0, 16},
};

bool AllPositive(int rank, const dnnl_dims_t dims) {
  return rank > 0 && std::all_of(dims, dims + rank, [](int64_t extent) { return extent > 0; });
}

// Returns a descriptor without strides and blocks.
dnnl_memory_desc_t DescOf(int rank, const dnnl_dims_t dims, dnnl_data_type_t type) {
  dnnl_memory_desc_t desc = {};
  desc.ndims = rank;
  desc.data_type = type;
  std::copy_n(dims, rank, desc.dims);
  std::copy_n(dims, rank, desc.padded_dims);
  desc.format_kind = dnnl_blocked;
  return desc;
}

void SetOrder(const Order& order, dnnl_memory_desc_t& desc) {
  dnnl_blocking_desc_t& blocking = desc.format_desc.blocking;
  int64_t stride = order.block;
  for (int i = desc.ndims - 1; i >= 0; --i) {
    const int axis = order.axes[static_cast<size_t>(i)];
    const int64_t block = axis == order.blocked ? order.block : 1;
    const int64_t blocks = (desc.dims[axis] + block - 1) / block;
    desc.padded_dims[axis] = blocks * block;
    blocking.strides[axis] = stride;
    stride *= blocks;
  }
  if (order.blocked < 0) return;
  blocking.inner_nblks = 1;
  blocking.inner_blks[0] = order.block;
  blocking.inner_idxs[0] = order.blocked;
}

// Returns true if the elements are dense in some axis order.
bool IsDenseOrder(int rank, const dnnl_dims_t dims, const dnnl_dims_t strides) {
  std::array<int, DNNL_MAX_NDIMS> axes = {};
  for (int axis = 0; axis < rank; ++axis) axes[static_cast<size_t>(axis)] = axis;
  std::stable_sort(axes.begin(), axes.begin() + rank, [&](int a, int b) {
    return strides[a] != strides[b] ? strides[a] < strides[b] : dims[a] < dims[b];
  });
  int64_t expected = 1;
  for (int i = 0; i < rank; ++i) {
    const int axis = axes[static_cast<size_t>(i)];
    if (strides[axis] != expected) return false;
    expected *= dims[axis];
  }
  return true;
}

}  // namespace

const DnnlFunctions& OneDnn() {
  static const LoadedFunctions* const loaded = [] {
    static const LoadedFunctions kept = LoadedFunctions::Load();
    loaded_functions = &kept;
    return &kept;
  }();
  return loaded->functions;
}

std::string OneDnnLoadError() {
  const LoadedFunctions* loaded = loaded_functions;
  return loaded == nullptr ? std::string() : loaded->fault;
}

dnnl_status_t InitDescByTag(dnnl_memory_desc_t* desc, int rank, const dnnl_dims_t dims, dnnl_data_type_t type,
                            dnnl_format_tag_t tag) {
  const Order* order = std::find_if(std::begin(kOrders), std::end(kOrders),
                                    [&](const Order& each) { return each.tag == tag && each.rank == rank; });
  const bool is_known = tag == dnnl_format_tag_any || order != std::end(kOrders);
  if (!is_known || !AllPositive(rank, dims) || type == dnnl_data_type_undef)
    return (OneDnn().dnnl_memory_desc_init_by_tag)(desc, rank, dims, type, tag);
  *desc = DescOf(rank, dims, type);
  if (tag == dnnl_format_tag_any) {
    desc->format_kind = dnnl_format_kind_any;
  } else {
    SetOrder(*order, *desc);
  }
  return dnnl_success;
}

dnnl_status_t InitDescByStrides(dnnl_memory_desc_t* desc, int rank, const dnnl_dims_t dims,
                                dnnl_data_type_t type, const dnnl_dims_t strides) {
  if (strides == nullptr || !AllPositive(rank, dims) || type == dnnl_data_type_undef ||
      !IsDenseOrder(rank, dims, strides))
    return (OneDnn().dnnl_memory_desc_init_by_strides)(desc, rank, dims, type, strides);
  *desc = DescOf(rank, dims, type);
  std::copy_n(strides, rank, desc->format_desc.blocking.strides);
  return dnnl_success;
}

int AreDescsEqual(const dnnl_memory_desc_t* a, const dnnl_memory_desc_t* b) {
  if (a == b) return 1;
  const bool is_known = a->format_kind == dnnl_blocked && b->format_kind == dnnl_blocked && a->ndims > 0 &&
                        b->ndims > 0 && a->extra.flags == 0 && b->extra.flags == 0;
  if (!is_known) return (OneDnn().dnnl_memory_desc_equal)(a, b);
  const auto same = [&](const auto& of_a, const auto& of_b, int count) {
    return std::equal(of_a, of_a + count, of_b);
  };
  if (a->ndims != b->ndims || a->data_type != b->data_type || a->offset0 != b->offset0 ||
      !same(a->dims, b->dims, a->ndims) || !same(a->padded_dims, b->padded_dims, a->ndims) ||
      !same(a->padded_offsets, b->padded_offsets, a->ndims))
    return 0;
  const dnnl_blocking_desc_t& of_a = a->format_desc.blocking;
  const dnnl_blocking_desc_t& of_b = b->format_desc.blocking;
  if (of_a.inner_nblks != of_b.inner_nblks || !same(of_a.inner_blks, of_b.inner_blks, of_a.inner_nblks) ||
      !same(of_a.inner_idxs, of_b.inner_idxs, of_a.inner_nblks))
    return 0;
  for (int axis = 0; axis < a->ndims; ++axis) {
    const bool has_stride = a->dims[axis] != 1 || a->padded_dims[axis] != 1;
    if (has_stride && of_a.strides[axis] != of_b.strides[axis]) return 0;
  }
  return 1;
}

size_t BytesOfDesc(const dnnl_memory_desc_t* desc) {
  const bool is_known = desc->format_kind == dnnl_blocked && desc->offset0 == 0 && desc->extra.flags == 0 &&
                        AllPositive(desc->ndims, desc->dims);
  if (!is_known) return (OneDnn().dnnl_memory_desc_get_size)(desc);
  const dnnl_blocking_desc_t& blocking = desc->format_desc.blocking;
  std::array<int64_t, DNNL_MAX_NDIMS> blocks;
  blocks.fill(1);
  int64_t of_block = 1;
  for (int i = 0; i < blocking.inner_nblks; ++i) {
    blocks[static_cast<size_t>(blocking.inner_idxs[i])] *= blocking.inner_blks[i];
    of_block *= blocking.inner_blks[i];
  }
  int64_t elements = of_block;
  for (int axis = 0; axis < desc->ndims; ++axis) {
    const int64_t count = desc->padded_dims[axis] / blocks[static_cast<size_t>(axis)];
    elements = std::max(elements, count * (count == 1 ? 1 : blocking.strides[axis]));
  }
  return static_cast<size_t>(elements) * BytesOfType(desc->data_type);
}

size_t BytesOfType(dnnl_data_type_t type) {
  switch (type) {
    case dnnl_f32:
    case dnnl_s32:
      return 4;
    case dnnl_f16:
    case dnnl_bf16:
      return 2;
    case dnnl_s8:
    case dnnl_u8:
      return 1;
    default:
      return (OneDnn().dnnl_data_type_size)(type);
  }
}

}  // namespace nnefc::runtime
