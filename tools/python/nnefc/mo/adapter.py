"""The interface to the compiler: Python transformations loaded from folders."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from nnefc import _nnefc
from nnefc._nnefc import TransformError as Error
from nnefc.mo.custom import CustomOperation, operations_of
from nnefc.mo.graph.graph import Graph
from nnefc.mo.graph.names import key_of
from nnefc.mo.loading import LOADING, ExtensionError, ExtensionPackage, modules_of
from nnefc.mo.replacer import (
    RUNNING,
    FrontExtractorOp,
    FrontReplacementOp,
    ReplacementPattern,
    SubgraphMatch,
    Transformation,
)

# Calls inside of this package and beyond this number are omitted in messages.
_PACKAGE = Path(__file__).parent
_MAX_CALLS = 5


def load_package(package: ExtensionPackage) -> tuple[list[type[Transformation]], list[CustomOperation]]:
    """Loads the transformations and operations of a folder. Raises ExtensionError."""
    folder = package.root
    if len(package.files) == 1:
        raise ExtensionError(f"`{folder}` has no Python modules")
    modules = modules_of(package, _message_of)
    kinds = [kind for module, path in modules for kind in _kinds(module, path)]
    try:
        return kinds, operations_of([module for module, _ in modules])
    except Error as error:
        raise ExtensionError(f"`{folder}`: {error}") from error


def _kinds(module: ModuleType, path: Path) -> list[type[Transformation]]:
    kinds = []
    for item in vars(module).values():
        if not (isinstance(item, type) and issubclass(item, Transformation)) or item.__module__ != module.__name__:
            continue
        if not item.__name__.startswith("_") and item not in kinds:
            item.file = str(path)
            kinds.append(item)
    return kinds


def _message_of(error: BaseException, file: Path) -> str:
    """Returns the message of an exception with the last line of the file in its traceback, and the calls from there."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [i for i, frame in enumerate(frames) if frame.filename == str(file.absolute())]
    what = str(error) or "no message"
    if not isinstance(error, _nnefc.TransformError):
        what = f"{type(error).__name__}: {what}"
    if not own:
        return what
    inner = [frame for frame in frames[own[-1] + 1 :] if not Path(frame.filename).is_relative_to(_PACKAGE)]
    calls = "".join(f", in `{frame.name}` of `{frame.filename}` line {frame.lineno}" for frame in inner[:_MAX_CALLS])
    return f"{what} (line {frames[own[-1]].lineno}{calls})"


def name_of(kind: type[Transformation]) -> str:
    """Returns the name of a transformation in the compiler."""
    named = kind.id if isinstance(kind.id, str) else ""
    return kind.built_in or named or f"{kind.__module__}.{kind.__qualname__}"


def class_name_of(kind: type[Transformation]) -> str:
    """Returns the qualified name of a class, which starts with the name of its folder of extensions."""
    modules = kind.__module__.split(".")
    parents = Path(kind.file).resolve().parents
    folder = parents[len(modules) - 1].name if len(modules) <= len(parents) else ""
    return ".".join([folder or "extensions", *modules, kind.__qualname__])


class Adapter:
    """A wrapper of a transformation for the compiler."""

    def __init__(self, kind: type[Transformation]) -> None:
        self.file = kind.file
        try:
            self._acts = acts = kind()
        except (Exception, SystemExit) as error:
            raise ValueError(f"`{self.file}`: `{name_of(kind)}`: {_message_of(error, Path(self.file))}") from error
        self.class_name = class_name_of(kind)
        self._checked("id", str)
        self.id = name_of(kind)
        self.enabled = self._checked("enabled", bool)
        self.phase, self.kind, self.driven_by = kind.phase, kind.kind, kind.driven_by
        self.replacement_id = self._checked("replacement_id", str)
        self.run_not_recursively = self._checked("run_not_recursively", bool)
        self.force_clean_up = self._checked("force_clean_up", bool)
        self.force_shape_inference = self._checked("force_shape_inference", bool)
        self.before, self.after = self._names(acts.run_before, "run_before"), self._names(acts.run_after, "run_after")
        if kind.driven_by and not kind.replacement_id:
            raise ValueError(f"`{self.file}`: {kind.__name__} has no `replacement_id`")
        if isinstance(acts, (FrontReplacementOp, FrontExtractorOp)) and not _operation_of(kind):
            raise ValueError(f"`{self.file}`: {kind.__name__} has no `op`")

    def _checked(self, name: str, kind: type) -> Any:
        """Returns an attribute of the class, or of the instance if its constructor sets it."""
        value = getattr(self._acts, name)
        if not isinstance(value, kind):
            expected = "True or False" if kind is bool else "text"
            raise ValueError(f"`{self.file}`: `{name}` of `{type(self._acts).__name__}` is {value!r}; expected {expected}")
        return value

    def _names(self, ask: Callable[[], Sequence[type]], what: str) -> list[str]:
        try:
            kinds = list(ask())
            for kind in kinds:
                if not (isinstance(kind, type) and issubclass(kind, Transformation)):
                    raise TypeError(f"{kind!r} is not a class of a transformation")
        except (Exception, SystemExit) as error:
            raise ValueError(f"`{self.file}`: {what} of `{self.id}`: {_message_of(error, Path(self.file))}") from error
        if not kinds:
            # The phases of the Model Optimizer run one after the other, whatever the order within them.
            ends = {"front": "FrontFinish", "middle": "BackStart"}
            starts = {"middle": "PreMiddleStart", "back": "BackStart"}
            anchor = (ends if what == "run_before" else starts).get(self.phase)
            return [anchor] if anchor else []
        return [getattr(kind, "before_it" if what == "run_before" else "after_it", "") or name_of(kind) for kind in kinds]

    def transform(
        self,
        native: _nnefc.TransformGraph,
        match: Any,
        log: Callable[[str], None],
        warn: Callable[[str], None],
        switch: Callable[[str, bool | None], bool | None],
    ) -> str:
        """Transforms the graph. Returns an error message, or an empty string."""
        acts, graph = self._acts, Graph(native, self.phase, _framework_of(self._acts))
        acts.log, acts.warn = log, warn
        graph._warn = warn
        former, RUNNING.switch = RUNNING.switch, lambda kind, enabled: switch(name_of(kind), enabled)
        try:
            if all(holds(graph) for holds in acts.graph_condition):
                self._act(graph, match)
                graph.remove_detached_nodes()
                for key, node in graph.dropped_attributes():
                    warn(f"the attribute `{key}` of `{node.id}` ({node.op}) is dropped when the graph is lowered")
                for key, node in graph.functions():
                    warn(f"the attribute `{key}` of `{node.id}` ({node.op}) is a function; it ends with the transformation")
            else:
                log("its `graph_condition` is not satisfied")
        except (Exception, SystemExit) as error:
            logging.getLogger("nnefc").debug("%s", self.id, exc_info=True)
            return _message_of(error, Path(self.file)).replace("[REPLACEMENT_ID]", self.replacement_id)
        finally:
            RUNNING.switch = former
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


# The functions that create the adapters of a folder, and its operations.
Loaded = tuple[list[Callable[[], Adapter]], list[CustomOperation]]


def load_folders(paths: Sequence[str]) -> list[Loaded | str]:
    """Loads each folder. Returns its contents, or an error message."""
    found: list[tuple[list[type[Transformation]], list[CustomOperation]] | str] = []
    packages: list[ExtensionPackage] = []
    packages += [ExtensionPackage(Path(path), packages) for path in paths]
    for package in packages:
        try:
            with LOADING:
                found.append(load_package(package))
        except ExtensionError as error:
            logging.getLogger("nnefc").debug("%s", package.root, exc_info=True)
            found.append(str(error))
    _replace_extractors([item[0] for item in found if not isinstance(item, str)])
    return [item if isinstance(item, str) else ([_maker(kind) for kind in item[0]], item[1]) for item in found]


def _framework_of(acts: Transformation) -> str:
    """Returns the framework of a transformation in `front/tf` and the like; otherwise `onnx`."""
    parts = type(acts).__module__.split(".")
    return parts[parts.index("front") + 1] if "front" in parts[:-2] else "onnx"


def _operation_of(kind: type[Any]) -> str:
    """Returns the canonical name of the operation of a class; empty if it has none."""
    return key_of(kind.op) if isinstance(kind.op, str) else ""


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
