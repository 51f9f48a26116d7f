"""Models: loading, inspecting, transforming, saving and compiling them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from nnefc import _nnefc
from nnefc.documents import Dialect, Extensions, Source, _listed, is_text, make_options, paths_of, shown
from nnefc.errors import _from_native
from nnefc.executable import Backend, Executable, Precision
from nnefc.files import Digests, digests_of, states_of, verify
from nnefc.port import Port
from nnefc.record import record
from nnefc.report import Report

if TYPE_CHECKING:
    import numpy
    import numpy.typing as npt


@record(frozen=True)
class Operation:
    """An operation of a model after the instantiation of fragments.

    Attributes:
        type: the name of the operation, such as "conv".
        inputs: names of tensors; empty for a literal in the document.
        outputs: its results.
        attributes: by name; open extents of shapes are -1.
    """

    type: str
    inputs: tuple[str, ...]
    outputs: tuple[Port, ...]
    attributes: Mapping[str, Any]

    def __str__(self) -> str:
        given = [name or "literal" for name in self.inputs]
        given += [f"{name} = {value}" for name, value in self.attributes.items()]
        return f"{', '.join(map(str, self.outputs))} = {self.type}({', '.join(given)})"


class Variables(Mapping[str, "numpy.ndarray[Any, Any]"]):
    """The data of a model's variables by label, as read-only NumPy arrays.

    Data are read on access. An array is a view of the model's memory or mapped file, and keeps it alive. Raises
    KeyError for an unknown label, ModelError for invalid data.
    """

    def __init__(self, native: _nnefc.Model) -> None:
        self._native = native
        self._ports = {label: Port(*port) for label, port in native.variables()}

    def __getitem__(self, label: str) -> numpy.ndarray[Any, Any]:
        if label not in self._ports:
            raise KeyError(f"no variable has the label `{label}`; there are {_some(self._ports)}")
        array: numpy.ndarray[Any, Any] = self._native.read_variable(label)
        return array

    def __contains__(self, label: object) -> bool:  # without its data
        return label in self._ports

    def __iter__(self) -> Iterator[str]:
        return iter(self._ports)

    def __len__(self) -> int:
        return len(self._ports)

    def port(self, label: str) -> Port:
        """Returns the name, type and shape of a variable, without reading its data."""
        return self._ports[label]

    def __repr__(self) -> str:
        return f"<nnefc.Variables: {_some(self._ports)}>"


def _some(names: Iterable[str]) -> str:
    listed = [f"`{name}`" for name in names]
    if len(listed) > 8:
        return f"{', '.join(listed[:8])} and {len(listed) - 8} more"
    return ", ".join(listed) or "none"


class Model:
    """A valid model, created by `load`. Immutable and safe for concurrent use."""

    def __init__(self, source: Source, name: str, settings: dict[str, Any], transformations: dict[str, Any]) -> None:
        self._source, self._name, self._settings = source, name, settings
        self._transformations = transformations
        options = make_options(**settings)
        options.enabled_transformations = list(transformations.get("enable", ()))
        options.disabled_transformations = list(transformations.get("disable", ()))
        options.transformations_configuration = transformations.get("configuration", "")
        opened = (
            _nnefc.open_text(name, shown(source), options)
            if is_text(source)
            else _nnefc.open(shown(source), options)
        )
        self._native: _nnefc.Model = opened[0]
        labels = [label for label, _ in self._native.variables()]
        self._states = None if is_text(source) else states_of(Path(source), labels)
        self.report = Report(opened[1])
        self.inputs: tuple[Port, ...] = tuple(Port(*port) for port in self._native.inputs())
        self.outputs: tuple[Port, ...] = tuple(Port(*port) for port in self._native.outputs())
        self._variables: Variables | None = None
        self._operations: tuple[Operation, ...] | None = None
        self._kept: object = None  # an object with the lifetime of the model

    def _shown_name(self) -> str:
        return self._name if is_text(self._source) else shown(self._source)

    def __repr__(self) -> str:
        called = self._shown_name()
        given, made = ", ".join(map(str, self.inputs)), ", ".join(map(str, self.outputs))
        return f"<nnefc.Model {called}: ({given}) -> ({made})>"

    def _repr_html_(self) -> str:
        from nnefc.views import model_html

        return model_html(self)

    def __copy__(self) -> Model:
        return self  # immutable

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the text or the path, with the settings: another process reads the file again.

        The pickle has the digests of the files (of a folder those of the document, graph.quant and the tensors), and
        unpickling raises pickle.UnpicklingError if one of them has another content. Plug-ins are not compared.

        Raises:
            TypeError: the files of the model are temporary, since it was converted from another framework.
            pickle.PicklingError: a file changed after the model was loaded.
        """
        if self._kept is not None:
            raise TypeError(f"{self!r} has temporary files; `save` it, and pickle the model that `load` returns")
        if self._states is None:
            return Model, (shown(self._source), self._name, self._settings, self._transformations)
        path = Path(self._source).absolute()
        digests = digests_of(path, self._states)
        return _unpickled, (path, self._name, self._settings, self._transformations, digests)

    def summary(self) -> str:
        """Returns a table of the operations in topological order: name, operation, and type and shape of the results.

        If the model can be lowered and all extents are known, the operations are those of the lowered graph, with their
        numbers of parameters and of multiply-accumulates (`nnefc inspect --costs`), and the last line has the totals.
        """
        from nnefc.views import summary

        return summary(self)

    def draw(self, path: Source | None = None, *, costs: bool = False, weights: bool = False, profile: Source | None = None) -> str:
        """Returns a drawing of the graph. The file of the model is read again.

        Args:
            path: a file to write it to. Its extension selects the form: `.html` a page for browsers, `.svg` a
                picture, for which Graphviz must be installed, `.dot` or `.gv` Graphviz' DOT, `.json` a description.
                Without a path the drawing is a page.
            costs: draw the lowered graph, with parameters, multiply-accumulates and bytes of each operation.
            weights: add statistics and histograms of the data of variables and constants to a page or a description.
            profile: the output of `nnefc run MODEL --profile --format json`, a file. Draws the lowered graph with its costs
                and these times.

        Raises:
            ValueError: the extension is another one.
            NnefError: with `costs` or `profile`, the model cannot be lowered, or an extent is unknown; with `weights`, the
                model has no data; the profile is of another model; Graphviz' `dot` is missing or fails.
        """
        forms = {".html": "html", ".htm": "html", ".svg": "svg", ".dot": "dot", ".gv": "dot", ".json": "json"}
        suffix = ".html" if path is None else Path(path).suffix
        if suffix not in forms:
            raise ValueError(f"`{path}`: drawings are .html, .svg, .dot or .json")
        text = self._native.draw(forms[suffix], costs, weights, "" if profile is None else str(profile))[0]
        if path is not None:
            _write_aside(Path(path), lambda aside: aside.write_text(text, encoding="utf-8"))
        return text

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The operations of the model in topological order, with fragments instantiated."""
        if self._operations is None:
            self._operations = tuple(
                Operation(kind, tuple(inputs), tuple(Port(*port) for port in outputs), attributes)
                for kind, inputs, outputs, attributes in self._native.operations()
            )
        return self._operations

    @property
    def variables(self) -> Variables:
        """The data of the variables by label; for OpenVINO IR its constants by layer name."""
        if self._variables is None:
            self._variables = Variables(self._native)
        return self._variables

    def expand(self, lower: Iterable[str] = ()) -> str:
        """Returns the model as a flat ratified document, with fragments, loops and branches evaluated.

        Args:
            lower: names of standard compound operations to expand as well, such as "softmax", or "all".
        """
        return self._native.expand([lower] if isinstance(lower, str) else list(lower))[0]

    def upgrade(self) -> str:
        """Returns the model as a ratified document, with its fragments and comments as far as representable."""
        return self._native.upgrade()[0]

    def lower(self) -> str:
        """Returns the graph of OpenVINO operations after lowering, in nnefc's text format."""
        return self._native.lower()[0]

    def transform(
        self,
        *,
        enable: Iterable[str] = (),
        disable: Iterable[str] = (),
        configuration: Source | None = None,
        extensions: Extensions = (),
    ) -> Model:
        """Returns the model with different transformations for `lower`, `compile` and OpenVINO IR.

        Args:
            enable, disable: transformations, by their names in `nnefc transform --list-transformations`.
            configuration: a configuration file for transformations.
            extensions: one or several plug-ins (shared libraries) or folders of Python transformations (`nnefc.mo`),
                in addition to those of the model; modules in folders are imported.

        Returns:
            A new model; the file is read again.

        Raises:
            ValueError: a transformation is unknown.
            ModelError: a module of a folder cannot be imported, the model cannot be lowered, or a transformation failed.
        """
        given = dict(self._transformations)
        given["enable"] = [*given.get("enable", ()), *_listed("enable", enable)]
        given["disable"] = [*given.get("disable", ()), *_listed("disable", disable)]
        if configuration is not None:
            given["configuration"] = os.fspath(configuration)
        settings = dict(self._settings)
        settings["extensions"] = [*settings.get("extensions", ()), *paths_of(extensions)]
        model = Model(self._source, self._name, settings, given)
        model._kept = self._kept
        for item in Report(model._native.lower()[1]):
            if item.rule == "transform.unknown-name":
                raise ValueError(item.message)
        return model

    def save(self, path: Source) -> Report:
        """Writes the model.

        Args:
            path: its extension selects the format: `.xml` OpenVINO IR (with a `.bin` file), `.nnef` or `.txt` the
                document alone, `.tgz`, `.tar.gz` or `.tar` an archive with the data of variables, anything else a
                folder with both, nonexistent or empty. Documents use the ratified dialect.

        Returns:
            The report, such as constructs without equivalent in the ratified dialect.

        Raises:
            ModelError: the model is not representable in the format.
            FileExistsError: the folder is not empty.
        """
        target = Path(path)
        if target.suffix == ".onnx":
            raise ValueError(f"`{target}`: `nnefc.export_onnx(model, path)` writes ONNX")
        if target.suffix in (".pb", ".pbtxt", ".tflite", ".zip", ".ir", ".dat", ".npz"):
            raise ValueError(f"`{target}`: nnefc saves to .nnef, .tgz, .tar, .xml or a folder")
        if target.suffix == ".xml":
            return _done(self._native.write_openvino(str(target)))
        if target.suffix in (".nnef", ".txt"):
            text, report = self._native.upgrade()
            _write_aside(target, lambda aside: aside.write_text(text, encoding="utf-8"))
            return Report(report)
        if target.name.endswith((".tgz", ".tar.gz", ".tar")):
            return self._save_archive(target)
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise FileExistsError(f"`{target}` is there and not an empty folder")
        import tempfile

        with tempfile.TemporaryDirectory(prefix=".nnefc-", dir=target.parent) as aside:
            folder = Path(aside) / "model"
            folder.mkdir()
            report_of_folder = _done(self._native.write_nnef(str(folder)))
            folder.rename(target)
        return report_of_folder

    def _save_archive(self, target: Path) -> Report:
        import tarfile
        import tempfile

        mode: Literal["w", "w:gz"] = "w" if target.suffix == ".tar" else "w:gz"
        with tempfile.TemporaryDirectory(prefix=".nnefc-", dir=target.parent) as folder:
            report = _done(self._native.write_nnef(folder))

            def pack(aside: Path) -> None:
                with tarfile.open(aside, mode) as archive:
                    for file in sorted(Path(folder).rglob("*")):
                        archive.add(file, str(file.relative_to(folder)), recursive=False)

            _write_aside(target, pack)
        return report

    def compile(
        self,
        *,
        backend: Backend = "fast",
        precision: Precision = "f32",
        threads: int = 0,
        max_memory: int = 0,
        plan_cache: Source | None = None,
        tune: bool = False,
        enable: Iterable[str] = (),
        disable: Iterable[str] = (),
        configuration: Source | None = None,
        extensions: Extensions = (),
    ) -> Executable:
        """Compiles the model for execution.

        Args:
            backend: "fast" (also called "onednn") has vectorised kernels; "reference" is portable C++ that follows the
                specification's formulas.
            precision: "exact" computes dot products as in the formulas. "f32" also permits Winograd and similar
                algorithms. "bf16" multiplies in bf16 if the processor is fast at it (else in f32), in a quarter of the
                time: it rounds both factors of each multiplication to 8 significant bits. The largest elements of an
                output are usually within a few percent, without a guaranteed bound. "auto" is the faster of the two.
            threads: the number of threads; 0 means all available to the process.
            max_memory: a bound for the bytes of all values of a run; 0 means the machine's memory.
            plan_cache: a folder for results of planning, created if necessary, to start later processes faster.
                Problems with it are a `RuntimeWarning`.
            tune: select the fastest algorithm for each step by measurement, in up to a minute; the plan cache stores
                the results, also for calls without `tune`.
            enable, disable, configuration, extensions: as in `transform`; the model itself is unchanged.

        Raises:
            ModelError: variables have no data, or an operation is not executable; and as in `transform`.
            ValueError: as in `transform`.
        """
        if backend not in ("fast", "reference", "onednn"):
            raise ValueError(f"backend is {backend!r}; expected 'fast' or 'reference'")
        if precision not in ("exact", "f32", "bf16", "auto"):
            raise ValueError(f"precision is {precision!r}; expected 'exact', 'f32', 'bf16' or 'auto'")
        for name, value, most in (("threads", threads, 2**16), ("max_memory", max_memory, 2**63)):
            if not isinstance(value, int) or not 0 <= value < most:
                raise ValueError(f"{name} is {value!r}; expected a whole number of 0 to {most - 1}")
        on, off, added = _listed("enable", enable), _listed("disable", disable), paths_of(extensions)
        model = self
        if on or off or configuration is not None or added:
            model = self.transform(enable=on, disable=off, configuration=configuration, extensions=added)
        folder = "" if plan_cache is None else os.fspath(plan_cache)
        native, report = model._native.compile(backend, precision, threads, max_memory, folder, bool(tune))
        for line in report.text(False).splitlines():
            warnings.warn(line, RuntimeWarning, stacklevel=2)
        return Executable(native)


def _done(native: _nnefc.Report) -> Report:
    if not native.ok():
        raise _from_native(native, "saving the model")
    return Report(native)


def _write_aside(target: Path, write: Any) -> None:
    """Calls `write` with a temporary file, then atomically replaces `target`."""
    import shutil
    import tempfile

    descriptor, aside = tempfile.mkstemp(prefix=".nnefc-", dir=target.parent)
    os.close(descriptor)
    try:
        write(Path(aside))
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(aside, 0o666 & ~mask)
        shutil.move(aside, target)
    except BaseException:
        os.unlink(aside)
        raise


def _unpickled(
    path: Path, name: str, settings: dict[str, Any], transformations: dict[str, Any], digests: Digests
) -> Model:
    verify(path, digests)
    return Model(path, name, settings, transformations)


def load(
    source: Source,
    *,
    dialect: Dialect = "auto",
    lenient: bool | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    graph: str | None = None,
    variables: Mapping[str, npt.ArrayLike] | None = None,
    random_weights: int | None = None,
    quantize: bool = False,
    extensions: Extensions = (),
    name: str = "<text>",
) -> Model:
    """Loads a model.

    Args:
        source: the path of a document, folder, archive or OpenVINO IR (.xml), or the text of a document.
        dialect, lenient, graph, extensions, name: as in `check`.
        shapes: shapes of inputs that replace those of the document.
        variables: data of variables by label, for a text: arrays, to be copied. If any are present, all are required,
            unless `random_weights` generates the others.
        random_weights: the seed for generated data of variables without data; deterministic.
        quantize: quantize each tensor in the model's graph.quant file as soon as it is computed; an error without
            such a file.

    Raises:
        ModelError: the model is invalid, or the data of a variable do not match it; `.report` has the reasons.
        ValueError: a label in `variables` is unknown.
        SystemFailure: a file cannot be read.
    """
    if variables and not is_text(source):
        raise ValueError(f"variables are for documents in memory; those of `{os.fspath(source)}` lie beside it")
    settings = {
        "dialect": dialect,
        "lenient": lenient,
        "shapes": shapes,
        "graph": graph,
        "variables": variables,
        "random_weights": random_weights,
        "quantize": quantize,
        "extensions": paths_of(extensions),
    }
    model = Model(source, name, settings, {})
    known = {label.lstrip("/") for label in model.variables} if variables else set()
    for label in variables or {}:
        if label.lstrip("/") not in known:
            raise ValueError(f"no variable has the label `{label}`; there are {_some(model.variables)}")
    return model


def upgrade(source: Source, output: Source | None = None, *, dialect: Dialect = "auto", name: str = "<text>") -> str:
    """Converts a provisional model to an equivalent ratified one.

    Args:
        source: as in `load`.
        output: a path for `Model.save`; by default nothing is written.

    Returns:
        The ratified document.
    """
    model = load(source, dialect=dialect, name=name)
    if output is not None:
        model.save(output)
    return model.upgrade()
