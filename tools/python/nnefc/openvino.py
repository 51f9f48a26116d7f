"""Models of NNEF in OpenVINO, and the other way. Needs `pip install nnefc[openvino]`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import openvino as ov  # type: ignore[import-untyped,import-not-found,unused-ignore]

from nnefc.documents import Source
from nnefc.model import Model, load
from nnefc.port import _NUMPY_NAMES

# Smaller constants may be shapes or axes, which OpenVINO reads as it reads the model.
_SMALL = 4096

__all__ = ["from_model", "read_model", "to_model"]


def read_model(source: Source | Model, **options: Any) -> ov.Model:
    """Reads an NNEF model for OpenVINO, without files in between: `ov.Core().compile_model(read_model(path))`.

    Args:
        source: as in `nnefc.load`, or a model that it gave.
        options: those of `nnefc.load`.

    Returns:
        A model whose weights are those of nnefc's, or of the mapped files, not copies.

    Raises:
        nnefc.ModelError: the model is not valid, or OpenVINO has no form for it.
    """
    return to_model(source if isinstance(source, Model) else load(source, **options))


def to_model(model: Model) -> ov.Model:
    """The model as OpenVINO has it, as `read_model`."""
    xml, size, constants = model._native.to_openvino()
    # Memory that nobody wrote to is none: OpenVINO reads no large constant as it reads the model.
    weights = numpy.zeros(max(size, 1), numpy.uint8)
    placed: dict[int, numpy.ndarray[Any, Any]] = {}
    for offset, _, array in constants:
        placed[offset] = array.reshape(-1)
        if array.nbytes <= _SMALL:
            weights[offset : offset + array.nbytes] = placed[offset].view(numpy.uint8)
    made = ov.Core().read_model(xml, ov.Tensor(weights, shared_memory=True))
    # OpenVINO does not keep `weights`, but the arrays of constants that are made of them.
    for graph in _graphs(made):
        for constant in [node for node in graph.get_ops() if node.get_type_name() == "Constant"]:
            _replace(constant, placed, weights)
    made.validate_nodes_and_infer_types()
    return made


def from_model(model: ov.Model) -> Model:
    """A model of OpenVINO as one of nnefc: to check, compile and run, or to save again.

    Raises:
        nnefc.ModelError: nnefc does not know an operation.
    """
    folder = tempfile.TemporaryDirectory(prefix="nnefc-")
    path = Path(folder.name) / "model.xml"
    ov.serialize(model, str(path), str(path.with_suffix(".bin")))
    read = load(path)
    read._kept = folder  # the constants are mapped from there
    return read


def _graphs(model: Any) -> Iterator[Any]:
    """A model and the bodies of its branches and loops."""
    yield model
    for node in model.get_ops():
        if node.get_type_name() == "If":
            yield from _graphs(node.get_then_body())
            yield from _graphs(node.get_else_body())
        elif node.get_type_name() in ("TensorIterator", "Loop"):
            yield from _graphs(node.get_function())


def _replace(
    constant: Any, placed: dict[int, numpy.ndarray[Any, Any]], weights: numpy.ndarray[Any, Any]
) -> None:
    """Puts a constant that shares the memory of the model in place of one that lies in `weights`."""
    offset = constant.data.__array_interface__["data"][0] - weights.__array_interface__["data"][0]
    array = placed.get(offset)
    kind = constant.get_element_type().get_type_name()
    if array is not None and kind in _NUMPY_NAMES:
        shaped = array.view(_NUMPY_NAMES[kind]).reshape(list(constant.get_output_shape(0)))
        owned = ov.op.Constant(shaped, shared_memory=True)
    else:  # elements that NumPy has not, or none at all
        if array is not None:
            weights[offset : offset + array.nbytes] = array.view(numpy.uint8)
        owned = ov.op.Constant(constant.get_tensor_view(), shared_memory=False)
    owned.set_friendly_name(constant.get_friendly_name())
    owned.output(0).set_names(constant.output(0).get_names())
    for reader in constant.output(0).get_target_inputs():
        reader.replace_source_output(owned.output(0))
