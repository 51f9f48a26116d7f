"""nnefc: the compiler for NNEF, Khronos' Neural Network Exchange Format.

    import nnefc

    report = nnefc.check("model.nnef")            # true if there are no errors
    model = nnefc.load("model_folder")            # raises ModelError with the diagnostics
    executable = model.compile()
    outputs = executable(x=array)                 # NumPy arrays by name

`check`, `lint`, `format`, `upgrade` and `explain` process documents, `diff` compares two models. `convert` makes NNEF of
models of other frameworks, `export_onnx` writes ONNX. `load` returns a `Model`, and `Model.compile` an `Executable`. All
errors are subclasses of `NnefError`.
"""

from typing import TYPE_CHECKING, Any

from nnefc import _nnefc
from nnefc.documents import check, explain, format, lint
from nnefc.errors import InputError, MissingFile, ModelError, NnefError, RunError, SystemFailure
from nnefc.executable import Executable, Profile, Session, Step
from nnefc.model import Model, Operation, Variables, load, upgrade
from nnefc.port import Port
from nnefc.report import Diagnostic, Fix, Note, Place, Report

if TYPE_CHECKING:
    from nnefc.conversion.frameworks import convert
    from nnefc.conversion.onnx_export import export_onnx
    from nnefc.difference import Difference, diff

__version__: str = _nnefc.version()

__all__ = [
    "Diagnostic",
    "Difference",
    "Executable",
    "Fix",
    "InputError",
    "MissingFile",
    "Model",
    "ModelError",
    "NnefError",
    "Note",
    "Operation",
    "Place",
    "Port",
    "Profile",
    "Report",
    "RunError",
    "Session",
    "Step",
    "SystemFailure",
    "Variables",
    "check",
    "convert",
    "diff",
    "explain",
    "export_onnx",
    "format",
    "lint",
    "load",
    "upgrade",
]


# Modules of these names are imported on first use, because most programs do not compare or convert models, and conversion
# needs other packages. Rarely used modules of the standard library are imported in the functions that need them, to keep
# start-up fast.
_MODULES = {
    "Difference": "nnefc.difference",
    "convert": "nnefc.conversion.frameworks",
    "diff": "nnefc.difference",
    "export_onnx": "nnefc.conversion.onnx_export",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__") and name.endswith("__"))})
