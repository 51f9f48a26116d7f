"""Compiled models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from nnefc import _nnefc
from nnefc.port import Port
from nnefc.record import record

if TYPE_CHECKING:
    import numpy
    import numpy.typing as npt

    Arrays = dict[str, numpy.ndarray[Any, Any]]

Backend = Literal["fast", "reference", "onednn"]
Precision = Literal["exact", "f32", "bf16", "auto"]


@record(frozen=True)
class Step:
    """A step of a run: one operation, or several fused ones.

    Attributes:
        name: its result tensor.
        operation: its operations, such as "Convolution+ReLU".
        kernel: the implementation.
        milliseconds: its run time.
        operations: the minimum number of arithmetic operations; a multiply-add counts as two.
        bytes: the size of its inputs and outputs.
    """

    name: str
    operation: str
    kernel: str
    milliseconds: float
    operations: float
    bytes: float


class Profile(Sequence[Step]):
    """The steps of a run in order; `print` shows them as a table, slowest first."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = tuple(steps)

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> Profile: ...
    def __getitem__(self, index: int | slice) -> Step | Profile:
        return Profile(self._steps[index]) if isinstance(index, slice) else self._steps[index]

    def __len__(self) -> int:
        return len(self._steps)

    @property
    def milliseconds(self) -> float:
        """The total time of all steps."""
        return sum(step.milliseconds for step in self._steps)

    def _rows(self) -> Iterator[tuple[str, str, str, str, str]]:
        total = self.milliseconds or 1.0
        for step in sorted(self._steps, key=lambda step: -step.milliseconds):
            share = f"{100 * step.milliseconds / total:.1f}%"
            yield f"{step.milliseconds:.3f}", share, step.operation, step.kernel, step.name

    def __str__(self) -> str:
        from nnefc.views import text_table

        return "\n".join(text_table(("ms", "share", "operation", "kernel", "tensor"), list(self._rows()), (0, 1)))

    def __repr__(self) -> str:
        return f"<nnefc.Profile: {len(self)} steps, {self.milliseconds:.3f} ms>"

    def to_pandas(self) -> Any:
        """Returns a pandas.DataFrame with one row per step, in order. Requires the package `pandas`."""
        import pandas  # type: ignore[import-untyped,import-not-found,unused-ignore]

        columns = ["name", "operation", "kernel", "milliseconds", "operations", "bytes"]
        rows = [[getattr(step, column) for column in columns] for step in self._steps]
        return pandas.DataFrame(rows, columns=columns)

    def _repr_html_(self) -> str:
        import html

        return f'<pre style="line-height:1.3">{html.escape(str(self))}</pre>'


class _Runs:
    """The common base of executables and sessions: runs with inputs."""

    _native: _nnefc.Executable | _nnefc.Session
    inputs: tuple[Port, ...]

    def __call__(self, /, *arrays: npt.ArrayLike, **named: npt.ArrayLike) -> Arrays:
        """Runs the model with inputs by position, `executable(image)`, or by name, `executable(x=image)`.

        Returns:
            The outputs by name, as in `run`.
        """
        if not arrays:
            return self._native.run(named)
        if len(arrays) > len(self.inputs):
            inputs = "1 input" if len(self.inputs) == 1 else f"{len(self.inputs)} inputs"
            raise TypeError(f"{len(arrays)} arrays were given; the model has {inputs}")
        for port, array in zip(self.inputs, arrays):
            if port.name in named:
                raise TypeError(f"input `{port.name}` was given twice")
            named[port.name] = array
        return self._native.run(named)

    def run(self, inputs: Mapping[str, npt.ArrayLike]) -> Arrays:
        """Runs the model once.

        Args:
            inputs: arrays by name: NumPy arrays, arrays with DLPack support (such as torch tensors on the CPU), or
                arguments of `numpy.asarray`. Dense row-major arrays are not copied; no other thread may write to them
                during the run. Elements are converted within their kind only (f64 to f32, i32 to i64).

        Returns:
            The outputs by name, as new NumPy arrays.

        Raises:
            InputError: an unknown name, a wrong type or shape, or an input without data.
            TypeError: an argument is not an array of numbers.
            RunError: an operation failed.
        """
        return self._native.run(inputs if isinstance(inputs, dict) else dict(inputs))


class Session(_Runs):
    """Successive runs that preserve the state of the model's variables. Created by `Executable.session`.

    Intended for one thread; concurrent runs are serialized.
    """

    def __init__(self, executable: Executable) -> None:
        self._native: _nnefc.Session = executable._native.new_session()
        self.inputs, self.outputs = executable.inputs, executable.outputs

    def reset_state(self) -> None:
        """Resets variables to their initial values."""
        self._native.reset_state()

    def enable_profile(self, on: bool = True) -> None:
        """Enables timing of each step for `profile`, starting with the next run."""
        self._native.enable_profile(on)

    def profile(self) -> Profile:
        """Returns the steps of the last run, if profiling was enabled before it."""
        return Profile([Step(*step) for step in self._native.profile()])


class Executable(_Runs):
    """A compiled model, created by `Model.compile`. Immutable and safe for concurrent use.

    Each run starts from the initial values of variables; a `session` preserves them between runs.
    """

    def __init__(self, native: _nnefc.Executable) -> None:
        self._native: _nnefc.Executable = native
        self.inputs: tuple[Port, ...] = tuple(Port(*port) for port in native.inputs())
        self.outputs: tuple[Port, ...] = tuple(Port(*port) for port in native.outputs())

    def __repr__(self) -> str:
        given, made = ", ".join(map(str, self.inputs)), ", ".join(map(str, self.outputs))
        return f"<nnefc.Executable: ({given}) -> ({made})>"

    def _repr_html_(self) -> str:
        from nnefc.views import executable_html

        return executable_html(self.inputs, self.outputs)

    def __copy__(self) -> Executable:
        return self  # immutable

    def __deepcopy__(self, memo: dict[int, Any]) -> Executable:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("an Executable belongs to its process; pickle the Model, and compile it there")

    def session(self) -> Session:
        """Creates an independent session with the initial values of variables."""
        return Session(self)

    @property
    def plan_cache_use(self) -> tuple[int, int, int]:
        """Statistics of the plan cache: entries found, entries created, and steps measured while planning."""
        return self._native.plan_cache_use()

    def random_inputs(self, seed: int = 1) -> Arrays:
        """Returns random data for all inputs with known shapes; deterministic for a seed."""
        return self._native.random_inputs(seed)

    def profile(self, inputs: Mapping[str, npt.ArrayLike] | None = None) -> Profile:
        """Measures the time of each step, after a warm-up run.

        Args:
            inputs: as in `run`; random by default.
        """
        session = self.session()
        given = self.random_inputs() if inputs is None else inputs
        session.run(given)
        session.enable_profile()
        session.run(given)
        return session.profile()
