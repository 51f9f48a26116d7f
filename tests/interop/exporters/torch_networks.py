"""Networks: three or four of each family of classifiers in torchvision, on images of the usual size, and small
transformers of the usual kinds. Weights are random: the test compares results, not accuracy."""

from __future__ import annotations

import torch
import torchvision
from torch import nn
from torch.nn import functional as F
from torch_to_nnef.compress import quantize_weights_min_max_Q4_0

from torch_cases import Case

# The networks of each family, with the extent of its images.
FAMILIES = {
    224: ["resnet18", "resnet50", "resnext50_32x4d", "wide_resnet50_2", "squeezenet1_0", "squeezenet1_1", "densenet121", "densenet169",
          "mobilenet_v2", "mobilenet_v3_small", "mobilenet_v3_large", "shufflenet_v2_x0_5", "shufflenet_v2_x1_0", "shufflenet_v2_x1_5",
          "mnasnet0_5", "mnasnet0_75", "mnasnet1_0", "efficientnet_b0", "efficientnet_b1", "efficientnet_v2_s", "regnet_y_400mf",
          "regnet_x_400mf", "regnet_y_800mf", "convnext_tiny", "convnext_small", "googlenet", "swin_t", "swin_v2_t", "swin_s", "alexnet",
          "vgg11", "vgg11_bn", "vgg16", "vit_b_16", "vit_b_32", "maxvit_t"],
    299: ["inception_v3"],
}
WITHOUT_HELPERS = {"googlenet", "inception_v3"}  # outputs for training only


def vision(name: str):
    options = {"aux_logits": False, "init_weights": False} if name in WITHOUT_HELPERS else {}
    return lambda: getattr(torchvision.models, name)(weights=None, **options)


class BertLayer(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.norm1, self.norm2 = nn.LayerNorm(width, eps=1e-12), nn.LayerNorm(width, eps=1e-12)
        self.grow, self.shrink = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, mask):
        batch, length, width = x.shape
        q, k, v = (part(x).view(batch, length, self.heads, width // self.heads).transpose(1, 2)
                   for part in (self.query, self.key, self.value))
        scores = q @ k.transpose(-1, -2) / (width // self.heads) ** 0.5 + mask
        context = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, width)
        x = self.norm1(x + self.out(context))
        return self.norm2(x + self.shrink(F.gelu(self.grow(x))))


class Bert(nn.Module):
    """An encoder as in BERT: sums of word, position and type embeddings, layers with a padding mask, a last layer for
    the first word."""

    def __init__(self, width: int = 32, words: int = 50, places: int = 16):
        super().__init__()
        self.words, self.places, self.kinds = nn.Embedding(words, width), nn.Embedding(places, width), nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList(BertLayer(width, 4) for _ in range(2))
        self.pool = nn.Linear(width, width)

    def forward(self, ids, kinds, present):
        mask = (1.0 - present[:, None, None, :].to(torch.float32)) * -10000.0
        x = self.norm(self.words(ids) + self.places(torch.arange(ids.shape[1])) + self.kinds(kinds))
        for layer in self.layers:
            x = layer(x, mask)
        return x, torch.tanh(self.pool(x[:, 0]))


class RmsNorm(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


def turn(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


class DecoderLayer(nn.Module):
    def __init__(self, width: int, heads: int, groups: int):
        super().__init__()
        self.heads, self.groups, self.part = heads, groups, width // heads
        self.q, self.k = nn.Linear(width, width, bias=False), nn.Linear(width, groups * self.part, bias=False)
        self.v, self.o = nn.Linear(width, groups * self.part, bias=False), nn.Linear(width, width, bias=False)
        self.norm1, self.norm2 = RmsNorm(width), RmsNorm(width)
        self.gate, self.up = nn.Linear(width, 2 * width, bias=False), nn.Linear(width, 2 * width, bias=False)
        self.down = nn.Linear(2 * width, width, bias=False)

    def forward(self, x, cos, sin):
        batch, length, width = x.shape
        y = self.norm1(x)
        q = turn(self.q(y).view(batch, length, self.heads, self.part).transpose(1, 2), cos, sin)
        k = turn(self.k(y).view(batch, length, self.groups, self.part).transpose(1, 2), cos, sin)
        v = self.v(y).view(batch, length, self.groups, self.part).transpose(1, 2)
        repeats = self.heads // self.groups
        k, v = k.repeat_interleave(repeats, 1), v.repeat_interleave(repeats, 1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).reshape(batch, length, width))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    """A decoder as in Llama: rotary embeddings, grouped heads, gated layers, RMS norms."""

    def __init__(self, width: int = 32, words: int = 50, longest: int = 32):
        super().__init__()
        self.words, self.norm = nn.Embedding(words, width), RmsNorm(width)
        self.layers = nn.ModuleList(DecoderLayer(width, 4, 2) for _ in range(2))
        self.head = nn.Linear(width, words, bias=False)
        angles = torch.outer(torch.arange(longest).float(), 10000.0 ** (-torch.arange(0, 8, 2) / 8.0))
        self.register_buffer("cos", torch.cat([angles, angles], -1).cos())
        self.register_buffer("sin", torch.cat([angles, angles], -1).sin())

    def forward(self, ids):
        cos, sin = self.cos[:ids.shape[1]], self.sin[:ids.shape[1]]
        x = self.words(ids)
        for layer in self.layers:
            x = layer(x, cos, sin)
        return self.head(self.norm(x))


class Speech(nn.Module):
    """Convolutions over time, then recurrent cells in both directions, then a class for each step."""

    def __init__(self, kind):
        super().__init__()
        self.windows = nn.Sequential(nn.Conv1d(8, 16, 3, 2, 1), nn.BatchNorm1d(16), nn.ReLU())
        self.cells = kind(16, 12, num_layers=2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(24, 10)

    def forward(self, x):
        return self.head(self.cells(self.windows(x).transpose(1, 2))[0]).log_softmax(-1)


def in_blocks(make):
    """Returns a module with weights in blocks of four bits (Q4_0) only, as the exporter writes them."""
    return lambda: quantize_weights_min_max_Q4_0(make(), to_quantize_module_classes=(nn.Linear, nn.Embedding))


OPEN = {0: "B", 1: "S"}
IDS = ((2, 7), 50)
CASES = [
    Case("bert", Bert, (IDS, ((2, 7), 2), ((2, 7), 2))),
    Case("bert_open", Bert, (IDS, ((2, 7), 2), ((2, 7), 2)), {0: OPEN, 1: OPEN, 2: OPEN}),
    Case("decoder", Decoder, (IDS,)),
    Case("decoder_open", Decoder, (IDS,), {0: OPEN}),
    Case("q4_decoder", in_blocks(Decoder), (IDS,)),
    Case("q4_decoder_open", in_blocks(Decoder), (IDS,), {0: OPEN}),
    Case("q4_linear", in_blocks(lambda: nn.Sequential(nn.Linear(64, 32), nn.GELU(), nn.Linear(32, 96))), ((3, 64),)),
    Case("encoder_open", lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), 2), ((2, 5, 16),), {0: OPEN}),
    Case("speech_lstm", lambda: Speech(nn.LSTM), ((2, 8, 20),)),
    Case("speech_gru", lambda: Speech(nn.GRU), ((2, 8, 20),)),
    *(Case(f"tv_{name}", vision(name), ((1, 3, extent, extent),)) for extent, names in FAMILIES.items() for name in names),
]
