// The primitives of oneDNN in use, by our descriptions.

#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "fmt/format.h"
#include "oneapi/dnnl/dnnl.hpp"
#include "runtime/onednn/library/formats.h"
#include "runtime/onednn/library/interface.h"
#include "runtime/onednn/library/openmp.h"

namespace nnefc::runtime::onednn::library {

using fast::gemm::FunctionKind;

namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;

const dnnl::engine& Engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

algorithm AlgorithmOf(FunctionKind function) {
  switch (function) {
    case FunctionKind::kLinear:
      return algorithm::eltwise_linear;
    case FunctionKind::kRelu:
      return algorithm::eltwise_relu;
    case FunctionKind::kClip:
      return algorithm::eltwise_clip;
    case FunctionKind::kElu:
      return algorithm::eltwise_elu;
    case FunctionKind::kSwish:
      return algorithm::eltwise_swish;
    case FunctionKind::kSigmoid:
      return algorithm::eltwise_logistic;
    case FunctionKind::kTanh:
      return algorithm::eltwise_tanh;
    case FunctionKind::kAbs:
      return algorithm::eltwise_abs;
    case FunctionKind::kSqrt:
      return algorithm::eltwise_sqrt;
    case FunctionKind::kHSwish:
      return algorithm::eltwise_hardswish;
    case FunctionKind::kMish:
      return algorithm::eltwise_mish;
    case FunctionKind::kSoftPlus:
      return algorithm::eltwise_soft_relu;
    case FunctionKind::kGelu:
      return algorithm::eltwise_gelu_erf;
    case FunctionKind::kGeluTanh:
      return algorithm::eltwise_gelu_tanh;
    case FunctionKind::kRound:
      return algorithm::eltwise_round;
    case FunctionKind::kAdd:
      return algorithm::binary_add;
    case FunctionKind::kSubtract:
      return algorithm::binary_sub;
    case FunctionKind::kMultiply:
      return algorithm::binary_mul;
    case FunctionKind::kDivide:
      return algorithm::binary_div;
    case FunctionKind::kMinimum:
      return algorithm::binary_min;
    case FunctionKind::kMaximum:
      return algorithm::binary_max;
  }
  return algorithm::undef;
}

algorithm AlgorithmOf(const PrimitiveRequest& request) {
  const bool is_deconvolution = request.kind == PrimitiveKind::kDeconvolution;
  switch (request.algorithm) {
    case PrimitiveAlgorithm::kDirect:
      return is_deconvolution ? algorithm::deconvolution_direct : algorithm::convolution_direct;
    case PrimitiveAlgorithm::kAuto:
      return algorithm::convolution_auto;
    case PrimitiveAlgorithm::kMaximum:
      return algorithm::pooling_max;
    case PrimitiveAlgorithm::kAverageIncludingPadding:
      return algorithm::pooling_avg_include_padding;
    case PrimitiveAlgorithm::kAverageExcludingPadding:
      return algorithm::pooling_avg_exclude_padding;
  }
  return algorithm::undef;
}

// Returns oneDNN's number of an argument.
int IdOf(const PrimitiveArgument& argument) {
  using Role = PrimitiveArgument::Role;
  switch (argument.role) {
    case Role::kSource:
      return argument.index == 0 ? DNNL_ARG_SRC : DNNL_ARG_SRC_1;
    case Role::kWeights:
      return DNNL_ARG_WEIGHTS;
    case Role::kBias:
      return DNNL_ARG_BIAS;
    case Role::kResult:
      return DNNL_ARG_DST;
    case Role::kScale:
      return DNNL_ARG_SCALE;
    case Role::kShift:
      return DNNL_ARG_SHIFT;
    case Role::kMean:
      return DNNL_ARG_MEAN;
    case Role::kVariance:
      return DNNL_ARG_VARIANCE;
    case Role::kPostOperand:
      return DNNL_ARG_ATTR_MULTIPLE_POST_OP(argument.index) | DNNL_ARG_SRC_1;
    case Role::kScratch:
      return DNNL_ARG_SCRATCHPAD;
  }
  return 0;
}

dnnl::primitive_attr AttributesOf(const PrimitiveRequest& request) {
  dnnl::post_ops posts;
  for (const PrimitivePostOp& post : request.posts) {
    switch (post.kind) {
      case PrimitivePostOp::Kind::kFunction:
        posts.append_eltwise(1.0f, AlgorithmOf(post.function), post.alpha, post.beta);
        break;
      case PrimitivePostOp::Kind::kBinary:
        posts.append_binary(AlgorithmOf(post.function), DescOf(post.operand));
        break;
      case PrimitivePostOp::Kind::kSum:
        if (post.zero == 0) {
          posts.append_sum(post.scale);
        } else {
          posts.append_sum(post.scale, post.zero);
        }
        break;
    }
  }
  dnnl::primitive_attr attributes;
  // Callers provide scratch memory, so that sessions can share a primitive. Reorders keep their own.
  if (request.kind != PrimitiveKind::kReorder) attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (!request.posts.empty()) attributes.set_post_ops(posts);
  if (!request.scales.empty()) attributes.set_output_scales(request.scale_axes, request.scales);
  if (request.source_zero != 0) attributes.set_zero_points(DNNL_ARG_SRC, 0, {request.source_zero});
  return attributes;
}

class SessionCall final : public PrimitiveCall {
 public:
  SessionCall(dnnl::primitive primitive, std::vector<std::pair<int, memory::desc>> arguments)
      : primitive_(std::move(primitive)), arguments_(std::move(arguments)) {}

  std::string Run(llvm::ArrayRef<void*> addresses) override {
    const OpenMpLimit limit;
    try {
      Bind(addresses);
      thread_local dnnl::stream stream(Engine());
      primitive_.execute(stream, memories_);
      stream.wait();
      return "";
    } catch (const std::exception& error) {
      return error.what();
    }
  }

 private:
  // The memory objects are kept between runs: for small primitives creating them costs more than the
  // computation.
  void Bind(llvm::ArrayRef<void*> addresses) {
    const bool is_first = bound_.empty();
    for (size_t i = 0; i < arguments_.size(); ++i) {
      const auto& [id, desc] = arguments_[i];
      if (is_first) {
        memories_.emplace(id, memory(desc, Engine(), addresses[i]));
      } else if (bound_[i] != addresses[i]) {
        memories_[id].set_data_handle(addresses[i]);
      }
    }
    bound_.assign(addresses.begin(), addresses.end());
  }

  const dnnl::primitive primitive_;
  const std::vector<std::pair<int, memory::desc>> arguments_;
  std::unordered_map<int, memory> memories_;
  std::vector<void*> bound_;  // address of each argument
};

class CreatedPrimitive final : public Primitive {
 public:
  CreatedPrimitive(PrimitiveKind kind, dnnl::primitive primitive, dnnl::primitive_desc_base description)
      : primitive_(std::move(primitive)), description_(std::move(description)) {
    // Reorders keep their own scratch memory.
    if (kind != PrimitiveKind::kReorder)
      scratch_ = description_.query_md(dnnl::query::exec_arg_md, DNNL_ARG_SCRATCHPAD);
  }

  std::string implementation() const override { return description_.impl_info_str(); }

  fast::memory::BlockedFormat format(const PrimitiveArgument& argument) const override {
    return FormatOfDesc(description_.query_md(dnnl::query::exec_arg_md, IdOf(argument)));
  }

  size_t scratch_bytes() const override { return scratch_.get_size(); }

  std::unique_ptr<PrimitiveCall> NewCall(llvm::ArrayRef<BoundArgument> arguments) const override {
    std::vector<std::pair<int, memory::desc>> bound;
    bound.reserve(arguments.size());
    for (const BoundArgument& argument : arguments) {
      const int id = IdOf(argument.argument);
      bound.emplace_back(id, id == DNNL_ARG_SCRATCHPAD ? scratch_ : DescOf(argument.format));
    }
    return std::make_unique<SessionCall>(primitive_, std::move(bound));
  }

 private:
  dnnl::primitive primitive_;
  dnnl::primitive_desc_base description_;
  memory::desc scratch_;
};

using CreatedOrNull = std::shared_ptr<const Primitive>;

// Creates the primitive of a description, if oneDNN has an implementation.
template <typename Operation>
CreatedOrNull Finish(const PrimitiveRequest& request, const typename Operation::primitive_desc& description) {
  if (!description) return nullptr;
  return std::make_shared<CreatedPrimitive>(request.kind, Operation(description), description);
}
template <typename Operation>
CreatedOrNull FinishDesc(const PrimitiveRequest& request, const typename Operation::desc& desc) {
  return Finish<Operation>(request, {desc, AttributesOf(request), Engine(), true});
}

template <typename Operation>
CreatedOrNull CreateConvolution(const PrimitiveRequest& request) {
  const auto kind = prop_kind::forward_inference;
  const memory::desc source = DescOf(request.sources[0]), weights = DescOf(request.weights),
                     result = DescOf(request.result);
  if (request.bias.rank == 0) {
    return FinishDesc<Operation>(
        request, {kind, AlgorithmOf(request), source, weights, result, request.strides, request.dilations,
                  request.before, request.after});
  }
  return FinishDesc<Operation>(
      request, {kind, AlgorithmOf(request), source, weights, DescOf(request.bias), result, request.strides,
                request.dilations, request.before, request.after});
}

CreatedOrNull CreateMatmul(const PrimitiveRequest& request) {
  const memory::desc source = DescOf(request.sources[0]), weights = DescOf(request.weights),
                     result = DescOf(request.result);
  if (request.bias.rank == 0) return FinishDesc<dnnl::matmul>(request, {source, weights, result});
  return FinishDesc<dnnl::matmul>(request, {source, weights, DescOf(request.bias), result});
}

CreatedOrNull CreateInnerProduct(const PrimitiveRequest& request) {
  using Operation = dnnl::inner_product_forward;
  const auto kind = prop_kind::forward_inference;
  const memory::desc source = DescOf(request.sources[0]), weights = DescOf(request.weights),
                     result = DescOf(request.result);
  if (request.bias.rank == 0) return FinishDesc<Operation>(request, {kind, source, weights, result});
  return FinishDesc<Operation>(request, {kind, source, weights, DescOf(request.bias), result});
}

CreatedOrNull CreateOf(const PrimitiveRequest& request) {
  const auto kind = prop_kind::forward_inference;
  const memory::desc source = DescOf(request.sources[0]), result = DescOf(request.result);
  switch (request.kind) {
    case PrimitiveKind::kConvolution:
      return CreateConvolution<dnnl::convolution_forward>(request);
    case PrimitiveKind::kDeconvolution:
      return CreateConvolution<dnnl::deconvolution_forward>(request);
    case PrimitiveKind::kMatmul:
      return CreateMatmul(request);
    case PrimitiveKind::kInnerProduct:
      return CreateInnerProduct(request);
    case PrimitiveKind::kPooling:
      return FinishDesc<dnnl::pooling_forward>(
          request, {kind, AlgorithmOf(request), source, result, request.strides, request.window,
                    request.before, request.after});
    case PrimitiveKind::kFunction:
      return FinishDesc<dnnl::eltwise_forward>(
          request, {kind, AlgorithmOf(request.function), source, request.alpha, request.beta});
    case PrimitiveKind::kBinary:
      return FinishDesc<dnnl::binary>(
          request, {AlgorithmOf(request.function), source, DescOf(request.sources[1]), result});
    case PrimitiveKind::kLrn:
      return FinishDesc<dnnl::lrn_forward>(
          request, {kind, algorithm::lrn_across_channels, source, request.size, request.alpha, request.beta,
                    request.offset});
    case PrimitiveKind::kBatchNorm: {
      using Flags = dnnl::normalization_flags;
      return FinishDesc<dnnl::batch_normalization_forward>(
          request,
          {kind, source, request.epsilon, Flags::use_global_stats | Flags::use_scale | Flags::use_shift});
    }
    case PrimitiveKind::kReorder:
      return Finish<dnnl::reorder>(request,
                                   {Engine(), source, Engine(), result, AttributesOf(request), true});
  }
  return nullptr;
}

std::string_view NameOf(dnnl::cpu_isa isa) {
  switch (isa) {
    case dnnl::cpu_isa::sse41:
      return "SSE 4.1";
    case dnnl::cpu_isa::avx:
      return "AVX";
    case dnnl::cpu_isa::avx2:
      return "AVX2";
    case dnnl::cpu_isa::avx2_vnni:
      return "AVX2 with VNNI";
    case dnnl::cpu_isa::avx512_core:
      return "AVX-512";
    case dnnl::cpu_isa::avx512_core_vnni:
      return "AVX-512 with VNNI";
    case dnnl::cpu_isa::avx512_core_bf16:
      return "AVX-512 with VNNI and bf16";
    case dnnl::cpu_isa::avx512_core_amx:
      return "AVX-512 with VNNI, bf16 and AMX";
    default:
      return "no vector instructions that it names";
  }
}

class Library final : public OneDnnLibrary {
 public:
  std::shared_ptr<const Primitive> Create(const PrimitiveRequest& request) const override {
    const OpenMpLimit limit;
    try {
      return CreateOf(request);
    } catch (const dnnl::error&) {  // an unsupported shape or attribute
      return nullptr;
    }
  }

  std::string MultiplyAdd(const Product& product) const override {
    const OpenMpLimit limit;
    const dnnl_status_t status =
        dnnl_sgemm('N', 'T', product.rows, product.columns, product.terms, 1.0f, product.left, product.terms,
                   product.right, product.right_stride, 1.0f, product.out, product.columns);
    return status == dnnl_success ? "" : fmt::format("a product of matrices fails ({})", int{status});
  }

  std::string Describe() const override {
    const dnnl_version_t& version = *dnnl_version();
    return fmt::format("oneDNN {}.{}.{}, which uses {}", version.major, version.minor, version.patch,
                       NameOf(dnnl::get_effective_cpu_isa()));
  }
};

}  // namespace

extern "C" {
[[gnu::visibility("default")]] const OneDnnLibrary* nnefc_onednn_open(const TeamFunctions& team) {
  static const Library library;
  SetOpenMpTeam(team);
  return &library;
}
}

}  // namespace nnefc::runtime::onednn::library
