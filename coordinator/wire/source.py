"""The common part of the writers of decoders and encoders: lines of source, the names in it, and
the fields that a version has.

Owns the fixed-width layouts and the test whether a field has its default. Does not depend on the
direction.
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
    """Return an expression that is true if `field`, found at `source`, differs from its default."""
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
    """The base class of both directions' writers: lines with an indent, names for objects, fresh
    variables.
    """

    FAULTS: tuple[type[Exception], ...]

    def __init__(self, message: StructType, version: int, *, sliced: bool = False) -> None:
        """Make an empty source. `sliced`: the function becomes a generator, which stops after every
        `ELEMENTS_A_STEP` elements of arrays.
        """
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
        """Return the end of the function, which turns any fault into a `WireError` that names
        message and version.
        """
        return [" except FAULTS as fault:", "  raise failed(fault) from fault", ""]

    def begin(self) -> list[str]:
        """Return the start of a sliced function. Its line makes the function a generator, even if
        it has no arrays.
        """
        return [" if p_ := 0: yield"] if self.sliced else []

    def step(self) -> None:
        """Write the step after an element of an array: a sliced function stops here from time to
        time.
        """
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
        """Return a name for an object in the function's globals."""
        name = self.fresh(prefix)
        self.env[name] = value
        return name

    def fields(self, cls: StructType) -> tuple[list[Field], list[Field]]:
        """Return the plain and the tagged fields of `cls` in this version."""
        carried = [field for field in cls.fields if field.carried(self.version)]
        return [field for field in carried if field.tag is None], [
            field for field in carried if field.tag is not None and self.flexible
        ]
