// Names of matrix multiplications in other frameworks, with their NNEF equivalents.

#include "compiler/semantics/foreign/operation.h"

namespace nnefc::semantics::foreign {
namespace {

constexpr ForeignOperation kMatrices[] = {
    // Matrix multiplications.
    Renamed("bmm mm batchmatmul batchmatmulv2 matrixmultiply", "matmul"),
    Computed("dot", "matmul(x, y)", "for matrices", "Keras, JAX, NumPy"),
    Computed("dot", "sum_reduce(x * y, axes = [0])", "for vectors; the result has extent 1", "PyTorch"),
    Computed("vdot vecdot", "sum_reduce(x * y, axes = [0])", "for vectors; the result has extent 1"),
    Computed("inner", "matmul(x, y, transposeB = true)", "for matrices"),
    Computed("outer ger", "matmul(unsqueeze(x, axes = [1]), unsqueeze(y, axes = [0]))", "for vectors"),
    Computed("mv", "squeeze(matmul(x, unsqueeze(y, axes = [1])), axes = [1])"),
    Computed("addmm baddbmm", "x + matmul(y, z)"),
    Computed("gemm", "matmul(x, y) + z", "`linear(x, filter, bias)` is for a filter of [outputs, inputs]"),
    Computed("dense", "matmul(x, kernel) + bias",
             "`linear(x, filter, bias)` is for a filter of [outputs, inputs]"),
    Computed("lazylinear fc fullyconnected innerproduct", "linear(x, filter, bias)",
             "the filter is [outputs, inputs]"),
    Computed("scaleddotproductattention sdpa",
             "matmul(softmax(matmul(x, y, transposeB = true) * scale, axes = [3]), z)",
             "for tensors of rank 4; `scale` is 1 / sqrt(extent of the last axis)", "PyTorch, ONNX"),
    Missing("einsum",
            "`matmul` multiplies the last two dimensions; tract's `tract_core_einsum` is for its documents"),
    Missing("tensordot scaledmatmul scaleddotgeneral adjoint kron dotgeneral raggeddot raggeddotgeneral "
            "matmulinteger qlinearmatmul bilinear addbmm addmv addr "
            "multidot chainmatmul cross einsumdense blockdiag",
            "`matmul` multiplies the last two dimensions"),
    Missing("attention multiheadattention dotproductattention additiveattention "
            "groupqueryattention groupedqueryattention linearattention flashattention transformer "
            "transformerencoder "
            "transformerdecoder transformerencoderlayer transformerdecoderlayer rotaryembedding",
            "it is made of `matmul` and `softmax`; tract's `tract_transformers_sdpa` and "
            "`tract_transformers_apply_rope` "
            "are for its documents"),
    // Distances.
    Computed("cosinesimilarity",
             "sum_reduce(x * y, axes = ..) / max(sqrt(sum_reduce(sqr(x), axes = ..)) * "
             "sqrt(sum_reduce(sqr(y), axes = "
             "..)), 0.00000001)",
             kKeepsAxes),
    Computed("pairwisedistance", "sqrt(sum_reduce(sqr(x - y + 0.000001), axes = ..))", kKeepsAxes),
    Missing("cdist pdist"),
    // Losses.
    Computed("mseloss meansquarederror mse", "mean_reduce(sqr(x - y), axes = ..)", kKeepsAxes),
    Computed("l1loss meanabsoluteerror mae", "mean_reduce(abs(x - y), axes = ..)", kKeepsAxes),
    Missing("softmaxcrossentropywithlogits sparsesoftmaxcrossentropywithlogits "
            "sigmoidcrossentropywithlogits weightedcrossentropywithlogits nceloss logpoissonloss "
            "ctcgreedydecoder "
            "ctcbeamsearchdecoder crossentropy crossentropyloss nllloss negativeloglikelihoodloss "
            "softmaxcrossentropyloss bceloss "
            "bcewithlogitsloss binarycrossentropy binarycrossentropywithlogits categoricalcrossentropy "
            "sparsecategoricalcrossentropy kldiv kldivloss ctcloss ctcdecode huberloss smoothl1loss "
            "hingeembeddingloss "
            "marginrankingloss multilabelmarginloss multimarginloss multilabelsoftmarginloss softmarginloss "
            "tripletmarginloss tripletmarginwithdistanceloss cosineembeddingloss poissonnllloss "
            "gaussiannllloss psnr",
            "a document describes a network that is run, without its loss"),
    // Linear algebra.
    Missing(
        "svdlowrank pcalowrank luunpack lupivotstopermutation choleskyupdate symmetricproduct "
        "customlinearsolve inv pinv pinverse det logdet slogdet eig eigh eigvals eigvalsh svd svdvals qr lu "
        "lufactor lusolve cholesky "
        "choleskysolve choleskyinverse solve solvetriangular triangularsolve lstsq matrixpower matrixrank "
        "matrixnorm "
        "matrixexp householderproduct orgqr ormqr geqrf schur hessenberg tridiagonal tridiagonalsolve qdwh "
        "symeig tensorinv tensorsolve expm",
        "`matmul` is the only operation of linear algebra"),
};

}  // namespace

std::span<const ForeignOperation> ForeignMatrices() {
  return kMatrices;
}

}  // namespace nnefc::semantics::foreign
