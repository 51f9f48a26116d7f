// oneDNN's interface. Its library is loaded on first use: it costs 3 MB and a millisecond per process, 5 MB
// more when used, and most networks only run our own kernels. No other file includes its headers.
#pragma once

#include "runtime/onednn/function_table.h"

namespace nnefc::runtime {

// Returns the functions, loaded by the first call. Without the library all functions fail, so that other
// kernels run.
const DnnlFunctions& OneDnn();

// Memory descriptors without the library: equivalents of oneDNN's functions, which are only called for
// unknown cases.
dnnl_status_t InitDescByTag(dnnl_memory_desc_t* desc, int rank, const dnnl_dims_t dims, dnnl_data_type_t type,
                            dnnl_format_tag_t tag);
dnnl_status_t InitDescByStrides(dnnl_memory_desc_t* desc, int rank, const dnnl_dims_t dims,
                                dnnl_data_type_t type, const dnnl_dims_t strides);
int AreDescsEqual(const dnnl_memory_desc_t* a, const dnnl_memory_desc_t* b);
size_t BytesOfDesc(const dnnl_memory_desc_t* desc);
size_t BytesOfType(dnnl_data_type_t type);

}  // namespace nnefc::runtime

// NOLINTBEGIN(readability-identifier-naming)
#define dnnl_batch_normalization_forward_desc_init(...) \
  ::nnefc::runtime::OneDnn().dnnl_batch_normalization_forward_desc_init(__VA_ARGS__)
#define dnnl_binary_desc_init(...) ::nnefc::runtime::OneDnn().dnnl_binary_desc_init(__VA_ARGS__)
#define dnnl_concat_primitive_desc_create(...) \
  ::nnefc::runtime::OneDnn().dnnl_concat_primitive_desc_create(__VA_ARGS__)
#define dnnl_data_type_size(...) ::nnefc::runtime::BytesOfType(__VA_ARGS__)
#define dnnl_dilated_convolution_forward_desc_init(...) \
  ::nnefc::runtime::OneDnn().dnnl_dilated_convolution_forward_desc_init(__VA_ARGS__)
#define dnnl_dilated_deconvolution_forward_desc_init(...) \
  ::nnefc::runtime::OneDnn().dnnl_dilated_deconvolution_forward_desc_init(__VA_ARGS__)
#define dnnl_eltwise_forward_desc_init(...) \
  ::nnefc::runtime::OneDnn().dnnl_eltwise_forward_desc_init(__VA_ARGS__)
#define dnnl_engine_create(...) ::nnefc::runtime::OneDnn().dnnl_engine_create(__VA_ARGS__)
#define dnnl_engine_destroy(...) ::nnefc::runtime::OneDnn().dnnl_engine_destroy(__VA_ARGS__)
#define dnnl_get_effective_cpu_isa(...) ::nnefc::runtime::OneDnn().dnnl_get_effective_cpu_isa(__VA_ARGS__)
#define dnnl_inner_product_forward_desc_init(...) \
  ::nnefc::runtime::OneDnn().dnnl_inner_product_forward_desc_init(__VA_ARGS__)
#define dnnl_lrn_forward_desc_init(...) ::nnefc::runtime::OneDnn().dnnl_lrn_forward_desc_init(__VA_ARGS__)
#define dnnl_matmul_desc_init(...) ::nnefc::runtime::OneDnn().dnnl_matmul_desc_init(__VA_ARGS__)
#define dnnl_memory_create(...) ::nnefc::runtime::OneDnn().dnnl_memory_create(__VA_ARGS__)
#define dnnl_memory_desc_equal(...) ::nnefc::runtime::AreDescsEqual(__VA_ARGS__)
#define dnnl_memory_desc_get_size(...) ::nnefc::runtime::BytesOfDesc(__VA_ARGS__)
#define dnnl_memory_desc_init_by_strides(...) ::nnefc::runtime::InitDescByStrides(__VA_ARGS__)
#define dnnl_memory_desc_init_by_tag(...) ::nnefc::runtime::InitDescByTag(__VA_ARGS__)
#define dnnl_memory_destroy(...) ::nnefc::runtime::OneDnn().dnnl_memory_destroy(__VA_ARGS__)
#define dnnl_memory_get_data_handle(...) ::nnefc::runtime::OneDnn().dnnl_memory_get_data_handle(__VA_ARGS__)
#define dnnl_memory_get_engine(...) ::nnefc::runtime::OneDnn().dnnl_memory_get_engine(__VA_ARGS__)
#define dnnl_memory_get_memory_desc(...) ::nnefc::runtime::OneDnn().dnnl_memory_get_memory_desc(__VA_ARGS__)
#define dnnl_memory_set_data_handle_v2(...) \
  ::nnefc::runtime::OneDnn().dnnl_memory_set_data_handle_v2(__VA_ARGS__)
#define dnnl_pooling_forward_desc_init(...) \
  ::nnefc::runtime::OneDnn().dnnl_pooling_forward_desc_init(__VA_ARGS__)
#define dnnl_post_ops_append_binary(...) ::nnefc::runtime::OneDnn().dnnl_post_ops_append_binary(__VA_ARGS__)
#define dnnl_post_ops_append_eltwise(...) ::nnefc::runtime::OneDnn().dnnl_post_ops_append_eltwise(__VA_ARGS__)
#define dnnl_post_ops_append_sum(...) ::nnefc::runtime::OneDnn().dnnl_post_ops_append_sum(__VA_ARGS__)
#define dnnl_post_ops_append_sum_v3(...) ::nnefc::runtime::OneDnn().dnnl_post_ops_append_sum_v3(__VA_ARGS__)
#define dnnl_post_ops_create(...) ::nnefc::runtime::OneDnn().dnnl_post_ops_create(__VA_ARGS__)
#define dnnl_post_ops_destroy(...) ::nnefc::runtime::OneDnn().dnnl_post_ops_destroy(__VA_ARGS__)
#define dnnl_primitive_attr_create(...) ::nnefc::runtime::OneDnn().dnnl_primitive_attr_create(__VA_ARGS__)
#define dnnl_primitive_attr_destroy(...) ::nnefc::runtime::OneDnn().dnnl_primitive_attr_destroy(__VA_ARGS__)
#define dnnl_primitive_attr_set_output_scales(...) \
  ::nnefc::runtime::OneDnn().dnnl_primitive_attr_set_output_scales(__VA_ARGS__)
#define dnnl_primitive_attr_set_post_ops(...) \
  ::nnefc::runtime::OneDnn().dnnl_primitive_attr_set_post_ops(__VA_ARGS__)
#define dnnl_primitive_attr_set_scratchpad_mode(...) \
  ::nnefc::runtime::OneDnn().dnnl_primitive_attr_set_scratchpad_mode(__VA_ARGS__)
#define dnnl_primitive_attr_set_zero_points(...) \
  ::nnefc::runtime::OneDnn().dnnl_primitive_attr_set_zero_points(__VA_ARGS__)
#define dnnl_primitive_create(...) ::nnefc::runtime::OneDnn().dnnl_primitive_create(__VA_ARGS__)
#define dnnl_primitive_desc_destroy(...) ::nnefc::runtime::OneDnn().dnnl_primitive_desc_destroy(__VA_ARGS__)
#define dnnl_primitive_desc_iterator_create(...) \
  ::nnefc::runtime::OneDnn().dnnl_primitive_desc_iterator_create(__VA_ARGS__)
#define dnnl_primitive_desc_iterator_destroy(...) \
  ::nnefc::runtime::OneDnn().dnnl_primitive_desc_iterator_destroy(__VA_ARGS__)
#define dnnl_primitive_desc_iterator_fetch(...) \
  ::nnefc::runtime::OneDnn().dnnl_primitive_desc_iterator_fetch(__VA_ARGS__)
#define dnnl_primitive_desc_query(...) ::nnefc::runtime::OneDnn().dnnl_primitive_desc_query(__VA_ARGS__)
#define dnnl_primitive_desc_query_md(...) ::nnefc::runtime::OneDnn().dnnl_primitive_desc_query_md(__VA_ARGS__)
#define dnnl_primitive_destroy(...) ::nnefc::runtime::OneDnn().dnnl_primitive_destroy(__VA_ARGS__)
#define dnnl_primitive_execute(...) ::nnefc::runtime::OneDnn().dnnl_primitive_execute(__VA_ARGS__)
#define dnnl_reorder_primitive_desc_create(...) \
  ::nnefc::runtime::OneDnn().dnnl_reorder_primitive_desc_create(__VA_ARGS__)
#define dnnl_sgemm(...) ::nnefc::runtime::OneDnn().dnnl_sgemm(__VA_ARGS__)
#define dnnl_softmax_forward_desc_init(...) \
  ::nnefc::runtime::OneDnn().dnnl_softmax_forward_desc_init(__VA_ARGS__)
#define dnnl_stream_create(...) ::nnefc::runtime::OneDnn().dnnl_stream_create(__VA_ARGS__)
#define dnnl_stream_destroy(...) ::nnefc::runtime::OneDnn().dnnl_stream_destroy(__VA_ARGS__)
#define dnnl_stream_wait(...) ::nnefc::runtime::OneDnn().dnnl_stream_wait(__VA_ARGS__)
#define dnnl_version(...) ::nnefc::runtime::OneDnn().dnnl_version(__VA_ARGS__)
// NOLINTEND(readability-identifier-naming)

#include "oneapi/dnnl/dnnl.hpp"
