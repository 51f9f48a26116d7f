"""nnefc: the compiler for NNEF, Khronos' Neural Network Exchange Format.

    import nnefc

    report = nnefc.check("model.nnef")            # true if there are no errors
    model = nnefc.load("model_folder")            # raises ModelError, which carries the diagnostics
    executable = model.compile()
    outputs = executable(x=array)                 # NumPy arrays by name

`check`, `lint`, `format`, `upgrade` and `explain` are about documents, `diff` about two models; `load` gives a `Model`,
whose `compile` gives an `Executable`. What goes wrong is an `NnefError`.
"""

# Modules of Python's library that few calls need are imported by these: half of the time of `import nnefc`.
from nnefc import _nnefc
from nnefc.difference import Difference, diff
from nnefc.documents import check, explain, format, lint
from nnefc.errors import InputError, ModelError, NnefError, RunError, SystemFailure
from nnefc.executable import Executable, Profile, Session, Step
from nnefc.model import Model, Operation, Variables, load, upgrade
from nnefc.port import Port
from nnefc.report import Diagnostic, Fix, Note, Place, Report

__version__: str = _nnefc.version()

__all__ = [
    "Diagnostic",
    "Difference",
    "Executable",
    "Fix",
    "InputError",
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
    "diff",
    "explain",
    "format",
    "lint",
    "load",
    "upgrade",
]
