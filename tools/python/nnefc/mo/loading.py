"""Loads a folder of extensions as a Python package."""

from __future__ import annotations

import builtins
import functools
import importlib
import importlib.util
import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

_ORDER = ("ops", "front", "middle", "back")
# Packages of the Model Optimizer, for which `nnefc.mo` provides the modules.
_MO_PACKAGES = ("nnefc.mo", "openvino.tools.mo", "mo", "extensions")
_PHASES = ("front.", "middle.", "back.")
# The environment variable that `--mo-imports` sets.
MO_IMPORTS = "NNEFC_MO_IMPORTS"
# Guards sys.modules, modified while a module is loaded.
LOADING = threading.RLock()


class ExtensionError(Exception):
    """A module of a folder of extensions cannot be imported."""


def accepts_mo_imports() -> bool:
    """Returns whether imports of the Model Optimizer's packages are redirected to `nnefc.mo`."""
    return os.environ.get(MO_IMPORTS, "") not in ("", "0")


class ExtensionPackage:
    """The modules of a folder, each loaded once.

    A module is known by its path in the folder (`front.one`), by the same path after the name of the folder
    (`extensions.front.one`) and by relative imports. Import statements of the modules resolve these names at any time,
    so that they also work inside functions. Other modules of the process are unaffected. Modules of other folders of
    the same compilation are known by the paths after the names of their folders.
    """

    def __init__(self, root: Path, others: Sequence[ExtensionPackage] = ()) -> None:
        self.root = root
        self.name = root.resolve().name
        self.files = _files_of(root)
        self._others = others
        self._modules: dict[str, ModuleType] = {}

    def load(self, name: str) -> ModuleType:
        """Returns a module or package by its path in the folder; "" is the folder."""
        with LOADING:
            if name in self._modules:
                return self._modules[name]
            if name not in self.files:
                raise ModuleNotFoundError(f"`{self.root}` has no module `{name}`", name=name)
            parent = self.load(name.rpartition(".")[0]) if name else None
            # A package may have imported the module.
            module = self._modules.get(name) or self._execute(name)
            if parent is not None:
                setattr(parent, name.rpartition(".")[2], module)
            return module

    def _execute(self, name: str) -> ModuleType:
        path = self.files[name]
        file = path / "__init__.py" if path.is_dir() else path
        full = name or self.name
        spec = importlib.util.spec_from_file_location(full, file) if file.is_file() else None
        module = importlib.util.module_from_spec(spec) if spec is not None else ModuleType(full)
        package = name if path.is_dir() else name.rpartition(".")[0]
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": functools.partial(self._import, package)}
        if path.is_dir():
            module.__path__ = [str(path)]
        self._modules[name] = module
        if spec is None or spec.loader is None:
            return module
        former = sys.modules.get(full)
        sys.modules[full] = module  # for libraries that search the module of a class
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del self._modules[name]
            raise
        finally:
            sys.modules.pop(full, None)
            if former is not None:
                sys.modules[full] = former
        return module

    def _import(
        self,
        package: str,
        name: str,
        globals: Mapping[str, Any] | None = None,  # noqa: A002
        locals: Mapping[str, Any] | None = None,  # noqa: A002
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """Imports like `builtins.__import__`, which import statements call, for a module of a package of the folder."""
        path = self._above(package, name, level) if level else self._path_of(name)
        if path is not None:
            return self._import_of_folder(name, path, fromlist or ())
        top, _, inner = name.partition(".")
        for other in self._others:
            if other is not self and other.name == top and inner in other.files:
                return other._import_of_folder(name, inner, fromlist or ())
        owner = next((owner for owner in _MO_PACKAGES if f"{name}.".startswith(f"{owner}.")), None)
        if owner is None:
            return builtins.__import__(name, globals, locals, fromlist or (), 0)
        try:
            return _import_of_mo(name, owner, fromlist or ())
        except ModuleNotFoundError:
            # A module that its owner copied to the Model Optimizer.
            copied = name[len(owner) + 1 :]
            if copied not in self.files or not fromlist or not accepts_mo_imports():
                raise
            return self._import_of_folder(name, copied, fromlist)

    def _import_of_folder(self, name: str, path: str, fromlist: Sequence[str]) -> ModuleType:
        module = self.load(path)
        if not fromlist:
            return self.load(name.partition(".")[0] if path == name else "")
        for item in getattr(module, "__all__", ()) if "*" in fromlist else fromlist:
            inner = f"{path}.{item}" if path else item
            if not hasattr(module, item) and inner in self.files:
                self.load(inner)
        return module

    def _above(self, package: str, name: str, level: int) -> str:
        """Returns the path of a relative import from a package."""
        parts = package.split(".") if package else []
        if level - 1 > len(parts):
            raise ImportError(f"the relative import of `{name}` leaves the folder `{self.root}`")
        return ".".join([*parts[: len(parts) - level + 1], *([name] if name else [])])

    def _path_of(self, name: str) -> str | None:
        """Returns the path in the folder of an absolute import, or None for other modules."""
        if name in self.files:
            return name
        top, _, inner = name.partition(".")
        return inner if top == self.name and inner in self.files else None


def _import_of_mo(name: str, owner: str, fromlist: Sequence[str]) -> ModuleType:
    """Imports a module of the Model Optimizer: from `nnefc.mo`, or its own if no redirection is requested."""
    ours = "nnefc.mo" + name[len(owner) :]
    if owner != "nnefc.mo" and not accepts_mo_imports():
        try:
            return builtins.__import__(name, None, None, fromlist, 0)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise
            raise ModuleNotFoundError(
                f"there is no module `{name}`; import `{ours}`, or use `--mo-imports` ({MO_IMPORTS}=1)", name=name
            ) from None
    try:
        module = importlib.import_module(ours)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{ours}.".startswith(f"{error.name}."):
            raise
        if not (fromlist and all(item[:1].isupper() for item in fromlist) and name[len(owner) + 1 :].startswith(_PHASES)):
            raise ModuleNotFoundError(f"nnefc has no equivalent of the module `{name}`", name=name) from None
        from nnefc.mo.modules import unknown_transformations

        return unknown_transformations(name[len(owner) + 1 :], fromlist)
    for item in fromlist:
        inner = f"{ours}.{item}"
        if hasattr(module, "__path__") and not hasattr(module, item) and importlib.util.find_spec(inner):
            importlib.import_module(inner)
    return module if fromlist else _chain(owner)


def _chain(owner: str) -> ModuleType:
    """Returns the package that `import openvino.tools.mo.ops.op` binds, with the attributes that lead to `nnefc.mo`."""
    module = importlib.import_module("nnefc.mo")
    for part in reversed(owner.split(".")[1:]):
        outer = ModuleType(owner.partition(".")[0])
        setattr(outer, part, module)
        module = outer
    return module


def _files_of(root: Path) -> dict[str, Path]:
    """Returns the modules and packages of a folder by their paths, operations first."""
    found: dict[str, Path] = {"": root}
    for path in root.rglob("*.py"):
        parts = path.relative_to(root).with_suffix("").parts
        if any(part.startswith(".") for part in parts):
            continue
        for end in range(1, len(parts)):
            found[".".join(parts[:end])] = root.joinpath(*parts[:end])
        if parts[-1] != "__init__":
            found[".".join(parts)] = path

    def place(name: str) -> tuple[int, str]:
        top = name.partition(".")[0]
        return _ORDER.index(top) if top in _ORDER else len(_ORDER), str(found[name])

    return {name: found[name] for name in sorted(found, key=place)}


def modules_of(package: ExtensionPackage, explain: Callable[[BaseException, Path], str]) -> list[tuple[ModuleType, Path]]:
    """Loads all modules of a folder, operations first. Raises ExtensionError with an explanation of the cause."""
    modules = []
    for name, path in package.files.items():
        try:
            modules.append((package.load(name), path))
        except SyntaxError as error:
            file = path if error.filename == str(path.absolute()) else error.filename
            raise ExtensionError(f"`{file}:{error.lineno}` is not valid Python: {error.msg}") from error
        except (Exception, SystemExit) as error:
            raise ExtensionError(f"`{path}` cannot be imported: {explain(error, path)}") from error
    return modules
