"""Models: opening, looking at, changing, saving and compiling them."""

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
from nnefc.port import Port
from nnefc.record import record
from nnefc.report import Report

if TYPE_CHECKING:
    import numpy
    import numpy.typing as npt


@record(frozen=True)
class Operation:
    """An operation of a model, as it is once fragments are instantiated.

    Attributes:
        type: the name of the operation, such as "conv".
        inputs: names of tensors; an empty one is a literal of the document.
        outputs: what it computes.
        attributes: by name; extents of shapes that are open are -1.
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

    Data are read when they are asked for. An array is the memory of the model, or of its file, itself, and keeps it
    alive. KeyError names a label that no variable has, ModelError tells what is wrong with data.
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
        """The name, type and shape of a variable, without reading its data."""
        return self._ports[label]

    def __repr__(self) -> str:
        return f"<nnefc.Variables: {_some(self._ports)}>"


def _some(names: Iterable[str]) -> str:
    listed = [f"`{name}`" for name in names]
    if len(listed) > 8:
        return f"{', '.join(listed[:8])} and {len(listed) - 8} more"
    return ", ".join(listed) or "none"


class Model:
    """A model without mistakes. `load` makes them; they never change and may be used by several threads."""

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
        self.report = Report(opened[1])
        self.inputs: tuple[Port, ...] = tuple(Port(*port) for port in self._native.inputs())
        self.outputs: tuple[Port, ...] = tuple(Port(*port) for port in self._native.outputs())
        self._variables: Variables | None = None
        self._operations: tuple[Operation, ...] | None = None
        self._kept: object = None  # an object with the lifetime of the model

    def __repr__(self) -> str:
        called = self._name if is_text(self._source) else os.fspath(self._source)
        given, made = ", ".join(map(str, self.inputs)), ", ".join(map(str, self.outputs))
        return f"<nnefc.Model {called}: ({given}) -> ({made})>"

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The operations of the model, every one after those that feed it; fragments are instantiated."""
        if self._operations is None:
            self._operations = tuple(
                Operation(kind, tuple(inputs), tuple(Port(*port) for port in outputs), attributes)
                for kind, inputs, outputs, attributes in self._native.operations()
            )
        return self._operations

    @property
    def variables(self) -> Variables:
        """The data of the variables by label; of OpenVINO IR its constants, by the name of their layer."""
        if self._variables is None:
            self._variables = Variables(self._native)
        return self._variables

    def expand(self, lower: Iterable[str] = ()) -> str:
        """The model as a flat ratified document: fragments, loops and branches of the document evaluated.

        Args:
            lower: names of standard compounds to expand too, such as "softmax", or "all".
        """
        return self._native.expand([lower] if isinstance(lower, str) else list(lower))[0]

    def upgrade(self) -> str:
        """The model as a ratified document, with its fragments and comments as far as they have a form there."""
        return self._native.upgrade()[0]

    def lower(self) -> str:
        """The graph of OpenVINO operations that the model becomes, in nnefc's text form."""
        return self._native.lower()[0]

    def transform(
        self,
        *,
        enable: Iterable[str] = (),
        disable: Iterable[str] = (),
        configuration: Source | None = None,
        extensions: Extensions = (),
    ) -> Model:
        """The model with other transformations on its way to `lower`, `compile` and OpenVINO IR.

        Args:
            enable, disable: transformations, by the names that `nnefc transform --list-transformations` lists.
            configuration: a file that drives transformations.
            extensions: plug-ins (shared libraries) beside those of the model, and folders of transformations in Python
                (`nnefc.mo`), which are imported: one or several.

        Returns:
            A new model. Its file is read again.

        Raises:
            ValueError: no transformation has the name.
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
            path: what it ends in says what is written: `.xml` OpenVINO IR (and `.bin` beside it), `.nnef` or `.txt` the
                document alone, `.tgz`, `.tar.gz` or `.tar` an archive with the data of variables, anything else a
                folder with them, which must be free or empty. Documents are ratified ones.

        Returns:
            What there is to say, such as what the ratified dialect has no form for.

        Raises:
            ModelError: the model has no such form.
            FileExistsError: the folder is not empty.
        """
        target = Path(path)
        if target.suffix in (".onnx", ".pb", ".pbtxt", ".tflite", ".zip", ".ir", ".dat", ".npz"):
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
        backend: Backend = "onednn",
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
        """Makes the model ready to run.

        Args:
            backend: "onednn" is fast; "reference" is portable C++ that reads like the specification's formulas.
            precision: "exact" takes sums of products as the formulas have them, "f32" convolutions in fewer
                multiplications, too, "bf16" products of bf16 where the processor has fast ones (else f32), which takes a
                quarter of the time and rounds both factors of each product to 8 significant bits: the largest elements
                of an output are usually within some percent, and no bound is guaranteed; "auto" is the faster of the two.
            threads: how many compute; 0 is as many as the process may use.
            max_memory: bounds the bytes of all values of a run; 0 is the machine's memory.
            plan_cache: a folder that keeps what this takes long for, so that the next processes start faster; made if
                there is none. What is wrong with it is a `RuntimeWarning`.
            tune: measures which way of each step is the fastest here, in up to a minute; the plan cache keeps that, for
                calls without it, too.
            enable, disable, configuration, extensions: as in `transform`; the model itself stays as it is.

        Raises:
            ModelError: variables have no data, or an operation has no form that runs; and as in `transform`.
            ValueError: as in `transform`.
        """
        if backend not in ("onednn", "reference"):
            raise ValueError(f"backend is {backend!r}; expected 'onednn' or 'reference'")
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
    """Lets `write` make a file that takes the place of `target` once it is complete."""
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
    """Opens a model.

    Args:
        source: the path of a document, folder, archive or of OpenVINO IR (.xml), or the text of a document.
        dialect, lenient, graph, extensions, name: as in `check`.
        shapes: shapes of inputs, instead of those of the document.
        variables: of a text, the data of its variables by label: arrays, which are copied. With some of them, all must
            be there, unless `random_weights` makes the others.
        random_weights: the seed of data for variables that have none; the same seed always gives the same numbers.
        quantize: quantize each tensor that the model's graph.quant file names as soon as it is computed; without
            such a file that is a mistake.

    Raises:
        ModelError: the model is not valid, or the data of a variable do not fit it; `.report` shows why.
        ValueError: no variable has a label of `variables`.
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
    """Turns a provisional model into a ratified one that computes the same.

    Args:
        source: as in `load`.
        output: where to save the model, as `Model.save` does; nothing is written without it.

    Returns:
        The ratified document.
    """
    model = load(source, dialect=dialect, name=name)
    if output is not None:
        model.save(output)
    return model.upgrade()
