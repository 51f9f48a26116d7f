// The oneDNN functions in use.
#pragma once

#include "oneapi/dnnl/dnnl.h"

namespace nnefc::runtime {

// The list of functions, including those used by tests. The linker reports the use of any other function.
#define NNEFC_DNNL_FUNCTIONS(FUNCTION)                   \
  FUNCTION(dnnl_batch_normalization_forward_desc_init)   \
  FUNCTION(dnnl_binary_desc_init)                        \
  FUNCTION(dnnl_concat_primitive_desc_create)            \
  FUNCTION(dnnl_data_type_size)                          \
  FUNCTION(dnnl_dilated_convolution_forward_desc_init)   \
  FUNCTION(dnnl_dilated_deconvolution_forward_desc_init) \
  FUNCTION(dnnl_eltwise_forward_desc_init)               \
  FUNCTION(dnnl_engine_create)                           \
  FUNCTION(dnnl_engine_destroy)                          \
  FUNCTION(dnnl_get_effective_cpu_isa)                   \
  FUNCTION(dnnl_inner_product_forward_desc_init)         \
  FUNCTION(dnnl_lrn_forward_desc_init)                   \
  FUNCTION(dnnl_matmul_desc_init)                        \
  FUNCTION(dnnl_memory_create)                           \
  FUNCTION(dnnl_memory_desc_equal)                       \
  FUNCTION(dnnl_memory_desc_get_size)                    \
  FUNCTION(dnnl_memory_desc_init_by_strides)             \
  FUNCTION(dnnl_memory_desc_init_by_tag)                 \
  FUNCTION(dnnl_memory_destroy)                          \
  FUNCTION(dnnl_memory_get_data_handle)                  \
  FUNCTION(dnnl_memory_get_engine)                       \
  FUNCTION(dnnl_memory_get_memory_desc)                  \
  FUNCTION(dnnl_memory_set_data_handle_v2)               \
  FUNCTION(dnnl_pooling_forward_desc_init)               \
  FUNCTION(dnnl_post_ops_append_binary)                  \
  FUNCTION(dnnl_post_ops_append_eltwise)                 \
  FUNCTION(dnnl_post_ops_append_sum)                     \
  FUNCTION(dnnl_post_ops_append_sum_v3)                  \
  FUNCTION(dnnl_post_ops_create)                         \
  FUNCTION(dnnl_post_ops_destroy)                        \
  FUNCTION(dnnl_primitive_attr_create)                   \
  FUNCTION(dnnl_primitive_attr_destroy)                  \
  FUNCTION(dnnl_primitive_attr_set_output_scales)        \
  FUNCTION(dnnl_primitive_attr_set_post_ops)             \
  FUNCTION(dnnl_primitive_attr_set_scratchpad_mode)      \
  FUNCTION(dnnl_primitive_attr_set_zero_points)          \
  FUNCTION(dnnl_primitive_create)                        \
  FUNCTION(dnnl_primitive_desc_destroy)                  \
  FUNCTION(dnnl_primitive_desc_iterator_create)          \
  FUNCTION(dnnl_primitive_desc_iterator_destroy)         \
  FUNCTION(dnnl_primitive_desc_iterator_fetch)           \
  FUNCTION(dnnl_primitive_desc_query)                    \
  FUNCTION(dnnl_primitive_desc_query_md)                 \
  FUNCTION(dnnl_primitive_destroy)                       \
  FUNCTION(dnnl_primitive_execute)                       \
  FUNCTION(dnnl_reorder_primitive_desc_create)           \
  FUNCTION(dnnl_sgemm)                                   \
  FUNCTION(dnnl_softmax_forward_desc_init)               \
  FUNCTION(dnnl_stream_create)                           \
  FUNCTION(dnnl_stream_destroy)                          \
  FUNCTION(dnnl_stream_wait)                             \
  FUNCTION(dnnl_version)

// The function addresses, exported by `libnnefc_onednn.so` as `nnefc_dnnl_functions`.
struct DnnlFunctions {
#define NNEFC_DNNL_MEMBER(name) decltype(&::name) name;
  NNEFC_DNNL_FUNCTIONS(NNEFC_DNNL_MEMBER)
#undef NNEFC_DNNL_MEMBER
};

}  // namespace nnefc::runtime
