"""Functions of torch, one per case: the operations in documents of exporters."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from torch_cases import X, Case, Recurrent, of

V, M, SQUARE = (6,), (3, 5), (2, 4, 4)
IDS = ((3, 2), 5)  # integers below 5


class Spectrum(nn.Module):
    """A short-time Fourier transform with a window that the module stores."""

    def __init__(self, form):
        super().__init__()
        self.form = form
        self.register_buffer("window", torch.hann_window(8))

    def forward(self, x):
        return self.form(torch.stft(x, 8, 4, window=self.window, return_complex=True))


def unary(name: str, function, shape=X) -> Case:
    return Case(name, of(function), (shape,))


def binary(name: str, function, first=X, second=X) -> Case:
    return Case(name, of(function), (first, second))


ELEMENTS = [
    *(unary(name, lambda x, f=getattr(torch, name): f(x)) for name in (
        "abs", "neg", "exp", "sin", "cos", "tan", "atan", "sinh", "cosh", "asinh", "sign", "floor", "ceil", "expm1", "exp2", "erfc",
        "frac", "sinc", "square", "sigmoid", "tanh", "deg2rad", "isnan", "isinf", "isfinite", "signbit", "i0", "trunc")),
    *(unary(name, lambda x, f=getattr(torch, name): f(x.abs() + 1.1)) for name in (
        "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "acosh", "lgamma", "digamma")),
    *(unary(name, lambda x, f=getattr(torch, name): f(torch.tanh(x) * 0.9)) for name in ("asin", "acos", "atanh")),
    unary("logit", lambda x: torch.logit(torch.sigmoid(x))),
    *(binary(name, lambda x, y, f=getattr(torch, name): f(x, y)) for name in (
        "add", "sub", "mul", "atan2", "hypot", "fmax", "fmin", "logaddexp", "copysign", "heaviside", "eq", "ne", "lt", "le", "gt", "ge")),
    binary("div", lambda x, y: x / (y.abs() + 0.5)),
    binary("floor_divide", lambda x, y: torch.floor_divide(x * 5, y.abs() + 0.5)),
    binary("remainder", lambda x, y: torch.remainder(x * 5, y.abs() + 0.5)),
    binary("fmod", lambda x, y: torch.fmod(x * 5, y.abs() + 0.5)),
    binary("tensor_power", lambda x, y: (x.abs() + 0.5) ** y),
    binary("xlogy", lambda x, y: torch.xlogy(x, y.abs() + 0.5)),
    binary("lerp", lambda x, y: torch.lerp(x, y, 0.3)),
    binary("addcmul", lambda x, y: torch.addcmul(x, x, y, value=0.5)),
    binary("addcdiv", lambda x, y: torch.addcdiv(x, x, y.abs() + 1, value=0.5)),
    binary("isclose", torch.isclose),
    binary("broadcast_add", lambda x, y: x + y, X, (4, 1, 1)),
    binary("logical_xor", lambda x, y: torch.logical_xor(x > 0, y > 0)),
    unary("nan_to_num", lambda x: torch.nan_to_num(x / (x > 0), 0.5, 7.0, -7.0)),
    unary("round_decimals", lambda x: torch.round(x, decimals=1)),
    unary("cast_integer", lambda x: (x * 5).to(torch.int64)),
    unary("cast_logical", lambda x: (x * 5).to(torch.int64).to(torch.bool)),
    Case("integer_arithmetic", of(lambda i, j: (i + j) * 3 - i), (((3, 4), 9), ((3, 4), 9))),
    Case("integer_division", of(lambda i, j: i // (j + 1) + i % (j + 1)), (((3, 4), 90), ((3, 4), 9))),
    Case("bitwise", of(lambda i, j: (i & j) + (i | j) * 2 + (i ^ j) * 3), (((3, 4), 90), ((3, 4), 90))),
    Case("bitwise_not", of(lambda i: ~i), (((3, 4), 90),)),
    Case("shifts", of(lambda i: (i << 3) + (i >> 1)), (((3, 4), 90),)),
    Case("large_integers", of(lambda i: i * 10007 + 7), (((3, 4), 100000),)),  # beyond 24 bits
]

ACTIVATIONS = [
    *(Case(type(make()).__name__.lower(), make, (X,)) for make in (
        nn.CELU, nn.Hardshrink, nn.Hardtanh, nn.LogSigmoid, nn.Mish, nn.Softshrink, nn.Softsign, nn.Tanhshrink, nn.ReLU)),
    Case("threshold", lambda: nn.Threshold(0.1, 20), (X,)),
    Case("softmin", lambda: nn.Softmin(1), (X,)),
    Case("softmax2d", lambda: nn.Softmax2d(), (X,)),
    Case("softplus_beta", lambda: nn.Softplus(beta=2.0), (X,)),
    Case("rrelu", lambda: nn.RReLU(), (X,)),
]

SHAPES = [
    unary("flatten", lambda x: torch.flatten(x, 1, 2)),
    unary("unflatten", lambda x: torch.unflatten(x, 1, (2, 2))),
    unary("movedim", lambda x: torch.movedim(x, 1, 3)),
    unary("transpose", lambda x: x.transpose(1, -1)),
    unary("squeeze_all", lambda x: x[:1, :, :1].squeeze()),
    unary("unsqueeze_last", lambda x: x.unsqueeze(-1)),
    unary("chunk", lambda x: torch.chunk(x, 2, 1)),
    unary("unbind", lambda x: torch.unbind(x, 0)),
    unary("narrow", lambda x: x.narrow(2, 1, 3)),
    unary("repeat_interleave", lambda x: x.repeat_interleave(2, 1)),
    unary("tile", lambda x: torch.tile(x, (2, 1))),
    unary("rot90", lambda x: torch.rot90(x, 1, (2, 3))),
    unary("unfold", lambda x: x.unfold(2, 3, 2)),
    unary("im2col", lambda x: F.unfold(x, (2, 3), padding=1, stride=2)),
    unary("col2im", lambda x: F.fold(x.reshape(2, 4, 30), (7, 6), (2, 2)), (2, 4, 6, 5)),
    unary("pixel_unshuffle", lambda x: F.pixel_unshuffle(x, 2), (2, 4, 6, 4)),
    unary("channel_shuffle", lambda x: F.channel_shuffle(x, 2)),
    unary("diagonal", lambda x: torch.diagonal(x, dim1=1, dim2=2), SQUARE),
    unary("diag_embed", torch.diag_embed, M),
    unary("triu", lambda x: torch.triu(x, 1)),
    unary("full_like", lambda x: torch.full_like(x, 2.5) + x),
    unary("zeros", lambda x: torch.zeros(2, 4, 6, 5) + x),
    unary("linspace", lambda x: torch.linspace(0, 1, 5) + x),
    unary("eye", lambda x: torch.eye(5) @ x.transpose(-1, -2)),
    unary("step_back", lambda x: x[..., -3:-1]),
    unary("pad_constant", lambda x: F.pad(x, (1, 0, 2, 1), value=1.5)),
    unary("pad_crop", lambda x: F.pad(x, (-1, 0, 2, 1))),
    unary("pad_circular", lambda x: F.pad(x, (1, 2, 2, 1), mode="circular")),
    binary("cat_last", lambda x, y: torch.cat([x, y], -1)),
    binary("hstack", lambda x, y: torch.hstack([x, y])),
    binary("meshgrid", lambda x, y: torch.stack(torch.meshgrid(x, y, indexing="ij")), V, (4,)),
    Case("slice_scatter", of(lambda x, y: torch.slice_scatter(x, y, 1, 1, 3)), (X, (2, 2, 6, 5))),
    Case("select_scatter", of(lambda x, y: torch.select_scatter(x, y, 1, 2)), (X, (2, 6, 5))),
]

PLACES = [
    Case("take", of(lambda x, i: torch.take(x, i)), (M, ((3, 2), 15))),
    Case("gather_nd", of(lambda x, i, j: x[i, j]), (X, ((3,), 2), ((3,), 4))),
    Case("index_list", of(lambda x: x[:, [2, 0, 1]]), (X,)),
    Case("index_rows", of(lambda x, i: x[i]), (M, ((4, 2), 3))),
    Case("take_along", of(lambda x, i: torch.take_along_dim(x, i, 1)), (M, IDS)),
    Case("scatter_values", of(lambda x, i, v: x.scatter(1, i, v)), ((3, 5), ((3, 1), 5), (3, 1))),
    Case("scatter_amax", of(lambda x, i, v: x.scatter_reduce(1, i, v, "amax")), ((3, 5), IDS, (3, 2))),
    Case("scatter_prod", of(lambda x, i, v: x.scatter_reduce(1, i, v, "prod")), ((3, 5), IDS, (3, 2))),
    Case("index_add", of(lambda x, i, v: x.index_add(0, i, v)), (M, ((2,), 3), (2, 5))),
    Case("index_copy", of(lambda x, v: x.index_copy(0, torch.tensor([2, 0]), v)), (M, (2, 5))),
    Case("index_fill", of(lambda x: x.index_fill(1, torch.tensor([2, 0]), 1.5)), (M,)),
    Case("index_put", of(lambda x, v: x.index_put((torch.tensor([2, 0]),), v)), (M, (2, 5))),
    unary("sort", lambda x: torch.sort(x, 1)),
    unary("sort_descending", lambda x: torch.sort(x, 1, descending=True)[0]),
    unary("argsort", lambda x: torch.argsort(x, 1)),
    unary("topk_smallest", lambda x: torch.topk(x, 3, 2, largest=False)),
    unary("argmin", lambda x: x.argmin(2)),
    unary("argmax_all", lambda x: x.argmax()),
    unary("max_with_places", lambda x: x.max(1)),
    unary("bucketize", lambda x: torch.bucketize(x, torch.tensor([-1.0, 0.0, 0.5]))),
    unary("embedding_bag_mean", lambda x: x.mean(1)),
]

REDUCTIONS = [
    *(unary(f"{name}_all", lambda x, f=name: getattr(x, f)()) for name in ("sum", "mean", "max", "min", "prod", "var", "std")),
    unary("any", lambda x: (x > 1).any(1)),
    unary("all", lambda x: (x > -1).all(1)),
    unary("count_nonzero", lambda x: torch.count_nonzero(x > 0, dim=1)),
    unary("aminmax", lambda x: tuple(torch.aminmax(x, dim=1))),
    unary("var_mean", lambda x: torch.var_mean(x, 1)),
    unary("nansum", lambda x: torch.nansum(x, 1)),
    unary("cumprod", lambda x: torch.cumprod(x, 1)),
    unary("cummax", lambda x: torch.cummax(x, 1)[0]),
    unary("cummin", lambda x: torch.cummin(x, 1)[0]),
    unary("logcumsumexp", lambda x: torch.logcumsumexp(x, 1)),
    unary("diff", lambda x: torch.diff(x, dim=2)),
    unary("norm_1", lambda x: torch.linalg.vector_norm(x, 1, dim=1)),
    unary("norm_2", lambda x: torch.linalg.vector_norm(x, 2, dim=1)),
    unary("normalize", lambda x: x / x.pow(2).sum(1, keepdim=True).sqrt()),
]

PRODUCTS = [
    binary("bmm", torch.bmm, (2, 3, 4), (2, 4, 5)),
    binary("mm", torch.mm, (3, 4), (4, 5)),
    binary("mv", torch.mv, (3, 4), (4,)),
    binary("dot", torch.dot, (4,), (4,)),
    binary("outer", torch.outer, (4,), (5,)),
    binary("matmul_broadcast", lambda x, y: x @ y, (2, 3, 4, 5), (5, 6)),
    binary("baddbmm", lambda x, y: torch.baddbmm(torch.ones(2, 3, 5), x, y, beta=0.5), (2, 3, 4), (2, 4, 5)),
    binary("kron", torch.kron, (2, 3), (3, 2)),
    binary("inner", torch.inner, (2, 3), (4, 3)),
    binary("tensordot", lambda x, y: torch.tensordot(x, y, 2), (2, 3, 4), (3, 4, 5)),
    binary("einsum_outer", lambda x, y: torch.einsum("bi,bj->bij", x, y), (2, 3), (2, 4)),
    binary("einsum_trace", lambda x, y: torch.einsum("bij,bjk->ik", x, y), (2, 3, 4), (2, 4, 5)),
    binary("cosine_similarity", lambda x, y: F.cosine_similarity(x, y, 1)),
    binary("cdist", torch.cdist, (2, 3, 4), (2, 5, 4)),
    binary("cross", lambda x, y: torch.cross(x, y, dim=1), (2, 3), (2, 3)),
    Case("bilinear", lambda: nn.Bilinear(3, 4, 5), ((2, 3), (2, 4))),
    Case("weight_norm", lambda: nn.utils.parametrizations.weight_norm(nn.Linear(5, 7)), ((3, 5),)),
    Case("linear_plain", lambda: nn.Linear(5, 7, bias=False), ((3, 5),)),
]

WINDOWS = [
    Case("conv_padded_same", lambda: nn.Conv2d(4, 4, 3, padding="same"), (X,)),
    Case("conv_strided_dilated", lambda: nn.Conv2d(4, 6, (3, 2), (2, 1), (1, 0), (1, 2)), (X,)),
    Case("conv_reflect", lambda: nn.Conv2d(4, 4, 3, padding=1, padding_mode="reflect"), (X,)),
    Case("conv_circular", lambda: nn.Conv2d(4, 4, 3, padding=1, padding_mode="circular"), (X,)),
    Case("conv1d_depthwise", lambda: nn.Conv1d(4, 8, 3, groups=4), ((2, 4, 9),)),
    Case("deconv1d", lambda: nn.ConvTranspose1d(4, 6, 3, 2), ((2, 4, 9),)),
    Case("deconv_plain", lambda: nn.ConvTranspose2d(4, 6, 3, bias=False), (X,)),
    Case("deconv_dilated", lambda: nn.ConvTranspose2d(4, 6, 3, 1, 2, dilation=2), (X,)),
    Case("deconv3d", lambda: nn.ConvTranspose3d(2, 3, 2, 2), ((1, 2, 3, 4, 3),)),
    Case("max_pool1d", lambda: nn.MaxPool1d(3, 2, 1), ((2, 4, 11),)),
    Case("max_pool_dilated", lambda: nn.MaxPool2d(2, 1, dilation=2), (X,)),
    Case("max_pool3d", lambda: nn.MaxPool3d(2), ((1, 2, 4, 4, 6),)),
    Case("avg_pool_included", lambda: nn.AvgPool2d(3, 2, 1), (X,)),
    Case("adaptive_avg", lambda: nn.AdaptiveAvgPool2d((3, 5)), (X,)),
    Case("adaptive_max", lambda: nn.AdaptiveMaxPool2d(1), (X,)),
    Case("lrn", lambda: nn.LocalResponseNorm(2), (X,)),
    Case("lp_pool", lambda: nn.LPPool2d(2, 2), (X,)),
    Case("upsample_exact", lambda: nn.Upsample(scale_factor=2, mode="nearest-exact"), (X,)),
    Case("upsample_aligned", lambda: nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), (X,)),
    Case("upsample_bicubic", lambda: nn.Upsample(scale_factor=2, mode="bicubic"), (X,)),
    Case("upsample_size", lambda: nn.Upsample(size=(9, 7), mode="bilinear"), (X,)),
    Case("upsample_nearest_size", lambda: nn.Upsample(size=(9, 7), mode="nearest"), (X,)),
    Case("upsample_linear1d", lambda: nn.Upsample(scale_factor=2, mode="linear"), ((2, 4, 6),)),
    Case("downsample_bilinear", lambda: nn.Upsample(size=(3, 2), mode="bilinear"), (X,)),
    Case("grid_sample", of(lambda x, g: F.grid_sample(x, torch.tanh(g), align_corners=False)), (X, (2, 3, 4, 2))),
    Case("grid_sample_aligned", of(lambda x, g: F.grid_sample(x, g, "nearest", "border", True)), (X, (2, 3, 4, 2))),
    Case("affine_grid", of(lambda x, t: F.grid_sample(x, F.affine_grid(t, [2, 4, 6, 5], False), align_corners=False)), (X, (2, 2, 3))),
]

NORMALIZATIONS = [
    Case("batch_norm1d", lambda: nn.BatchNorm1d(5), (M,)),
    Case("batch_norm3d", lambda: nn.BatchNorm3d(2), ((1, 2, 3, 4, 5),)),
    Case("batch_norm_plain", lambda: nn.BatchNorm2d(4, affine=False), (X,)),
    Case("layer_norm_two_axes", lambda: nn.LayerNorm((6, 5)), (X,)),
    Case("layer_norm_plain", lambda: nn.LayerNorm(5, elementwise_affine=False), (X,)),
    Case("rms_norm_module", lambda: nn.RMSNorm(5), (X,)),
    Case("instance_norm1d", lambda: nn.InstanceNorm1d(4), ((2, 4, 9),)),
    Case("conv_batch_norm", lambda: nn.Sequential(nn.Conv2d(4, 8, 3), nn.BatchNorm2d(8), nn.ReLU()), (X,)),
]

LOSSES = [
    binary("mse_loss", F.mse_loss),
    binary("l1_loss", F.l1_loss),
    binary("huber_loss", F.huber_loss),
    binary("smooth_l1_loss", lambda x, y: F.smooth_l1_loss(x, y, reduction="none")),
    binary("kl_div", lambda x, y: F.kl_div(x.log_softmax(1), y.softmax(1), reduction="batchmean")),
    binary("binary_cross_entropy", lambda x, y: F.binary_cross_entropy_with_logits(x, torch.sigmoid(y))),
]

SPECTRA = [
    unary("fft", lambda x: torch.view_as_real(torch.fft.fft(x)), (2, 8)),
    unary("inverse_fft", lambda x: torch.view_as_real(torch.fft.ifft(torch.view_as_complex(x))), (3, 8, 2)),
    unary("real_fft", lambda x: torch.view_as_real(torch.fft.rfft(x)), (2, 8)),
    unary("inverse_real_fft", lambda x: torch.fft.irfft(torch.view_as_complex(x)), (3, 5, 2)),
    unary("fft_2d", lambda x: torch.view_as_real(torch.fft.fft2(x)), (2, 6, 8)),
    Case("stft", lambda: Spectrum(torch.view_as_real), ((2, 32),)),
    Case("spectrogram", lambda: Spectrum(torch.abs), ((2, 32),)),
    unary("complex_product", lambda x: torch.view_as_real(torch.view_as_complex(x) * torch.view_as_complex(x)), (3, 4, 2)),
]

ATTENTION = [
    Case("attention_scaled", of(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, scale=0.3)), ((2, 4, 6, 8),) * 3),
    Case("attention_grouped", of(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True)),
         ((2, 4, 6, 8), (2, 2, 6, 8), (2, 2, 6, 8))),
    Case("attention_rank3", of(lambda q, k, v: F.scaled_dot_product_attention(q, k, v)), ((2, 6, 8),) * 3),
    Case("attention_added_mask", of(lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m)),
         ((2, 4, 6, 8),) * 3 + ((6, 6),)),
    Case("cross_attention", of(lambda q, k, v: F.scaled_dot_product_attention(q, k, v)), ((2, 4, 3, 8), (2, 4, 6, 8), (2, 4, 6, 8))),
    Case("multihead", of(lambda self, x: self.cell(x, x, x)[0], cell=nn.MultiheadAttention(16, 4, batch_first=True)), ((2, 5, 16),)),
]

RECURRENT = [
    Case("gru_two_ways", lambda: Recurrent(nn.GRU, num_layers=2, bidirectional=True), ((2, 4, 5),)),
    Case("rnn_two_ways", lambda: Recurrent(nn.RNN, num_layers=2, bidirectional=True), ((2, 4, 5),)),
    Case("rnn_relu", lambda: Recurrent(nn.RNN, nonlinearity="relu"), ((2, 4, 5),)),
    Case("lstm_plain", lambda: Recurrent(nn.LSTM, bias=False), ((2, 4, 5),)),
    Case("gru_plain", lambda: Recurrent(nn.GRU, bias=False), ((2, 4, 5),)),
    Case("lstm_projected", lambda: Recurrent(nn.LSTM, proj_size=3), ((2, 4, 5),)),
    Case("lstm_deep", lambda: Recurrent(nn.LSTM, num_layers=3), ((2, 4, 5),)),
    Case("lstm_states", of(lambda self, x: (lambda y, s: (y, s[0], s[1]))(*self.cell(x)), cell=nn.LSTM(5, 7)), ((4, 2, 5),)),
    Case("gru_states", of(lambda self, x, h: self.cell(x, h), cell=nn.GRU(5, 7)), ((4, 2, 5), (1, 2, 7))),
    Case("rnn_states", of(lambda self, x, h: self.cell(x, h), cell=nn.RNN(5, 7)), ((4, 2, 5), (1, 2, 7))),
    Case("gru_open", lambda: Recurrent(nn.GRU), ((2, 4, 5),), {0: {0: "B", 1: "S"}}),
    Case("rnn_open", lambda: Recurrent(nn.RNN), ((2, 4, 5),), {0: {0: "B", 1: "S"}}),
    Case("lstm_cell", of(lambda self, x, h, c: self.cell(x, (h, c)), cell=nn.LSTMCell(5, 7)), ((2, 5), (2, 7), (2, 7))),
    Case("gru_cell", of(lambda self, x, h: self.cell(x, h), cell=nn.GRUCell(5, 7)), ((2, 5), (2, 7))),
    Case("rnn_cell", of(lambda self, x, h: self.cell(x, h), cell=nn.RNNCell(5, 7)), ((2, 5), (2, 7))),
]

CASES = [*ELEMENTS, *ACTIVATIONS, *SHAPES, *PLACES, *REDUCTIONS, *PRODUCTS, *WINDOWS, *NORMALIZATIONS, *LOSSES, *SPECTRA, *ATTENTION,
         *RECURRENT]
