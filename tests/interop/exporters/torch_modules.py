"""Small torch modules with inputs, of the kinds that users export.

A case is a name, a function that makes the module, its inputs (shape, or shape and bound of integers) and the axes that
an export leaves open, by input.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from torch_cases import IMAGE, X, Case, Recurrent, of


class Attention(nn.Module):
    def __init__(self, width=32, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.reshape(batch, length, self.heads, width // self.heads).transpose(1, 2)
                   for part in self.qkv(x).chunk(3, dim=-1))
        y = F.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width)
        self.grow, self.shrink = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.shrink(F.gelu(self.grow(self.norm2(x))))


class SmallViT(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 8, 8)
        self.token = nn.Parameter(torch.randn(1, 1, width))
        self.places = nn.Parameter(torch.randn(1, 17, width))
        self.blocks = nn.Sequential(Block(width), Block(width))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], dim=1) + self.places
        return self.head(self.norm(self.blocks(x))[:, 0])


class RmsNorm(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width))

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


CASES = [
    Case("conv", lambda: nn.Conv2d(3, 8, 3, 2, 1), (IMAGE,)),
    Case("conv1d", lambda: nn.Conv1d(4, 6, 3, padding=2, dilation=2), ((2, 4, 11),)),
    Case("conv_groups", lambda: nn.Conv2d(4, 8, 3, groups=2, bias=False), (X,)),
    Case("conv_depthwise", lambda: nn.Conv2d(4, 4, 3, padding=1, groups=4), (X,)),
    Case("conv_same_replicate", lambda: nn.Conv2d(4, 4, 3, padding=1, padding_mode="replicate"), (X,)),
    Case("deconv", lambda: nn.ConvTranspose2d(4, 6, 3, 2, 1, output_padding=1), (X,)),
    Case("batch_norm", lambda: nn.BatchNorm2d(4), (X,)),
    Case("layer_norm", lambda: nn.LayerNorm(5), (X,)),
    Case("group_norm", lambda: nn.GroupNorm(2, 4), (X,)),
    Case("instance_norm", lambda: nn.InstanceNorm2d(4, affine=True), (X,)),
    Case("rms_norm", RmsNorm, ((2, 3, 16),)),
    Case("linear", lambda: nn.Linear(5, 7), ((3, 5),)),
    Case("linear_rank3", lambda: nn.Linear(5, 7), ((2, 3, 5),)),
    Case("mlp", lambda: nn.Sequential(nn.Linear(5, 9), nn.ReLU(), nn.Linear(9, 3), nn.Softmax(-1)), ((4, 5),)),
    Case("max_pool", lambda: nn.MaxPool2d(3, 2, 1), (X,)),
    Case("max_pool_ceil", lambda: nn.MaxPool2d(3, 2, ceil_mode=True), ((1, 2, 8, 8),)),
    Case("avg_pool", lambda: nn.AvgPool2d(2, 2), (X,)),
    Case("avg_pool_padded", lambda: nn.AvgPool2d(3, 2, 1, count_include_pad=False), (X,)),
    Case("adaptive_pool", lambda: nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten()), (X,)),
    Case("relu6", lambda: nn.ReLU6(), (X,)),
    Case("hardswish", lambda: nn.Hardswish(), (X,)),
    Case("silu", lambda: nn.SiLU(), (X,)),
    Case("gelu", lambda: nn.GELU(), (X,)),
    Case("gelu_tanh", lambda: nn.GELU(approximate="tanh"), (X,)),
    Case("elu", lambda: nn.ELU(0.7), (X,)),
    Case("selu", lambda: nn.SELU(), (X,)),
    Case("leaky_relu", lambda: nn.LeakyReLU(0.2), (X,)),
    Case("prelu", lambda: nn.PReLU(4), (X,)),
    Case("softplus", lambda: nn.Softplus(), (X,)),
    Case("log_softmax", lambda: nn.LogSoftmax(1), (X,)),
    Case("erf", of(lambda x: torch.erf(x)), (X,)),
    Case("clamp", of(lambda x: torch.clamp(x, -0.5, 0.5)), (X,)),
    Case("arithmetic", of(lambda x, y: (x + 2) * y / 3 - torch.exp(-x).sqrt()), (X, X)),
    Case("compare", of(lambda x, y: torch.where(x > y, x, y * 0.5)), (X, X)),
    Case("power", of(lambda x: (x.abs() + 1) ** 2.5 + x ** 2), (X,)),
    Case("reduce", of(lambda x: x.mean((2, 3)) + x.amax((2, 3)) - x.sum(dim=(2, 3))), (X,)),
    Case("argmax", of(lambda x: x.argmax(1)), (X,)),
    Case("topk", of(lambda x: torch.topk(x, 2, dim=1)[0]), (X,)),
    Case("slices", of(lambda x: x[:, 1:3, ::2, -2:]), (X,)),
    Case("select_item", of(lambda x: x[:, 2]), (X,)),
    Case("split_cat", of(lambda x: torch.cat(torch.split(x, 2, 1)[::-1], 1)), (X,)),
    Case("stack", of(lambda x, y: torch.stack([x, y], 2)), (X, X)),
    Case("permute_view", of(lambda x: x.permute(0, 2, 3, 1).reshape(2, 30, 4)), (X,)),
    Case("view_by_shape", of(lambda x: x.view(x.shape[0], -1)), (X,)),
    Case("expand_repeat", of(lambda x: x[:, :1].expand(2, 3, 6, 5).repeat(1, 1, 2, 1)), (X,)),
    Case("pad_zero", of(lambda x: F.pad(x, (1, 2, 0, 1))), (X,)),
    Case("pad_reflect", of(lambda x: F.pad(x, (1, 2, 2, 1), mode="reflect")), (X,)),
    Case("pad_replicate", of(lambda x: F.pad(x, (1, 2, 2, 1), mode="replicate")), (X,)),
    Case("triangle", of(lambda x: torch.tril(x)), (X,)),
    Case("masked", of(lambda x: x.masked_fill(x < 0, float("-inf")).softmax(-1)), (X,)),
    Case("arange", of(lambda x: x + torch.arange(5)), (X,)),
    Case("matmul", of(lambda x, y: x @ y.transpose(-1, -2)), (X, X)),
    Case("einsum", of(lambda x, y: torch.einsum("bchw,bdhw->bcd", x, y)), (X, X)),
    Case("gather_items", of(lambda x, i: torch.gather(x, 1, i)), ((3, 5), ((3, 2), 5))),
    Case("index_select", of(lambda x, i: torch.index_select(x, 0, i)), ((6, 3), ((4,), 6))),
    Case("embedding", lambda: nn.Embedding(11, 6), (((2, 4), 11),)),
    Case("upsample_nearest", lambda: nn.Upsample(scale_factor=2, mode="nearest"), (X,)),
    Case("upsample_bilinear", lambda: nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False), (X,)),
    Case("pixel_shuffle", lambda: nn.PixelShuffle(2), (X,)),
    Case("attention", Attention, ((2, 6, 32),)),
    Case("attention_open", Attention, ((2, 6, 32),), {0: {0: "B", 1: "S"}}),
    Case("transformer_block", Block, ((2, 6, 32),)),
    Case("small_vit", SmallViT, (IMAGE,)),
    Case("lstm", lambda: Recurrent(nn.LSTM), ((2, 4, 5),)),
    Case("lstm_two_ways", lambda: Recurrent(nn.LSTM, num_layers=2, bidirectional=True), ((2, 4, 5),)),
    Case("gru", lambda: Recurrent(nn.GRU), ((2, 4, 5),)),
    Case("rnn", lambda: Recurrent(nn.RNN), ((2, 4, 5),)),
    Case("mlp_open", lambda: nn.Sequential(nn.Linear(5, 9), nn.ReLU(), nn.Linear(9, 3)), ((4, 5),), {0: {0: "B"}}),
    Case("cnn_open", lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()),
         (IMAGE,), {0: {0: "B"}}),
    Case("cumulative_sum", of(lambda x: torch.cumsum(x, 1)), (X,)),
    Case("product", of(lambda x: x.prod(2)), (X,)),
    Case("variance", of(lambda x: x.var((1, 2)) + x.std(1).mean()), (X,)),
    Case("norm", of(lambda x: F.normalize(x, dim=1) + x.norm(dim=-1, keepdim=True)), (X,)),
    Case("log_sum_exp", of(lambda x: torch.logsumexp(x, 1)), (X,)),
    Case("one_hot", of(lambda i: F.one_hot(i, 5)), (((2, 3), 5),)),
    Case("scatter", of(lambda x, i, v: x.scatter_add(1, i, v)), ((3, 5), ((3, 2), 5), (3, 2))),
    Case("roll", of(lambda x: torch.roll(x, (1, 2), (2, 3))), (X,)),
    Case("flip", of(lambda x: torch.flip(x, (2,))), (X,)),
    Case("round", of(lambda x: torch.round(x * 3) + torch.floor(x) - torch.ceil(x) + torch.trunc(x)), (X,)),
    Case("minimum", of(lambda x, y: torch.minimum(x, y) + torch.maximum(x, y) + x.min(1)[0][:, None]), (X, X)),
    Case("logic", of(lambda x, y: ((x > 0) & ~(y > 0)) | (x == y)), (X, X)),
    Case("trigonometry", of(lambda x: torch.sin(x) + torch.cos(x) + torch.atan(x) + torch.tanh(x)), (X,)),
    Case("hard_sigmoid", lambda: nn.Sequential(nn.Hardsigmoid(), nn.Mish()), (X,)),
    Case("glu", lambda: nn.GLU(1), (X,)),
    Case("conv3d", lambda: nn.Conv3d(2, 3, 3, padding=1), ((1, 2, 4, 5, 6),)),
    Case("deconv_groups", lambda: nn.ConvTranspose2d(4, 6, 2, 2, groups=2), (X,)),
    Case("avg_pool1d", lambda: nn.AvgPool1d(3, 2, 1), ((2, 4, 11),)),
    Case("encoder_layer", lambda: nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), ((2, 5, 16),)),
    Case("attention_mask", of(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True)),
         ((2, 4, 6, 8), (2, 4, 6, 8), (2, 4, 6, 8))),
    Case("attention_bool_mask", of(lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m > 0)),
         ((2, 4, 6, 8), (2, 4, 6, 8), (2, 4, 6, 8), (1, 1, 6, 6))),
    Case("embedding_open", lambda: nn.Sequential(nn.Embedding(11, 6), nn.Linear(6, 3)), (((2, 4), 11),), {0: {0: "B", 1: "S"}}),
    Case("lstm_open", lambda: Recurrent(nn.LSTM), ((2, 4, 5),), {0: {0: "B", 1: "S"}}),
    Case("half", lambda: nn.Sequential(nn.Linear(5, 7), nn.ReLU()).half(), ((3, 5, "half"),)),
]
