// Names of remaining operations in other frameworks, with their NNEF equivalents.

#include "compiler/semantics/foreign/operation.h"

namespace nnefc::semantics::foreign {
namespace {

constexpr std::string_view kControl =
    "`if_else`, `tensor_iterator` and `while_loop` of `extension NNEFC_control_flow;` run bodies";
constexpr std::string_view kRecurrent =
    "`tensor_iterator` of `extension NNEFC_control_flow;` runs a step along a sequence";

constexpr ForeignOperation kOthers[] = {
    // Control flow.
    Missing("if cond ifelse switch case merge",
            "`if_else` of `extension NNEFC_control_flow;` runs one of two bodies"),
    Missing("while whileloop foriloop loop scan map vmap vectorizedmap switchcase tensoriterator sequencemap "
            "foldl foldr "
            "timedistributed",
            kControl),
    // Recurrence.
    Missing("rnnbase rnn lstm gru rnncell lstmcell grucell lstmsequence grusequence rnnsequence simplernn "
            "simplernncell "
            "bidirectional convlstm convlstm1d convlstm2d convlstm3d stackedrnncells augru augrucell "
            "augrusequence "
            "dynamicrnn",
            kRecurrent),
    // Quantization.
    Missing(
        "fakequantize fakequant fakequantizepertensoraffine fakequantizeperchannelaffine quantizepertensor "
        "quantizeperchannel quantizelinear dequantizelinear dynamicquantizelinear quantize dequantize "
        "quantizev2 "
        "fakequantwithminmaxvars fakequantwithminmaxargs",
        "`min_max_linear_quantize(x, min, max, bits = 8, signed = false, symmetric = false)` and "
        "`zero_point_linear_quantize(x, zero_point, scale, bits = 8, signed = true, symmetric = false)` "
        "round to "
        "quantized values"),
    // Signals.
    Missing("stft", "tract's `tract_core_stft` is for its documents"),
    Missing("fft ifft dft idft", "tract's `tract_core_fft` is for its documents"),
    Missing("rfft irfft fft2 ifft2 fftn ifftn rfft2 irfft2 rfftn irfftn hfft ihfft fftshift ifftshift "
            "fftfreq rfftfreq "
            "istft rdft irdft melweightmatrix melspectrogram stftspectrogram hannwindow hammingwindow "
            "blackmanwindow "
            "bartlettwindow kaiserwindow hanning hamming blackman bartlett kaiser extractsequences"),
    // Random numbers.
    Missing("rand randn randint randperm randlike randnlike randintlike normal uniform bernoulli multinomial "
            "poisson "
            "randomnormal randomnormallike randomuniform randomuniformlike randomuniformint truncatednormal "
            "categorical "
            "rngbitgenerator rnguniform",
            "there are no random numbers"),
    // Sequences, optional values and strings.
    Missing(
        "sequenceat sequenceconstruct sequenceempty sequenceerase sequenceinsert sequencelength "
        "splittosequence "
        "concatfromsequence optional optionalgetelement optionalhaselement stringconcat stringnormalizer "
        "stringsplit "
        "regexfullmatch tfidfvectorizer hashing hashedcrossing stringlookup integerlookup textvectorization "
        "discretization imagedecoder",
        "values of a graph are tensors and arrays of tensors"),
    // Other facilities.
    Missing("psend precv allgather alltoall allreduce psum pmax pmin pmean ppermute pshuffle pswapaxes "
            "psumscatter axisindex "
            "axissize raggedalltoall withshardingconstraint reducescatter",
            "a document describes one device"),
    Missing("mapfn parallelstack noop print pyfunction recomputegrad gradpassthrough device timestamp tuple "
            "identityn fingerprint customgradient customroot composite block vectorize applyalongaxis "
            "applyoveraxes lambda "
            "sequential modulelist moduledict parameterlist module layer pipeline functional",
            "a fragment groups operations"),
    Missing("istensor isscalar isrealobj iscomplexobj item tolist requiresgrad",
            "values of a graph are tensors"),
    Missing("allclose arrayequal arrayequiv", "`all_reduce` of a comparison is it"),
    Missing("normalization rgbtograyscale adjustcontrast adjustbrightness adjusthue randomflip "
            "randomrotation randomzoom "
            "randomcontrast randombrightness randomtranslation mixup augmix autocontrast equalization "
            "solarization randaugment randomcolorjitter randomgrayscale "
            "randomheight randomhue randomsaturation randomsharpness randomshear",
            "images are prepared before the network"),
};

}  // namespace

std::span<const ForeignOperation> ForeignOthers() {
  return kOthers;
}

}  // namespace nnefc::semantics::foreign
