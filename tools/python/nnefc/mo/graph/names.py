"""The names of operations: those of NNEF, OpenVINO and the Model Optimizer for the same operation."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection

# Names of the same operation that differ by more than case and underscores. The first one is NNEF's if it has the
# operation, otherwise OpenVINO's. `MatMul` is not a synonym of `linear`, whose second operand is transposed.
_SYNONYMS = (
    "add eltwiseadd",
    "and logicaland",
    "avg_pool avgpool",
    "batch_normalization batchnorm batchnorminference fusedbatchnorm fusedbatchnormv2 fusedbatchnormv3",
    "ceil ceiling",
    "concat concatv2",
    "constant const",
    "conv convolution conv2d conv3d",
    "convert cast",
    "copy identity",
    "deconv deconvolution convtranspose convolutionbackpropdata conv2dbackpropinput",
    "div divide realdiv",
    "eq equal",
    "external parameter placeholder",
    "ge greaterequal",
    "gt greater",
    "l2_normalization normalizel2",
    "le lessequal",
    "linear fullyconnected gemm innerproduct",
    "local_response_normalization lrn",
    "lt less",
    "matmul batchmatmul",
    "max maximum",
    "mean_reduce reducemean",
    "max_reduce reducemax",
    "min minimum",
    "min_reduce reducemin",
    "mul multiply",
    "ne notequal",
    "neg negative",
    "not logicalnot",
    "or logicalor",
    "pow power",
    "rcp reciprocal",
    "shapeof shape",
    "silu swish",
    "stack pack",
    "sqr square",
    "sub subtract",
    "sum_reduce reducesum",
    "all_reduce reducelogicaland",
    "any_reduce reducelogicalor",
    "transpose permute",
    "unstack unpack",
    "update assign",
)
# Names for several operations, in the spelling of NNEF or OpenVINO.
_COMMON = {
    "const": ("constant", "variable"),
    "pooling": ("max_pool", "avg_pool", "MaxPool", "AvgPool"),
    "stridedslice": ("slice",),
    "interpolate": ("nearest_downsample", "area_downsample", "nearest_upsample", "multilinear_upsample"),
    "resize": ("nearest_downsample", "area_downsample", "nearest_upsample", "multilinear_upsample"),
    "roipooling": ("max_roi_pool",),
}


def _folded(name: str) -> str:
    return name.casefold().replace("_", "")


_KEYS = {_folded(name): _folded(group.split()[0]) for group in _SYNONYMS for name in group.split()}


def key_of(name: str) -> str:
    """Returns the canonical name of an operation."""
    return _key_of(str(name))


@functools.lru_cache(maxsize=4096)
def _key_of(name: str) -> str:
    folded = _folded(name)
    return _KEYS.get(folded, folded)


@functools.lru_cache(maxsize=4096)
def _is_same(operation: str, name: str, is_operation: bool) -> bool:
    """Returns whether an operation has a name, or is the same as another operation."""
    return _key_of(operation) == _key_of(name) or not is_operation and operation in _COMMON.get(_folded(name), ())


def is_known(name: str, operations: Callable[[], Collection[str]]) -> bool:
    """Returns whether an operation has this name; `operations` returns the names of all in NNEF and OpenVINO."""
    folded = _folded(name.rpartition(".")[2])
    return folded in _KEYS or folded in _COMMON or folded in set(map(_folded, operations()))


class OperationName(str):
    """The name of an operation, equal to its synonyms in NNEF, OpenVINO and the Model Optimizer.

    For example, `mul` in a document equals `Mul`, and so does `Multiply` after lowering. A name that the Model Optimizer
    has for several operations equals each of them: `Const` a constant and a variable, `Pooling` every pooling.
    """

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and _is_same(str(self), str(other), isinstance(other, OperationName))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(key_of(self))
