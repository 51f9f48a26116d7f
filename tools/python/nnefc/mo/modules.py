"""Modules below `nnefc.mo` that are made from tables when they are imported: operations and transformations."""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import re
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from nnefc.mo.base_operations import BASES
from nnefc.mo.composites import COMPOSITES
from nnefc.mo.op import composite, newest_row, simple
from nnefc.mo.operations import DEFAULTS, OPERATIONS, RENAMED, VERSIONS
from nnefc.mo.replacer import Transformation
from nnefc.mo.transformations import TRANSFORMATIONS

_ROOT = "nnefc.mo"
_OPSET = re.compile(r"ops\.opset([1-9]|1[0-6])")
# Transformations of nnefc with the name and phase of one of the Model Optimizer.
_EQUIVALENT = ("middle.CheckForCycle", "middle.FuseReshapesSequence", "middle.FuseTransposesSequence",
               "middle.L2NormToNorm", "middle.MVNFusion", "back.NormalizeToNormalizeL2",
               "back.ShufflenetReLUReorder")  # fmt: skip
# Classes that have another name in nnefc.
_RENAMED = {"back.GatherTreeNormalizer": "back.GatherNormalizer"}
# Transformations of the Model Optimizer that run after MiddleFinish.
_AFTER_MIDDLE = ("Fusing", "LeakyReLUFusion", "RemoveRedundantReshapes", "RemoveUselessPad", "ApplyPermutation")


def _operation(row: str) -> type:
    name, _, text = row.partition("=") if "=" in row else (row.partition(":")[0], "", row)
    op, _, op_type = text.partition(":")
    return simple(
        name,
        op,
        op_type=op_type,
        version=VERSIONS.get(name, ""),
        defaults=DEFAULTS.get(name, {}),
        renamed=RENAMED.get(name, {}),
    )


def _transformation(module: str, name: str) -> type:
    phase = module.partition(".")[0]
    known = f"{phase}.{name}"
    members: dict[str, Any] = {"__doc__": f"The Model Optimizer's transformation {name}."}
    if known in _EQUIVALENT or known in _RENAMED:
        members["built_in"] = _RENAMED.get(known, known)
    else:
        start = {"load": "Load", "analysis": "Front"}.get(phase, phase.capitalize())
        is_late = name in _AFTER_MIDDLE
        last = "LoadFinish" if phase in ("load", "analysis") else f"{start}Finish"
        members["before_it"] = "PostMiddleStart" if is_late else last
        members["after_it"] = "MiddleFinish" if is_late else "LoadFinish" if phase in ("load", "analysis") else f"{start}Start"
    return type(name, (Transformation,), members)


def unknown_transformations(module: str, names: Sequence[str]) -> ModuleType:
    """Returns a module with classes that mark the start or the end of their phase: transformations of older versions."""
    made = ModuleType(f"{_ROOT}.{module}")
    for name in names:
        setattr(made, name, _transformation(module, name))
    return made


@functools.cache
def _table() -> dict[str, dict[str, type]]:
    """Returns the classes of each module by name, and empty packages above the modules."""
    modules: dict[str, dict[str, type]] = {}
    for line in OPERATIONS.split("\n"):
        module, *rows = line.split() or [""]
        for row in rows:
            made = _operation(row)
            modules.setdefault(f"ops.{module}", {})[made.__name__] = made
    for module, name, op, build in COMPOSITES:
        made = composite(name, build)
        made.op = op or name
        modules.setdefault(f"ops.{module}", {})[name] = made
    for module, kinds in BASES.items():
        modules[f"ops.{module}"] |= {kind.__name__: kind for kind in kinds}
    for line in TRANSFORMATIONS.split("\n"):
        module, *names = line.split() or [""]
        for name in names:
            modules.setdefault(module, {})[name] = _transformation(module, name)
    for name in list(modules):
        parts = name.split(".")
        for end in range(1, len(parts)):
            modules.setdefault(".".join(parts[:end]), {})
    return modules


def opset_operation(name: str, module: str, opset: int) -> type:
    """Returns the class of an operation that an operation set of OpenVINO has."""
    row = newest_row(name, opset)
    if row is None or row[1] != name:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    made = simple(name, name, version=row[0])
    made.__module__ = module
    return made


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules of the tables; modules with a file have priority."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Returns the specification of a module of the tables."""
        if not fullname.startswith(f"{_ROOT}."):
            return None
        name = fullname[len(_ROOT) + 1 :]
        if name not in _table() and _OPSET.fullmatch(name) is None:
            return None
        is_package = any(other.startswith(f"{name}.") for other in _table())
        return importlib.machinery.ModuleSpec(fullname, self, is_package=is_package)

    def exec_module(self, module: ModuleType) -> None:
        """Adds the classes."""
        opset = _OPSET.fullmatch(module.__name__[len(_ROOT) + 1 :])
        if opset is not None:
            vars(module)["__getattr__"] = lambda name: opset_operation(name, module.__name__, int(opset[1]))
            module.__doc__ = f"The operations of OpenVINO's opset{opset[1]}."
            return
        for name, made in _table()[module.__name__[len(_ROOT) + 1 :]].items():
            made.__module__ = module.__name__
            setattr(module, name, made)
        module.__doc__ = f"{module.__name__.rpartition('.')[2]} of the Model Optimizer."


def install() -> None:
    """Makes the modules importable."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
