"""Functions of operations in other frameworks, in NumPy: the lines of foreign_names/*.txt, their tensors and their
functions."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent.parent / "foreign_names"
# The framework's name in messages, for each list.
FRAMEWORKS = {"pytorch": "PyTorch", "onnx": "ONNX", "keras": "Keras", "jax": "JAX",
              "tensorflow": "TensorFlow"}


@dataclasses.dataclass(frozen=True)
class Case:
    """A name, a call of it, further names for a formula, and its function; no function if NNEF has none."""

    framework: str
    name: str
    arguments: str  # "x, y:logical, axis = 1"
    others: str  # "axes = [1], epsilon = 0.001"
    formula: str  # of NumPy, or "none"

    @property
    def call(self) -> str:
        return f"{self.name}({re.sub(r':[a-z_0-9]+', '', self.arguments)})"

    @property
    def is_known(self) -> bool:
        return self.formula != "none"

    def tensors(self) -> dict[str, np.ndarray]:
        names = re.sub(r"(^|, )\w+ = (\[[^=]*\]|[^,]+)", "", self.arguments)
        pairs = [name.partition(":")[::2] for name in re.findall(r"[\w:]+", names)]
        return {name: TENSORS[kind or name] for name, kind in pairs}

    def values(self) -> dict[str, str]:
        """Returns the attributes by name, as NNEF writes them."""
        found = re.findall(r"(\w+) = (\[[^=]*\]|[^,]+)", f"{self.arguments}, {self.others}")
        return {name: value.strip() for name, value in found}


def read_cases(framework: str) -> list[Case]:
    cases = []
    for line in (FOLDER / f"{framework}.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            name, arguments, others, formula = (part.strip() for part in line.split(";"))
            token = FRAMEWORKS[framework]
            if name.startswith("nn."):
                name, token = name[3:], "torch.nn"
            cases.append(Case(token, name, arguments, others, formula))
    return cases


def _make_tensors() -> dict[str, np.ndarray]:
    random = np.random.default_rng(20)

    def values(*shape: int) -> np.ndarray:
        """Returns random values, half of them at multiples of 0.5, where functions have their corners."""
        free = random.uniform(-3, 3, shape)
        return np.where(random.random(shape) < 0.5, np.round(free * 2) / 2 + 0.0, free).astype(np.float32)

    image = (2, 4, 6, 8)
    special = values(*image)
    special.flat[:3] = np.nan, np.inf, -np.inf
    without_inf = np.where(np.isinf(special), 0, special)
    tensors = {
        "special": special, "special_but_inf": without_inf, "logical": random.random(image) < 0.5,
        "positive": random.uniform(0.125, 3, image).astype(np.float32), "unit": random.uniform(0.1, 0.9, image).astype(np.float32),
        "integers": random.integers(-5, 5, image), "indices": random.integers(0, 4, (5,)),
        "mn": values(4, 6), "np": values(6, 5), "pn": values(5, 6), "mp": values(4, 5), "vector": values(6),
        "batched_mn": values(2, 3, 4, 6), "batched_np": values(2, 3, 6, 5), "rank3": values(2, 4, 6),
        "channels": values(1, 4), "positive_channels": random.uniform(0.5, 2, (1, 4)).astype(np.float32),
        "filter": values(3, 4, 3, 3), "bias": values(1, 3), "transposed": values(4, 3, 3, 3), "planes": values(4, 1, 3, 3),
        "point_filter": values(3, 4, 1, 1),
    }
    return tensors | {name: values(*image) for name in ("x", "y", "z", "scale", "index", "weight", "table", "kernel", "offset")}


TENSORS = _make_tensors()


# The functions that the lists call, in addition to those of NumPy.


def image(channels: np.ndarray) -> np.ndarray:
    return channels.reshape(1, -1, 1, 1)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def softmax(x: np.ndarray, axis: int) -> np.ndarray:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def norm(x: np.ndarray, axes: object, epsilon: float) -> np.ndarray:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


def pool(x: np.ndarray, reduce: object) -> np.ndarray:
    """Splits into windows of 2 x 2 that do not overlap."""
    parts = np.stack([x[:, :, i::2, j::2] for i in range(2) for j in range(2)])
    return reduce(parts, axis=0)  # type: ignore[operator]


def conv(x: np.ndarray, filters: np.ndarray, bias: np.ndarray, padding: int) -> np.ndarray:
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    height, width = filters.shape[2:]
    windows = np.lib.stride_tricks.sliding_window_view(x, (height, width), (2, 3))
    return np.einsum("bchwij,ocij->bohw", windows, filters) + image(bias)


def deconv(x: np.ndarray, filters: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Adds the filter times each value, filter of [inputs, outputs, height, width]; stride 1, without cropping."""
    height, width = filters.shape[2:]
    out = np.zeros((x.shape[0], filters.shape[1], x.shape[2] + height - 1, x.shape[3] + width - 1))
    for i in range(height):
        for j in range(width):
            out[:, :, i:i + x.shape[2], j:j + x.shape[3]] += np.einsum("bchw,co->bohw", x, filters[:, :, i, j])
    return out + image(bias)


def depthwise(x: np.ndarray, filters: np.ndarray) -> np.ndarray:
    return np.concatenate([conv(x[:, c:c + 1], filters[c:c + 1], np.zeros(1), 0) for c in range(x.shape[1])], 1)


def lrn(x: np.ndarray) -> np.ndarray:
    """Local response normalization with alpha 0.0001, beta 0.75, k 1, over 5 channels."""
    squares = np.pad(x * x, ((0, 0), (2, 2), (0, 0), (0, 0)))
    sums = sum(squares[:, i:i + x.shape[1]] for i in range(5))
    return x / (1 + 0.0001 / 5 * sums) ** 0.75


def lrn_sums(x: np.ndarray) -> np.ndarray:
    """Local response normalization with alpha 1, beta 0.5, bias 1, over the sums of 11 channels."""
    squares = np.pad(x * x, ((0, 0), (5, 5), (0, 0), (0, 0)))
    return x / np.sqrt(1 + sum(squares[:, i:i + x.shape[1]] for i in range(11)))


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return softmax(q @ k.swapaxes(2, 3) / np.sqrt(q.shape[3]), 3) @ v


def bilinear(x: np.ndarray, aligned: bool) -> np.ndarray:
    """Doubles the extents."""
    for axis in (2, 3):
        extent = x.shape[axis]
        places = np.arange(2 * extent) * ((extent - 1) / (2 * extent - 1)) if aligned else (np.arange(2 * extent) + 0.5) / 2 - 0.5
        places = np.clip(places, 0, extent - 1)
        low = np.minimum(places.astype(int), extent - 2)
        part = (places - low).reshape([-1 if i == axis else 1 for i in range(4)])
        x = x.take(low, axis) * (1 - part) + x.take(low + 1, axis) * part
    return x


FUNCTIONS = {name: function for name, function in globals().items() if callable(function)}


def expected(case: Case) -> np.ndarray:
    """Returns the framework's result, in f64, for the tensors' values."""
    tensors = {name: value.astype(np.float64) if value.dtype == np.float32 else value for name, value in case.tensors().items()}
    space = {**vars(np), **FUNCTIONS, "max": np.max, "sum": np.sum, "mean": np.mean, "abs": np.abs, "round": np.round,
             "split": np.split, **tensors}
    with np.errstate(all="ignore"):
        return np.asarray(eval(case.formula, space))  # noqa: S307
