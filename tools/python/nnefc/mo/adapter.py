"""The interface to the compiler: Python transformations loaded from folders."""

from __future__ import annotations

import importlib.util
import logging
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from nnefc import _nnefc
from nnefc.mo.graph.graph import Graph, _key
from nnefc.mo.replacer import FrontExtractorOp, FrontReplacementOp, ReplacementPattern, SubgraphMatch, Transformation

_ORDER = ("ops", "front", "middle", "back")
# Guards sys.modules and sys.path, modified while a folder is loaded.
_LOADING = threading.RLock()


class ExtensionError(Exception):
    """A module of a folder of extensions cannot be imported."""


def modules_of(folder: Path) -> list[Path]:
    """Returns the modules of a folder, with operations first."""
    found = [path for path in folder.rglob("*.py") if path.name != "__init__.py"]

    def place(path: Path) -> tuple[int, str]:
        first = path.relative_to(folder).parts[0]
        return _ORDER.index(first) if first in _ORDER else len(_ORDER), str(path)

    return sorted(found, key=place)


def load_folder(folder: Path) -> list[type[Transformation]]:
    """Loads the transformations of a folder; its modules may import each other. Raises ExtensionError."""
    paths = {".".join(path.relative_to(folder).with_suffix("").parts): path for path in modules_of(folder)}
    if not paths:
        raise ExtensionError(f"`{folder}` has no Python modules")
    # Temporarily removes modules with the same names from other folders.
    tops = {name.partition(".")[0] for name in paths}
    former = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in tops}
    sys.path.insert(0, str(folder))
    try:
        for name in former:
            del sys.modules[name]
        return [kind for name, path in paths.items() for kind in _kinds(_import(name, path), path)]
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.partition(".")[0] in tops]:
            del sys.modules[name]
        sys.modules.update(former)


def _kinds(module: ModuleType, path: Path) -> list[type[Transformation]]:
    kinds = []
    for item in vars(module).values():
        if not (isinstance(item, type) and issubclass(item, Transformation)) or item.__module__ != module.__name__:
            continue
        if not item.__name__.startswith("_") and item not in kinds:
            item.file = str(path)
            kinds.append(item)
    return kinds


def _import(name: str, path: Path) -> ModuleType:
    if name in sys.modules:  # already imported by a module of the folder
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        file = path if error.filename == str(path.absolute()) else error.filename
        raise ExtensionError(f"`{file}:{error.lineno}` is not valid Python: {error.msg}") from error
    except (Exception, SystemExit) as error:
        raise ExtensionError(f"`{path}` cannot be imported: {_told(error, path)}") from error
    return module


def _told(error: BaseException, file: Path) -> str:
    """Returns the message of an exception with the last line of the file in its traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(file.absolute())]
    what = str(error) or "no message"
    if not isinstance(error, _nnefc.TransformError):
        what = f"{type(error).__name__}: {what}"
    return f"{what} (line {lines[-1]})" if lines else what


def name_of(kind: type[Transformation]) -> str:
    """Returns the name of a transformation in the compiler."""
    return kind.built_in or kind.id or f"{kind.__module__}.{kind.__qualname__}"


class Adapter:
    """A wrapper of a transformation for the compiler."""

    def __init__(self, kind: type[Transformation]) -> None:
        self.file = kind.file
        try:
            self._acts = acts = kind()
        except (Exception, SystemExit) as error:
            raise ValueError(f"`{self.file}`: `{name_of(kind)}`: {_told(error, Path(self.file))}") from error
        self._started = kind.enabled
        self.id, self.enabled = name_of(kind), kind.enabled
        self.phase, self.kind, self.driven_by = kind.phase, kind.kind, kind.driven_by
        self.replacement_id = kind.replacement_id
        self.run_not_recursively, self.force_clean_up = kind.run_not_recursively, kind.force_clean_up
        self.force_shape_inference = kind.force_shape_inference
        self.before, self.after = self._names(acts.run_before, "run_before"), self._names(acts.run_after, "run_after")
        if kind.driven_by and not kind.replacement_id:
            raise ValueError(f"`{self.file}`: {kind.__name__} has no `replacement_id`")
        if isinstance(acts, (FrontReplacementOp, FrontExtractorOp)) and not _operation_of(kind):
            raise ValueError(f"`{self.file}`: {kind.__name__} has no `op`")

    def _names(self, ask: Callable[[], Sequence[type]], what: str) -> list[str]:
        try:
            kinds = list(ask())
            for kind in kinds:
                if not (isinstance(kind, type) and issubclass(kind, Transformation)):
                    raise TypeError(f"{kind!r} is not a class of a transformation")
        except (Exception, SystemExit) as error:
            raise ValueError(f"`{self.file}`: {what} of `{self.id}`: {_told(error, Path(self.file))}") from error
        return [name_of(kind) for kind in kinds]

    def transform(
        self, native: _nnefc.TransformGraph, match: Any, log: Callable[[str], None], warn: Callable[[str], None]
    ) -> str:
        """Transforms the graph. Returns an error message, or an empty string."""
        acts, graph = self._acts, Graph(native)
        acts.log, acts.warn = log, warn
        try:
            if self._started and not type(acts).enabled:
                log("another transformation switched it off")
            elif all(holds(graph) for holds in acts.graph_condition):
                self._act(graph, match)
        except (Exception, SystemExit) as error:
            logging.getLogger("nnefc").debug("%s", self.id, exc_info=True)
            return _told(error, Path(self.file))
        finally:
            del acts.log, acts.warn  # valid during this call only
        return ""

    def _act(self, graph: Graph, match: Any) -> None:
        acts: Any = self._acts
        if self.driven_by == "general":
            acts.transform_graph(graph, match)
        elif self.driven_by:
            acts.replace_sub_graph(graph, SubgraphMatch(graph, match))
        elif isinstance(acts, (ReplacementPattern, FrontExtractorOp)):
            acts.find_and_replace_pattern(graph)


def load_folders(paths: Sequence[str]) -> list[list[Callable[[], Adapter]] | str]:
    """Loads each folder. Returns functions that create the adapters of its transformations, or an error message."""
    found: list[list[type[Transformation]] | str] = []
    for path in paths:
        try:
            with _LOADING:
                found.append(load_folder(Path(path)))
        except ExtensionError as error:
            logging.getLogger("nnefc").debug("%s", path, exc_info=True)
            found.append(str(error))
    _replace_extractors([kinds for kinds in found if not isinstance(kinds, str)])
    return [kinds if isinstance(kinds, str) else [_maker(kind) for kind in kinds] for kinds in found]


def _operation_of(kind: type[Any]) -> str:
    """Returns the canonical name of the operation of a class; empty if it has none."""
    return _key(kind.op) if isinstance(kind.op, str) else ""


def _replace_extractors(folders: list[list[type[Transformation]]]) -> None:
    """Removes extractors overridden by a later enabled one for the same operation."""
    earlier: dict[str, list[tuple[list[type[Transformation]], type[Transformation]]]] = {}
    for kinds in folders:
        for kind in list(kinds):
            if not issubclass(kind, FrontExtractorOp) or not _operation_of(kind):
                continue
            others = earlier.setdefault(_operation_of(kind), [])
            kind.replaced = []
            if kind.enabled:
                kind.replaced = [f"`{name_of(other)}` of `{other.file}`" for _, other in others]
                for owner, other in others:
                    owner.remove(other)
                others.clear()
            others.append((kinds, kind))


def _maker(kind: type[Transformation]) -> Callable[[], Adapter]:
    return lambda: Adapter(kind)
