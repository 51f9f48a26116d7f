// Names of convolutions and pools in other frameworks, with their NNEF equivalents.

#include "compiler/semantics/foreign/operation.h"

namespace nnefc::semantics::foreign {
namespace {

constexpr std::string_view kPad =
    "without `padding` NNEF pads so that the output has ceil(input / stride) extents";
constexpr std::string_view kTransposed = "deconv(x, filter, bias, padding = [(0,0), (0,0)])";
constexpr std::string_view kMaxPool =
    "max_pool(x, size = [1,1,2,2], stride = [1,1,2,2], padding = [(0,0), (0,0), (0,0), (0,0)])";
constexpr std::string_view kAvgPool =
    "avg_pool(x, size = [1,1,2,2], stride = [1,1,2,2], padding = [(0,0), (0,0), (0,0), (0,0)])";
constexpr std::string_view kWindowNeeds = "size stride padding border";
constexpr std::string_view kResizers =
    "`nearest_upsample`, `multilinear_upsample`, `nearest_downsample` and `area_downsample` resize by "
    "factors";

constexpr ForeignOperation kWindows[] = {
    // Convolutions.
    RenamedIf("padding", "conv convolution", "conv", "conv(x, filter, bias, padding = [(0,0), (0,0)])", kPad),
    RenamedIf(
        "padding",
        "convolutiontranspose deconv transposedconv transposeconv deconvolution convolutionbackpropdata "
        "conv2dtranspose conv1dtranspose conv3dtranspose convolution2dtranspose convolution1dtranspose "
        "convolution3dtranspose",
        "deconv", kTransposed, kPad),
    Computed("convtranspose", kTransposed, kPad, "PyTorch, ONNX, Keras"),
    Missing("convtranspose", "`deconv` flips the filter", "JAX"),
    Missing("convolve correlate", "`conv` convolves tensors of [batch, channels, extents..]"),
    Computed("groupconv groupconvolution", "conv(x, filter, padding = [(0,0), (0,0)], groups = ..)"),
    Computed("depthwiseconv depthwiseconvolution depthwiseconv2dnative",
             "conv(x, filter, padding = [(0,0), (0,0)], groups = 0)", "each channel has its own filter"),
    Computed("planewiseconv", "conv(x, filter, groups = 0)"),
    Computed("planewisedeconv", "deconv(x, filter, groups = 0)"),
    RenamedIf("padding", "separableconv separableconvolution", "separable_conv",
              "separable_conv(x, plane_filter, point_filter, padding = [(0,0), (0,0)])", kPad),
    Missing(
        "deformconv deformableconvolution lazyconv convinteger qlinearconv convgeneraldilated "
        "convwithgeneralpadding convgeneraldilatedlocal convgeneraldilatedpatches binaryconvolution "
        "causalconvwithstate extractpatches extractimagepatches unfold fold im2col col2im locallyconnected",
        "`conv` and `deconv` convolve"),
    // Pools.
    RenamedIf(kWindowNeeds, "maxpool maxpooling", "max_pool", kMaxPool),
    RenamedIf(kWindowNeeds, "avgpool averagepool averagepooling avgpooling meanpool", "avg_pool", kAvgPool),
    Missing("pool pooling reduce reducewindow", "`max_pool` and `avg_pool` pool"),
    Computed(
        "lppool",
        "sqrt(box(sqr(x), size = [1,1,2,2], stride = [1,1,2,2], padding = [(0,0), (0,0), (0,0), (0,0)]))",
        "for p = 2"),
    Computed("globalaveragepool globalaveragepooling globalavgpool globalavgpooling",
             "mean_reduce(x, axes = [2,3])", kKeepsAxes),
    Computed("globalmaxpool globalmaxpooling", "max_reduce(x, axes = [2,3])", kKeepsAxes),
    Computed("globallppool", "sqrt(sum_reduce(sqr(x), axes = [2,3]))", "for p = 2"),
    Computed("adaptiveavgpool adaptiveaveragepooling", "mean_reduce(x, axes = [2,3])",
             "for an output of extent 1; `avg_pool` pools by windows"),
    Computed("adaptivemaxpool adaptivemaxpooling", "max_reduce(x, axes = [2,3])",
             "for an output of extent 1; `max_pool` pools by windows"),
    Missing("maxpoolwithargmax", "`max_pool_with_index` numbers the positions within a window"),
    Missing("dilation2d erosion2d conv2dbackpropinput conv2dbackpropfilter atrousconv atrousconv2d "
            "fractionalmaxpool fractionalavgpool"),
    Missing(
        "maxunpool unpool unpooling",
        "`desample(x, index, size = ..)` undoes a `max_pool_with_index`, whose indices count within windows"),
    // Resizing, by 2.
    Computed("upsamplingnearest upsamplenearest", "nearest_upsample(x, factor = [2,2])"),
    Computed("upsample upsampling", "nearest_upsample(x, factor = [2,2])",
             "`multilinear_upsample` interpolates"),
    Computed("resize", "nearest_upsample(x, factor = [2,2])", kResizers, "ONNX"),
    Missing("resize resizing imageresize", kResizers, "Keras, JAX, TensorFlow"),
    Computed("interpolate", "nearest_upsample(x, factor = [2,2])", kResizers, "PyTorch"),
    Missing("interpolate", kResizers, "OpenVINO"),
    Computed("resizenearestneighbor", "nearest_upsample(x, factor = [2,2])"),
    Computed("upsamplebilinear upsamplingbilinear",
             "multilinear_upsample(x, factor = [2,2], method = 'aligned')"),
    Computed("resizebilinear", "multilinear_upsample(x, factor = [2,2])"),
    Missing("downsample", "`nearest_downsample(x, factor = [2,2])` and `area_downsample` are the two ways"),
    Missing("resizebicubic upsamplebicubic resizearea scaleandtranslate mapcoordinates centercroppad"),
    Missing("gridsample gridsampler", "tract's `tract_core_grid_sample` is for its documents"),
    Missing("affinegrid affinetransform spatialtransformer"),
    Missing("pixelshuffle pixelunshuffle channelshuffle depthtospace spacetodepth withspacetodepth "
            "batchtospacend spacetobatchnd "
            "batchtospace spacetobatch",
            "it is a `reshape`, a `transpose` and a `reshape`, for batches after `pad`"),
    // Regions.
    Missing("roipool roipooling maxroipool roialign psroipooling cropandresize",
            "`max_roi_pool`, `avg_roi_pool`, `avg_roi_align` and `max_roi_align` take the batch index of "
            "each region "
            "apart"),
    Missing("nonmaxsuppressionv3 nonmaxsuppressionv4 nonmaxsuppressionv5 combinednonmaxsuppression nms "
            "nonmaxsuppression nonmaximumsuppression batchednms",
            "it belongs after the network"),
    // Padding.
    Computed("zeropad zeropadding", "pad(x, padding = [(0,0), (0,0), (1,1), (1,1)])"),
    Computed("constantpad", "pad(x, padding = [(0,0), (0,0), (1,1), (1,1)], value = ..)"),
    Computed("reflectionpad reflectpad",
             "pad(x, padding = [(0,0), (0,0), (1,1), (1,1)], border = 'reflect')"),
    Computed("replicationpad edgepad",
             "pad(x, padding = [(0,0), (0,0), (1,1), (1,1)], border = 'replicate')"),
    Missing("mirrorpad",
            "`pad(x, padding = .., border = 'reflect')` leaves the edge out, 'reflect-even' repeats it"),
    Missing("circularpad", "`concat` puts slices of the other side next to the tensor"),
    Missing("cropping crop centercrop randomcrop", "`slice(x, axes = .., begin = .., end = ..)` cuts"),
};

}  // namespace

std::span<const ForeignOperation> ForeignWindows() {
  return kWindows;
}

}  // namespace nnefc::semantics::foreign
