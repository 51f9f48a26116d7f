// Names of reductions in other frameworks, with their NNEF equivalents.

#include "compiler/semantics/foreign/operation.h"

namespace nnefc::semantics::foreign {
namespace {

constexpr std::string_view kReducing = "PyTorch, Keras, JAX, TensorFlow, NumPy";
constexpr std::string_view kRunning =
    "`tensor_iterator` of `extension NNEFC_control_flow;` runs a body along an axis; "
    "tract's `tract_core_cumsum` is for its documents";
constexpr std::string_view kBatchNorm = "batch_normalization(x, mean, variance, offset, scale, epsilon = ..)";
constexpr std::string_view kBatchNormNeeds = "mean variance offset scale";
constexpr std::string_view kResponses =
    "local_response_normalization(x, size = [1,5,1,1], alpha = 0.0001, beta = 0.75, bias = 1.0)";

constexpr ForeignOperation kReductions[] = {
    Computed("sum", "sum_reduce(x, axes = ..)", kKeepsAxes, kReducing),
    Computed("sum", "add_n([x, y])", "", "ONNX"),
    Computed("mean", "mean_reduce(x, axes = ..)", kKeepsAxes, kReducing),
    Computed("mean", "add_n([x, y]) / 2.0", "", "ONNX"),
    Computed("average", "add_n([x, y]) / 2.0", "", "Keras"),
    Computed("average", "mean_reduce(x, axes = ..)", kKeepsAxes, "JAX, NumPy"),
    Computed("amax", "max_reduce(x, axes = ..)", kKeepsAxes),
    Computed("amin", "min_reduce(x, axes = ..)", kKeepsAxes),
    Computed("all alltrue", "all_reduce(x, axes = ..)", kKeepsAxes),
    Computed("any sometrue", "any_reduce(x, axes = ..)", kKeepsAxes),
    Computed("argmax", "argmax_reduce(x, axes = ..)", kKeepsAxes),
    Computed("argmin", "argmin_reduce(x, axes = ..)", kKeepsAxes),
    Computed("reducesum", "sum_reduce(x, axes = ..)", kKeepsAxes),
    Computed("reducemean", "mean_reduce(x, axes = ..)", kKeepsAxes),
    Computed("reducemax", "max_reduce(x, axes = ..)", kKeepsAxes),
    Computed("reducemin", "min_reduce(x, axes = ..)", kKeepsAxes),
    Computed("reduceall reduceand reducelogicaland", "all_reduce(x, axes = ..)", kKeepsAxes),
    Computed("reduceany reduceor reducelogicalor", "any_reduce(x, axes = ..)", kKeepsAxes),
    Computed("reducel1", "sum_reduce(abs(x), axes = ..)", kKeepsAxes),
    Computed("reducel2 reduceeuclideannorm", "sqrt(sum_reduce(sqr(x), axes = ..))", kKeepsAxes),
    Computed("reducesumsquare", "sum_reduce(sqr(x), axes = ..)", kKeepsAxes),
    Computed("reducelogsum", "log(sum_reduce(x, axes = ..))", kKeepsAxes),
    Computed("logsumexp reducelogsumexp",
             "m = max_reduce(x, axes = ..); y = m + log(sum_reduce(exp(x - m), axes = ..));", kKeepsAxes),
    Computed("logmeanexp", "m = max_reduce(x, axes = ..); y = m + log(mean_reduce(exp(x - m), axes = ..));",
             kKeepsAxes),
    Computed("norm vectornorm", "sqrt(sum_reduce(sqr(x), axes = ..))", kKeepsAxes),
    Computed("countnonzero", "sum_reduce(select(ne(x, 0.0), 1.0, 0.0), axes = ..)", kKeepsAxes),
    Computed("zerofraction", "mean_reduce(select(eq(x, 0.0), 1.0, 0.0), axes = ..)", kKeepsAxes),
    Computed("l2loss", "sum_reduce(sqr(x), axes = ..) / 2.0", kKeepsAxes),
    Computed("ptp", "max_reduce(x, axes = ..) - min_reduce(x, axes = ..)", kKeepsAxes),
    Computed("nansum", "sum_reduce(select(ne(x, x), 0.0, x), axes = ..)", kKeepsAxes),
    Missing("prod product reduceprod",
            "tract's `tract_core_product_reduce` is for its documents; a fixed number of factors is a `mul` "
            "of slices"),
    Missing("reducexor aminmax dist nanprod nanmean nanmax nanmin nanmedian nanstd nanvar nanquantile "
            "nanpercentile "
            "nanargmax nanargmin nancumsum nancumprod"),
    // Variances: PyTorch divides by one less than the number of items.
    Computed("var", "sum_reduce(sqr(x - mean_reduce(x, axes = ..)), axes = ..) / (n - 1.0)",
             "which keeps the axes, of `n` items in all, with extent 1", "PyTorch"),
    Computed("var variance reducevariance", "mean_reduce(sqr(x - mean_reduce(x, axes = ..)), axes = ..)",
             kKeepsAxes, "Keras, JAX, TensorFlow, NumPy"),
    Computed("std", "sqrt(sum_reduce(sqr(x - mean_reduce(x, axes = ..)), axes = ..) / (n - 1.0))",
             "which keeps the axes, of `n` items in all, with extent 1", "PyTorch"),
    Computed("std stddev reducestd", "sqrt(mean_reduce(sqr(x - mean_reduce(x, axes = ..)), axes = ..))",
             kKeepsAxes, "Keras, JAX, TensorFlow, NumPy"),
    Missing("stdmean varmean weightedmoments normalizemoments sufficientstatistics",
            "`moments(x, axes = ..)` has the results mean and variance"),
    Missing("cov corrcoef"),
    // Running and ordered reductions.
    Missing("cumsum", kRunning),
    Missing("cumulativelogsumexp cumprod cumproduct cummax cummin cumlogsumexp logcumsumexp associativescan "
            "cumulativesum",
            "`tensor_iterator` of `extension NNEFC_control_flow;` runs a body along an axis"),
    Missing("topk topkv2 approxmaxk approxmink", "tract's `tract_core_topk` is for its documents"),
    Missing("sort argsort invertpermutation argpartition partition msort lexsort sortkeyval kthvalue median "
            "mode quantile "
            "percentile "
            "searchsorted bucketize digitize unique uniqueconsecutive uniquewithcounts nonzero argwhere "
            "flatnonzero "
            "histc histogram histogramdd histogram2d histogrambinedges sortcomplex bincount intopk isin in1d "
            "segmentsum segmentmax segmentmean unsortedsegmentsum "
            "union1d setdiff1d intersect1d setxor1d editdistance",
            "no operation orders or counts values"),
    // Normalizations.
    RenamedIf(kBatchNormNeeds,
              "batchnorm bn batchnormalization fusedbatchnorm fusedbatchnormv3 syncbatchnorm",
              "batch_normalization", kBatchNorm, "each framework has its own order of the arguments"),
    Computed("instancenorm instancenormalization",
             "m, v = moments(x, axes = [2,3]); y = (x - m) * rsqrt(v + epsilon) * scale + bias;",
             "`scale` and `bias` have the shape [1, channels]"),
    Computed("layernorm layernormalization",
             "m, v = moments(x, axes = ..); y = (x - m) * rsqrt(v + epsilon) * scale + bias;"),
    Computed("rmsnorm rmsnormalization", "x * rsqrt(mean_reduce(sqr(x), axes = ..) + epsilon) * scale",
             "tract's `tract_core_rms_norm` is for its documents"),
    Computed("meanvariancenormalization mvn", "m, v = moments(x, axes = ..); y = (x - m) * rsqrt(v);"),
    Computed("normalize", "x / max(sqrt(sum_reduce(sqr(x), axes = ..)), 0.000000000001)"),
    Computed("l2normalize l2norm", "x * rsqrt(max(sum_reduce(sqr(x), axes = ..), 0.000000000001))"),
    Computed("lpnormalization unitnormalization unitnorm", "x / sqrt(sum_reduce(sqr(x), axes = ..))",
             "for p = 2; `l2_normalization` adds `bias` and `epsilon`"),
    RenamedIf("size alpha beta bias", "lrn localresponsenorm localresponsenormalization crossmaplrn",
              "local_response_normalization", kResponses, "`alpha` multiplies the mean, not the sum",
              "PyTorch, ONNX, Caffe, OpenVINO"),
    Computed("lrn localresponsenorm localresponsenormalization",
             "local_response_normalization(x, size = [1,11,1,1], alpha = 11.0, beta = 0.5, bias = 1.0)",
             "`alpha` multiplies the mean, not the sum", "TensorFlow"),
    Missing("groupnorm groupnormalization", "it is a `reshape` into groups, `moments`, and a `reshape` back"),
    Missing("weightnorm spectralnorm spectralnormalization parametrize",
            "the weights of a network that is run are normalized before"),
    Missing("renorm clipbynorm clipbyglobalnorm clipbyaveragenorm"),
};

}  // namespace

std::span<const ForeignOperation> ForeignReductions() {
  return kReductions;
}

}  // namespace nnefc::semantics::foreign
