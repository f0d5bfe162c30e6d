"""Writes the source of encoders: `encode(o)` for one message and version, as a function or as a
generator that encodes in slices.

Fields that the version does not carry are left out; tagged fields are written only where they
differ from their defaults (KIP-482). Bytes are gathered in one list and joined once; a message
without arrays is one expression. Those of a `bounded` message are joined and counted while they
are gathered, so that a response that would be too large is never whole in memory, nor in
thousands of pieces.
"""

from __future__ import annotations

import struct
from struct import Struct as Layout
from typing import Any

from .fields import Field, StructType
from .primitives import SMALL, ResponseTooLarge, WireError, string_length, uvarint, write_tags
from .source import LAYOUTS, SourceWriter, differs

PIECES_BETWEEN_LOOKS = 1_024
"""The number of pieces that may be gathered before their bytes are counted."""


def weigh(pieces: list[bytes], counted: int, size: int, most: int) -> tuple[int, int, int]:
    """Join the pieces after `counted` and count their bytes. Return the index up to which pieces
    are counted, the number of pieces at which to count again, and the size so far.

    Small pieces take several times the memory of their contents. Raises ResponseTooLarge above
    `most`.
    """
    joined = b"".join(pieces[counted:])
    pieces[counted:] = (joined,)
    size += len(joined)
    if size > most:
        raise ResponseTooLarge(f"the answer has more than {most} bytes (max_response_bytes)")
    return len(pieces), len(pieces) + PIECES_BETWEEN_LOOKS, size


class Encoder(SourceWriter):
    """A writer of `encode(o)`. `pieces` are expressions not yet appended: (layout, value), or
    (None, bytes).
    """

    FAULTS = (WireError, struct.error, AttributeError, TypeError, UnicodeEncodeError)

    def __init__(self, message: StructType, version: int, *, sliced: bool = False) -> None:
        super().__init__(message, version, sliced=sliced)
        self.pieces: list[tuple[str | None, str]] = []
        self.output = "w"
        self.looped = False
        self.env |= {
            "number": uvarint,
            "length": string_length,
            "SMALL": SMALL,
            "tags": write_tags,
            "pack": struct.pack,
            "NULL": b"\xff",
        }
        self.env |= {"weigh": weigh, "ResponseTooLarge": ResponseTooLarge}
        self.weighed = False

    def source(self) -> tuple[str, dict[str, Any]]:
        self.struct(self.message, "o")
        self.finish()
        return self.function(), self.env

    def field_source(self, field: Field) -> tuple[str, dict[str, Any]]:
        self.value(field, "o")
        self.finish()
        return self.function(), self.env

    def function(self) -> str:
        too_large = [" except ResponseTooLarge:", "  raise"] if self.weighed else []
        return "\n".join(
            [
                "def encode(o, most=1 << 62):",
                *self.begin(),
                " try:",
                *self.lines,
                *too_large,
                *self.handlers(),
            ]
        )

    def finish(self) -> None:
        if self.looped:
            self.flush()
            self.lines.insert(
                0,
                f"  w = []; seen, look, size = 0, {PIECES_BETWEEN_LOOKS}, 0"
                if self.weighed
                else "  w = []",
            )
            self.emit('return b"".join(w)')
        else:
            self.emit(f"return {self.joined()}")

    def joined(self) -> str:
        parts = self.parts()
        if len(parts) < 4:
            return " + ".join(f"({part})" if " if " in part else part for part in parts) or 'b""'
        return f'b"".join(({", ".join(parts)}))'

    def parts(self) -> list[str]:
        """Return the expressions of bytes for the pieces so far; neighbouring fixed-width ones
        become one call.
        """
        parts: list[str] = []
        run: list[tuple[str, str]] = []
        for layout, value in [*self.pieces, (None, "")]:
            if layout is not None:
                run.append((layout, value))
                continue
            if run:
                pack = Layout(">" + "".join([layout for layout, _ in run])).pack
                parts.append(f"{self.name('S', pack)}({', '.join([value for _, value in run])})")
                run = []
            if value:
                parts.append(value)
        self.pieces.clear()
        return parts

    def flush(self) -> None:
        self.looped = True
        parts = self.parts()
        if len(parts) == 1:
            self.emit(f"{self.output}.append({parts[0]})")
        elif parts:
            self.emit(f"{self.output} += ({', '.join(parts)})")

    def struct(self, cls: StructType, source: str) -> None:
        plain, tagged = self.fields(cls)
        for field in plain:
            self.value(field, f"{source}.{field.name}")
        if not self.flexible:
            return
        if not tagged:
            self.pieces.append(
                (None, f"tags({source}.unknown_tags) if {source}.unknown_tags else SMALL[0]")
            )
            return
        self.flush()
        found = self.fresh("t")
        self.emit(f"{found} = {{**{source}.unknown_tags}} if {source}.unknown_tags else {{}}")
        for field in tagged:
            self.tag(field, found, f"{source}.{field.name}")
        self.pieces.append((None, f"tags({found}) if {found} else SMALL[0]"))

    def tag(self, field: Field, found: str, source: str) -> None:
        """Write the encoding of a tagged field, if it differs from its default (KIP-482)."""
        self.emit(f"if {differs(field, source)}:")
        self.depth += 1
        output, looped = self.output, self.looped
        self.output, self.looped = self.fresh("w"), False
        first = len(self.lines)
        self.value(field, source)
        if self.looped:
            self.flush()
            self.lines.insert(first, " " * self.depth + f"{self.output} = []")
            self.emit(f'{found}[{field.tag}] = b"".join({self.output})')
        else:
            self.emit(f"{found}[{field.tag}] = {self.joined()}")
        self.output, self.looped = output, looped
        self.depth -= 1

    def value(self, field: Field, source: str) -> None:
        nullable = self.version >= field.nullable
        if field.kind in LAYOUTS:
            self.pieces.append((LAYOUTS[field.kind], source))
        elif field.kind == "struct":
            self.nested(field, source, nullable)
        elif field.kind == "array":
            self.array(field, source, nullable)
        else:
            self.bytes(field, source, nullable)

    def prefix(self, layout: str, size: str, writer: str = "number") -> None:
        if self.flexible:
            self.pieces.append((None, f"SMALL[{size}] if {size} < 128 else {writer}({size})"))
        else:
            self.pieces.append((layout, size))

    def bytes(self, field: Field, source: str, nullable: bool) -> None:
        content, size = self.fresh("b"), self.fresh("n")
        text = field.kind == "string"
        off = 1 if self.flexible else 0
        plus = " + 1" if off else ""
        if nullable:
            self.emit(
                f"{content} = {source}",
                f"if {content} is None:",
                f' {size} = {off - 1}; {content} = b""',
                "else:",
            )
            self.depth += 1
            if text:
                self.emit(f"{content} = {content}.encode()")
        else:
            self.emit(f"{content} = {source}{'.encode()' if text else ''}")
        self.emit(f"{size} = len({content}){plus}")
        self.depth -= nullable
        self.prefix("h" if text else "i", size, "length" if text else "number")
        self.pieces.append((None, content))

    def array(self, field: Field, source: str, nullable: bool) -> None:
        elem = field.elem
        assert elem is not None
        items, size = self.fresh("v"), self.fresh("n")
        off = 1 if self.flexible else 0
        plus = " + 1" if off else ""
        self.emit(f"{items} = {source}")
        if nullable:
            self.emit(
                f"if {items} is None:",
                f" {size} = {off - 1}; {items} = ()",
                "else:",
                f" {size} = len({items}){plus}",
            )
        else:
            self.emit(f"{size} = len({items}){plus}")
        self.prefix("i", size)
        layout = LAYOUTS.get(elem.kind) if isinstance(elem, Field) else None
        if layout == "16s":
            self.pieces.append((None, f'b"".join({items})'))
            return
        if layout:
            self.pieces.append((None, f'pack(f">{{len({items})}}{layout}", *{items})'))
            return
        self.flush()
        item = self.fresh("x")
        self.emit(f"for {item} in {items}:")
        self.depth += 1
        if isinstance(elem, Field):
            self.value(elem, item)
        else:
            first = len(self.lines)
            self.struct(elem, item)
            if len(self.lines) == first and not self.pieces:
                self.emit("pass")
        self.flush()
        if self.output == "w" and self.message.bounded:
            self.weighed = True
            self.emit("if len(w) > look: seen, look, size = weigh(w, seen, size, most)")
        self.step()
        self.depth -= 1

    def nested(self, field: Field, source: str, nullable: bool) -> None:
        assert isinstance(field.elem, StructType)
        item = self.fresh("x")
        if nullable:
            self.flush()
            self.emit(
                f"{item} = {source}", f"if {item} is None:", f" {self.output}.append(NULL)", "else:"
            )
            self.depth += 1
            self.pieces.append(("b", "1"))
        else:
            self.emit(f"{item} = {source}")
        self.struct(field.elem, item)
        if nullable:
            self.flush()
            self.depth -= 1
