"""Inputs, outputs and other tensors of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nnefc.record import record

if TYPE_CHECKING:
    import numpy

_NUMPY_NAMES = {
    "boolean": "bool", "f16": "float16", "f32": "float32", "f64": "float64",
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
}  # fmt: skip


@record(frozen=True)
class Port:
    """An input or output of a model.

    Attributes:
        name: its identifier in the document.
        type: its element type: "f32", "i64", "boolean", ...
        shape: its extents, None for open ones; None if the rank is unknown.
    """

    name: str
    type: str
    shape: tuple[int | None, ...] | None

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """The NumPy type. Raises TypeError for types without equivalent, such as "bf16"."""
        import numpy

        if self.type not in _NUMPY_NAMES:
            raise TypeError(f"NumPy has no type for the elements of `{self.name}`, {self.type}")
        return numpy.dtype(_NUMPY_NAMES[self.type])

    def __str__(self) -> str:
        extents = "?" if self.shape is None else ",".join("?" if n is None else str(n) for n in self.shape)
        return f"{self.name}: {self.type}[{extents}]"
