"""The common part of decoder and encoder writers: lines of source, names in it, and which fields a
version has.

Owns the fixed-width layouts and the question whether a field is at its default. Does not depend on
the direction.
"""

from __future__ import annotations

from typing import Any

from .fields import Field, StructType, check_version
from .primitives import WireError

LAYOUTS = {
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "int64": "q",
    "float64": "d",
    "boolean": "?",
    "uuid": "16s",
}
"""Fixed-width kinds."""
ELEMENTS_A_STEP = 256
"""So many elements of arrays are decoded or encoded between two stops of a sliced function: a
fraction of a millisecond's work."""


def differs(field: Field, source: str) -> str:
    """An expression: is the value of `field`, found at `source`, another than its default?"""
    if field.default is ...:
        assert isinstance(field.elem, StructType)
        return " or ".join(
            [
                *[differs(inner, f"{source}.{inner.name}") for inner in field.elem.fields],
                f"{source}.unknown_tags",
            ]
        )
    if field.default is None:
        return f"{source} is not None"
    return f"{source} != {'[]' if field.default == () else repr(field.default)}"


class SourceWriter:
    """Both directions' common part: lines under an indent, names for objects, fresh variables."""

    FAULTS: tuple[type[Exception], ...]

    def __init__(self, message: StructType, version: int, *, sliced: bool = False) -> None:
        """`sliced`: the function becomes a generator, which stops after every so many elements of
        arrays (`ELEMENTS_A_STEP`)."""
        check_version(message, version)
        self.message = message
        self.version = version
        self.sliced = sliced
        self.flexible = version >= message.flexible
        self.title = f"{message.__name__} v{version}"
        self.lines: list[str] = []
        self.depth = 2
        self.count = 0
        self.env: dict[str, Any] = {"failed": self.failed, "FAULTS": self.FAULTS}

    def handlers(self) -> list[str]:
        """The end of the function: any fault becomes a `WireError` that names message and
        version."""
        return [" except FAULTS as fault:", "  raise failed(fault) from fault", ""]

    def begin(self) -> list[str]:
        """The start of a sliced function. The first line makes a generator of it, even where
        nothing is repeated."""
        return [" if p_ := 0: yield"] if self.sliced else []

    def step(self) -> None:
        """One more element of an array is done: a sliced function stops here from time to time."""
        if self.sliced:
            self.emit("p_ += 1", f"if p_ == {ELEMENTS_A_STEP}:", " p_ = 0; yield")

    def failed(self, fault: Exception) -> WireError:
        return WireError(f"{self.title}: {self.said(fault)}")

    def said(self, fault: Exception) -> str:
        return str(fault)

    def emit(self, *lines: str) -> None:
        indent = " " * self.depth
        self.lines += [indent + line for line in lines]

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def name(self, prefix: str, value: object) -> str:
        """A name for an object in the function's globals."""
        name = self.fresh(prefix)
        self.env[name] = value
        return name

    def fields(self, cls: StructType) -> tuple[list[Field], list[Field]]:
        """The plain and the tagged fields of `cls` in this version."""
        carried = [field for field in cls.fields if field.carried(self.version)]
        return [field for field in carried if field.tag is None], [
            field for field in carried if field.tag is not None and self.flexible
        ]
