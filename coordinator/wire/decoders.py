"""Writes the source of decoders: `decode(data, p)` for one message and version, as a function or as
a generator that decodes in slices.

Two rules keep hostile bytes harmless. A slice never allocates more than what is left, and the next
read (or one check at the end) notices that it came out short; so only counts of arrays need a check
before the loop. What `IndexError` and `struct.error` say about running past the end is caught once,
around the whole function.

Kafka's reader is followed in what it forgives: a known tagged field is read in place whatever its
stated size, lengths below 0 mean null, malformed UTF-8 is replaced.
"""

from __future__ import annotations

import struct
from struct import Struct as Layout
from typing import Any, NoReturn

from .fields import Field, StructType
from .java_text import JAVA
from .primitives import (
    MOST_ELEMENTS,
    MOST_TAGS,
    WireError,
    read_any_tags,
    read_string_length,
    read_tags,
    read_uvarint,
    take,
)
from .source import LAYOUTS, SourceWriter, differs


class Decoder(SourceWriter):
    """A writer of `decode(data, p)`. `run` holds fixed-width fields not yet read: (layout, target
    of the assignment).
    """

    FAULTS = (WireError, IndexError, struct.error)

    def __init__(
        self, message: StructType, version: int, *, sliced: bool = False, limited: bool = True
    ) -> None:
        super().__init__(message, version, sliced=sliced)
        self.limited = limited
        self.run: list[tuple[str, str]] = []
        self.checked = True
        self.env |= {
            "new": object.__new__,
            "pick": struct.unpack_from,
            "number": read_uvarint,
            "length": read_string_length,
        }
        self.env |= {
            "tags": read_tags if limited else read_any_tags,
            "toomany": self.too_many,
            "take": take,
            "keep": _keep,
            "null": self.null,
            "many": self.many,
            "refused": self.refused,
        }

    def said(self, fault: Exception) -> str:
        return str(fault) if isinstance(fault, WireError) else "ends too early"

    def null(self, path: str) -> NoReturn:
        raise WireError(f"{path} is null")

    def refused(self, path: str) -> NoReturn:
        raise WireError(f"{path} is a tagged field of other versions")

    def many(self, path: str, count: int) -> NoReturn:
        raise WireError(f"{path} claims {count} elements, more than there are bytes left")

    def too_many(self, what: str, count: int, most: int) -> NoReturn:
        raise WireError(f"{what}: {count}, where 0 to {most} are taken")

    def source(self) -> tuple[str, dict[str, Any]]:
        top = self.new(self.message)
        self.struct(self.message, top, "")
        self.flush()
        if not self.checked:
            self.emit("if p > end: raise IndexError")
        self.emit(f"return {top}")
        return "\n".join(
            [
                "def decode(data, p):",
                *self.begin(),
                " end = len(data)",
                " try:",
                *self.lines,
                *self.handlers(),
            ]
        ), self.env

    def new(self, cls: StructType) -> str:
        target = self.fresh("o")
        self.emit(f"{target} = new({self.name('C', cls)})")
        return target

    def read(self, layout: str, target: str) -> None:
        self.run.append((layout, target))

    def flush(self) -> None:
        if not self.run:
            return
        targets = ", ".join([target for _, target in self.run])
        layouts = "".join([layout for layout, _ in self.run])
        self.run.clear()
        self.checked = True
        if layouts == "B":
            self.emit(f"{targets} = data[p]", "p += 1")
            return
        layout = Layout(">" + layouts)
        if len(layouts) == 1 or layouts == "16s":
            targets += ","
        self.emit(
            f"{targets} = {self.name('S', layout.unpack_from)}(data, p)", f"p += {layout.size}"
        )

    def struct(self, cls: StructType, target: str, path: str) -> None:
        plain, tagged = self.fields(cls)
        for field in cls.fields:
            if field not in plain:
                self.emit(f"{target}.{field.name} = {self.default(field)}")
        for field in plain:
            self.value(field, f"{target}.{field.name}", f"{path}{field.name}")
        if not self.flexible:
            self.emit(f"{target}.unknown_tags = None")
            return
        refused = [field for field in cls.fields if field.tag is not None and field not in tagged]
        if not tagged and not refused:
            if self.run:
                self.read("B", "n")
                self.flush()
                self.emit(
                    f"if n: {target}.unknown_tags, p = tags(data, p - 1)",
                    f"else: {target}.unknown_tags = None",
                )
            else:
                self.emit(
                    f"if data[p]: {target}.unknown_tags, p = tags(data, p)",
                    f"else: {target}.unknown_tags = None; p += 1",
                )
            self.checked = True
            return
        self.read("B", "n")
        self.flush()
        self.emit(f"{target}.unknown_tags = None", "if n:")
        self.depth += 1
        self.emit("if n > 127: n, p = number(data, p - 1)")
        if self.limited:
            self.emit(
                f"if n < 0 or n > {MOST_TAGS}: toomany({f'tagged fields of {cls.__name__}'!r}, n, {MOST_TAGS})"
            )
        self.tagged(tagged, refused, target, path)
        self.depth -= 1
        self.checked = False

    def tagged(self, tagged: list[Field], refused: list[Field], target: str, path: str) -> None:
        """Write the reading of tagged fields: known tags are read in place, whatever their stated
        size, as Kafka does; one of another version is refused.

        A tag with its default value is legal but not written by our encoder: its bytes are kept,
        so that they can be encoded again.
        """
        tag, start = self.fresh("t"), self.fresh("s")
        self.emit("for _ in range(n):")
        self.depth += 1
        self.emit(f"{tag}, p = number(data, p)", "z, p = number(data, p)")
        for i, field in enumerate(tagged + refused):
            self.emit(f"{'elif' if i else 'if'} {tag} == {field.tag}:")
            self.depth += 1
            if field in refused:
                self.emit(f"refused({path + field.name!r})")
            else:
                self.emit(f"{start} = p")
                self.value(field, f"{target}.{field.name}", f"{path}{field.name}")
                self.flush()
                self.emit(f"if not ({differs(field, f'{target}.{field.name}')}):")
                self.emit(
                    f" {target}.unknown_tags = keep({target}.unknown_tags, {tag}, data[{start}:p])"
                )
            self.depth -= 1
        self.emit(
            "else:",
            f" {start}, p = take(data, p, z)",
            f" {target}.unknown_tags = keep({target}.unknown_tags, {tag}, {start})",
        )
        self.step()
        self.depth -= 1

    def default(self, field: Field) -> str:
        if field.default is ...:
            return f"{self.name('C', field.elem)}()"
        return "[]" if field.default == () else repr(field.default)

    def value(self, field: Field, target: str, path: str) -> None:
        nullable = self.version >= field.nullable
        if field.kind in LAYOUTS:
            self.read(LAYOUTS[field.kind], target)
        elif field.kind == "struct":
            self.nested(field, target, path, nullable)
        elif field.kind == "array":
            self.array(field, target, path, nullable)
        else:
            self.bytes(field, target, path, nullable)

    def prefix(self, layout: str, reader: str, target: str, path: str, nullable: bool) -> int:
        """Write the reading of a length; return the number to subtract from it. A null is handled:
        the code that follows belongs in an `else`.
        """
        self.read("B" if self.flexible else layout, "n")
        self.flush()
        if self.flexible:
            self.emit(f"if n > 127: n, p = {reader}(data, p - 1)")
        limit = 1 if self.flexible else 0
        if nullable:
            self.emit(f"if n < {limit}: {target} = None", "else:")
            self.depth += 1
        else:
            self.emit(f"if n < {limit}: null({path!r})")
        return limit

    def bytes(self, field: Field, target: str, path: str, nullable: bool) -> None:
        text = field.kind == "string"
        off = self.prefix(
            "h" if text else "i", "length" if text else "number", target, path, nullable
        )
        cut = f"data[p:(p := p + n{' - 1' if off else ''})]"
        self.emit(f'{target} = {cut}.decode("utf-8", "{JAVA}")' if text else f"{target} = {cut}")
        self.depth -= nullable
        self.checked = False

    def array(self, field: Field, target: str, path: str, nullable: bool) -> None:
        elem = field.elem
        assert elem is not None
        if self.prefix("i", "number", target, path, nullable):
            self.emit("n -= 1")
        layout = LAYOUTS.get(elem.kind) if isinstance(elem, Field) else None
        size = Layout(">" + layout).size if layout else 1
        self.emit(f"if n > {'end - p' if size == 1 else f'(end - p) // {size}'}: many({path!r}, n)")
        if self.limited and self.sliced:  # no smaller request has so many
            self.emit(f"if n > {MOST_ELEMENTS}: toomany({path!r}, n, {MOST_ELEMENTS})")
        if layout == "16s":
            self.emit(
                f"{target} = [data[i:i + 16] for i in range(p, p + 16 * n, 16)]", "p += 16 * n"
            )
        elif layout:
            self.emit(
                f'{target} = list(pick(f">{{n}}{layout}", data, p)) if n else []',
                f"p += {size} * n",
            )
        else:
            self.loop(elem, target, path)
        self.depth -= nullable
        self.checked = False

    def loop(self, elem: StructType | Field, target: str, path: str) -> None:
        items = self.fresh("v")
        self.emit(f"{target} = {items} = []", "for _ in range(n):")
        self.depth += 1
        if isinstance(elem, Field):
            item = self.fresh("x")
            self.value(elem, item, f"{path}[]")
        else:
            item = self.new(elem)
            self.struct(elem, item, f"{path}[].")
        self.flush()
        self.emit(f"{items}.append({item})")
        self.step()
        self.depth -= 1

    def nested(self, field: Field, target: str, path: str, nullable: bool) -> None:
        assert isinstance(field.elem, StructType)
        if nullable:
            self.read("b", "n")
            self.flush()
            self.emit(f"if n < 0: {target} = None", "else:")
            self.depth += 1
        item = self.new(field.elem)
        self.emit(f"{target} = {item}")
        self.struct(field.elem, item, f"{path}.")
        if nullable:
            self.flush()
            self.depth -= 1
            self.checked = False


def _keep(tags: dict[int, bytes] | None, tag: int, value: bytes) -> dict[int, bytes]:
    if tags is None:
        return {tag & 0xFFFFFFFF: value}
    tags[tag & 0xFFFFFFFF] = value
    return tags
