"""Modules in 8 bits (torch.ao.quantization, eager mode), as torch_to_nnef exports them.

Each is calibrated on random inputs, converted, and called with others. Weights have one scale (`per_channel=False`) or
per-channel scales; activations are u8.
"""

from __future__ import annotations

import warnings

import torch
from torch import nn
from torch.ao import quantization as tq
from torch.nn import functional as F

from torch_cases import Case

QCONFIGS = {
    "tensor": tq.QConfig(activation=tq.MinMaxObserver.with_args(dtype=torch.quint8),
                         weight=tq.MinMaxObserver.with_args(dtype=torch.qint8, qscheme=torch.per_tensor_symmetric)),
    "shifted": tq.QConfig(activation=tq.MinMaxObserver.with_args(dtype=torch.quint8),
                          weight=tq.MinMaxObserver.with_args(dtype=torch.qint8, qscheme=torch.per_tensor_affine)),
    "narrow": tq.QConfig(activation=tq.MinMaxObserver.with_args(dtype=torch.quint8, reduce_range=True),
                         weight=tq.MinMaxObserver.with_args(dtype=torch.qint8, qscheme=torch.per_tensor_symmetric)),
    "channel": tq.QConfig(activation=tq.MinMaxObserver.with_args(dtype=torch.quint8),
                          weight=tq.PerChannelMinMaxObserver.with_args(dtype=torch.qint8,
                                                                       qscheme=torch.per_channel_symmetric)),
}


class Function(nn.Module):
    """A function of quantized tensors."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


class Binary(nn.Module):
    """`add` or `mul` of two layers, each with its own quantization."""

    def __init__(self, name):
        super().__init__()
        self.name, self.functional = name, nn.quantized.FloatFunctional()
        self.first, self.second = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(3, 4, 1)

    def forward(self, x):
        first, second = self.first(x), self.second(x)
        return self.functional.cat([first, second], 1) if self.name == "cat" else getattr(self.functional, self.name)(first, second)


class Quantized(nn.Module):
    def __init__(self, body, count, dequantizes):
        super().__init__()
        self.quant = nn.ModuleList(tq.QuantStub() for _ in range(count))
        self.body, self.dequant = body, tq.DeQuantStub() if dequantizes else nn.Identity()

    def forward(self, *inputs):
        return self.dequant(self.body(*(quant(x) for quant, x in zip(self.quant, inputs))))


def convert(make, inputs, qconfig, fuse, dequantizes):
    def build():
        warnings.simplefilter("ignore")
        module = Quantized(make(), len(inputs), dequantizes).eval()
        if fuse:
            tq.fuse_modules(module.body, fuse, inplace=True)
        module.qconfig = QCONFIGS[qconfig]
        tq.prepare(module, inplace=True)
        for scale in (0.4, 1.0):
            module(*(scale * torch.randn(shape) for shape in inputs))
        return tq.convert(module, inplace=False)
    return build


IMAGE = (2, 3, 9, 8)


def case(name, make, *inputs, qconfig="tensor", fuse=None, dequantizes=True):
    shapes = inputs or (IMAGE,)
    return Case(f"q_{name}", convert(make, shapes, qconfig, fuse, dequantizes), shapes)


def sequence(*parts):
    return lambda: nn.Sequential(*(part() for part in parts))


def conv(*arguments, **named):
    return lambda: nn.Conv2d(*arguments, **named)


def of(function):
    return lambda: Function(function)


class Residual(nn.Module):
    def __init__(self, channels=8):
        super().__init__()
        self.conv1, self.relu1 = nn.Conv2d(channels, channels, 3, padding=1), nn.ReLU()
        self.conv2, self.add = nn.Conv2d(channels, channels, 3, padding=1), nn.quantized.FloatFunctional()

    def forward(self, x):
        return F.relu(self.add.add(self.conv2(self.relu1(self.conv1(x))), x))


class SmallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.relu = nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.ReLU()
        self.block, self.depthwise = Residual(), nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.point, self.pool = nn.Conv2d(8, 16, 1), nn.MaxPool2d(2)
        self.last, self.head = nn.AdaptiveAvgPool2d(1), nn.Linear(16, 10)

    def forward(self, x):
        x = self.pool(self.point(self.depthwise(self.block(self.relu(self.stem(x))))))
        return self.head(torch.flatten(self.last(x), 1))


CASES = [
    case("round_trip", nn.Identity),
    *(case(f"conv_{qconfig}", conv(3, 5, 3, padding=1), qconfig=qconfig) for qconfig in QCONFIGS),
    *(case(f"linear_{qconfig}", lambda: nn.Linear(7, 5), (4, 7), qconfig=qconfig) for qconfig in QCONFIGS),
    case("conv_plain", conv(3, 5, 3, bias=False)),
    case("conv_strided", conv(3, 6, (3, 2), stride=(2, 1), padding=(1, 0))),
    case("conv_dilated", conv(3, 4, 3, dilation=2, padding=2)),
    case("conv_groups", conv(4, 6, 3, groups=2, padding=1), (1, 4, 7, 6)),
    case("conv_depthwise", conv(6, 6, 3, groups=6, padding=1), (1, 6, 7, 6)),
    case("conv_point", conv(3, 8, 1)),
    case("conv_wide", conv(64, 4, 3), (1, 64, 5, 5)),
    case("conv_relu", sequence(conv(3, 5, 3), nn.ReLU), fuse=[["0", "1"]]),
    case("conv_then_relu", sequence(conv(3, 5, 3), nn.ReLU)),
    case("conv1d", lambda: nn.Conv1d(3, 5, 3, padding=1), (2, 3, 11)),
    case("conv1d_relu", sequence(lambda: nn.Conv1d(3, 5, 3), nn.ReLU), (2, 3, 11), fuse=[["0", "1"]]),
    case("conv1d_strided", lambda: nn.Conv1d(4, 6, 5, stride=2, groups=2), (2, 4, 16)),
    case("conv3d", lambda: nn.Conv3d(2, 3, 2), (1, 2, 4, 5, 4)),
    case("conv_stays_quantized", conv(3, 5, 3), dequantizes=False),
    case("linear_plain", lambda: nn.Linear(7, 5, bias=False), (4, 7)),
    case("linear_relu", sequence(lambda: nn.Linear(7, 5), nn.ReLU), (4, 7), fuse=[["0", "1"]]),
    case("linear_of_three_axes", lambda: nn.Linear(7, 5), (2, 3, 7)),
    case("linear_wide", lambda: nn.Linear(600, 8), (2, 600)),
    case("linear_stays_quantized", lambda: nn.Linear(7, 5), (4, 7), dequantizes=False),
    case("two_linears", sequence(lambda: nn.Linear(7, 9), nn.ReLU, lambda: nn.Linear(9, 4)), (4, 7)),
    *(case(f"{name}_layers", lambda name=name: Binary(name)) for name in ("add", "mul", "add_relu", "cat")),
    case("relu", nn.ReLU),
    case("relu6", nn.ReLU6),
    case("leaky_relu", lambda: nn.LeakyReLU(0.1)),
    case("elu", nn.ELU),
    case("hard_swish", nn.Hardswish),
    case("hard_sigmoid", nn.Hardsigmoid),
    case("hard_tanh", nn.Hardtanh),
    case("sigmoid", nn.Sigmoid),
    case("sigmoid_function", of(torch.sigmoid)),
    case("tanh", of(torch.tanh)),
    case("clamp", of(lambda x: torch.clamp(x, -0.5, 0.75))),
    case("softmax", lambda: nn.Softmax(1)),
    case("max_pool", lambda: nn.MaxPool2d(3, 2, 1)),
    case("max_pool_plain", lambda: nn.MaxPool2d(2)),
    case("max_pool1d", lambda: nn.MaxPool1d(2), (2, 3, 11)),
    case("avg_pool", lambda: nn.AvgPool2d(2)),
    case("avg_pool_padded", lambda: nn.AvgPool2d(3, 2, 1)),
    case("avg_pool_inside", lambda: nn.AvgPool2d(3, 2, 1, count_include_pad=False)),
    case("global_avg_pool", lambda: nn.AdaptiveAvgPool2d(1)),
    case("mean", of(lambda x: x.mean((2, 3)))),
    case("mean_kept", of(lambda x: x.mean(1, keepdim=True))),
    case("max_over_axis", of(lambda x: torch.amax(x, 1))),
    case("cat", of(lambda x: torch.cat([x, x], 1))),
    case("flatten", nn.Flatten),
    case("reshape", of(lambda x: x.reshape(2, 9, 24))),
    case("permute", of(lambda x: x.permute(0, 2, 3, 1))),
    case("transpose", of(lambda x: x.transpose(1, 2))),
    case("slice", of(lambda x: x[:, 1:, ::2])),
    case("select", of(lambda x: x[:, 1])),
    case("unsqueeze", of(lambda x: x.unsqueeze(1).squeeze(1))),
    case("chunk", of(lambda x: x.chunk(2, 3)[1])),
    case("pad", of(lambda x: F.pad(x, (1, 2)))),
    case("nearest", lambda: nn.Upsample(scale_factor=2)),
    case("bilinear", lambda: nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False)),
    case("channel_shuffle", lambda: nn.ChannelShuffle(2), (1, 4, 3, 3)),
    case("pixel_shuffle", lambda: nn.PixelShuffle(2), (1, 8, 3, 3)),
    case("batch_norm", lambda: nn.BatchNorm2d(3)),
    case("layer_norm", lambda: nn.LayerNorm(7), (4, 7)),
    case("prelu", nn.PReLU),
    case("two_inputs", of(lambda x, y: x.permute(0, 2, 1)), (2, 3, 4), (2, 3, 4)),
    case("residual", Residual, (1, 8, 6, 6)),
    case("small_net", SmallNet, (1, 3, 16, 16)),
    case("small_net_channels", SmallNet, (1, 3, 16, 16), qconfig="channel"),
]
