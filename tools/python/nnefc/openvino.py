"""Conversion of NNEF models to OpenVINO and back. Requires the package `openvino`.

If this package has a front end for the installed release of OpenVINO (`front_end_library`), the import registers it
with every `FrontEndManager` created later, so that `openvino.convert_model("model.nnef")` reads NNEF.
`python -m nnefc.openvino link` links it into OpenVINO's folder, for other programs.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import openvino as ov  # type: ignore[import-untyped,import-not-found,unused-ignore]
import openvino.frontend  # type: ignore[import-untyped,import-not-found,unused-ignore]

from nnefc.documents import Source
from nnefc.model import Model, load
from nnefc.port import _NUMPY_NAMES

# Smaller constants may be shapes or axes that OpenVINO reads while it loads the model.
_SMALL = 4096

__all__ = ["from_model", "front_end_library", "link", "read_model", "to_model", "unlink"]


def read_model(source: Source | Model, **options: Any) -> ov.Model:
    """Reads an NNEF model for OpenVINO, without intermediate files: `ov.Core().compile_model(read_model(path))`.

    Args:
        source: as in `nnefc.load`, or a loaded model.
        options: options of `nnefc.load`.

    Returns:
        A model that shares its weights with nnefc's, or with the mapped files.

    Raises:
        nnefc.ModelError: the model is invalid, or not representable in OpenVINO.
    """
    return to_model(source if isinstance(source, Model) else load(source, **options))


def to_model(model: Model) -> ov.Model:
    """Converts a loaded model, as `read_model`."""
    xml, size, constants = model._native.to_openvino()
    # Untouched pages occupy no memory: OpenVINO reads no large constant while it loads the model.
    weights = numpy.zeros(max(size, 1), numpy.uint8)
    placed: dict[int, numpy.ndarray[Any, Any]] = {}
    for offset, _, array in constants:
        placed[offset] = array.reshape(-1)
        if array.nbytes <= _SMALL:
            weights[offset : offset + array.nbytes] = placed[offset].view(numpy.uint8)
    made = ov.Core().read_model(xml, ov.Tensor(weights, shared_memory=True))
    # OpenVINO does not keep `weights` alive, only the arrays of constants created from arrays.
    for graph in _graphs(made):
        for constant in [node for node in graph.get_ops() if node.get_type_name() == "Constant"]:
            _replace(constant, placed, weights)
    made.validate_nodes_and_infer_types()
    return made


def from_model(model: ov.Model) -> Model:
    """Converts a model of OpenVINO to nnefc, to check, compile, run or save it.

    Raises:
        nnefc.ModelError: an operation is unknown to nnefc.
    """
    folder = tempfile.TemporaryDirectory(prefix="nnefc-")
    path = Path(folder.name) / "model.xml"
    ov.serialize(model, str(path), str(path.with_suffix(".bin")))
    read = load(path)
    read._kept = folder  # constants are mapped from its files
    return read


def _graphs(model: Any) -> Iterator[Any]:
    """Yields a model and the bodies of its branches and loops, recursively."""
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
    """Replaces a constant in `weights` with one that shares the memory of the model."""
    offset = constant.data.__array_interface__["data"][0] - weights.__array_interface__["data"][0]
    array = placed.get(offset)
    kind = constant.get_element_type().get_type_name()
    if array is not None and kind in _NUMPY_NAMES:
        shaped = array.view(_NUMPY_NAMES[kind]).reshape(list(constant.get_output_shape(0)))
        owned = ov.op.Constant(shaped, shared_memory=True)
    else:  # an element type without NumPy equivalent, or no array
        if array is not None:
            weights[offset : offset + array.nbytes] = array.view(numpy.uint8)
        owned = ov.op.Constant(constant.get_tensor_view(), shared_memory=False)
    owned.set_friendly_name(constant.get_friendly_name())
    owned.output(0).set_names(constant.output(0).get_names())
    for reader in constant.output(0).get_target_inputs():
        reader.replace_source_output(owned.output(0))


def _openvino_libraries() -> Path:
    return Path(ov.__file__).parent / "libs"


def front_end_library() -> Path | None:
    """Returns the front end library for OpenVINO's C++ API, or None if there is none for the installed release.

    A C++ program registers it with `FrontEndManager::register_front_end("nnef", path)`.
    """
    releases = {path.suffix for path in _openvino_libraries().glob("libopenvino.so.*")}
    for path in sorted((Path(__file__).parent / "lib").glob("libopenvino_nnef_frontend.so.*")):
        if path.suffix in releases:
            return path
    return None


def link() -> Path:
    """Installs the front end in OpenVINO, for `Core.read_model`, benchmark_app and C++ programs.

    Returns:
        The link in OpenVINO's folder.

    Raises:
        RuntimeError: there is no front end for this release of OpenVINO.
        OSError: the folder is not writable.
    """
    library = front_end_library()
    if library is None:
        raise RuntimeError(f"this nnefc has no front end for OpenVINO {ov.__version__}")
    place = _openvino_libraries() / library.name
    aside = place.with_name(f"{place.name}.{os.getpid()}")
    aside.symlink_to(library)
    aside.replace(place)
    return place


def unlink() -> None:
    """Removes the link created by `link`, in this or another release of nnefc."""
    for place in _openvino_libraries().glob("libopenvino_nnef_frontend.so.*"):
        if place.is_symlink():
            place.unlink()


def _register() -> None:
    """Registers the front end with each new manager, because managers have separate lists."""
    library = front_end_library()
    manager = openvino.frontend.FrontEndManager
    if library is None:
        return
    made, load_by_model = manager.__init__, manager.load_by_model

    def make(self: Any, *arguments: Any) -> None:
        made(self, *arguments)
        if "nnef" not in self.get_available_front_ends():
            self.register_front_end("nnef", str(library))

    def load(self: Any, model: Any) -> Any:
        # Tried first, because OpenVINO's own front ends print long messages for foreign files, and fail for folders.
        ours = self.load_by_framework("nnef")
        return ours if ours is not None and ours.supported(model) else load_by_model(self, model)

    manager.__init__, manager.load_by_model = make, load


_register()


def _main() -> int:
    parser = argparse.ArgumentParser(prog="python -m nnefc.openvino", description="The front end for NNEF in OpenVINO.")
    parser.add_argument("action", choices=["link", "unlink"], help="put a link into OpenVINO's folder, or take it away")
    try:
        if parser.parse_args().action == "link":
            print(link())
        else:
            unlink()
    except (RuntimeError, OSError) as error:
        print(f"nnefc: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(_main())
