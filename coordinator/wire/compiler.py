"""Turns the tables of `coordinator.wire.schema` into flat functions: one for each class, version and direction.

Nested structs and arrays are laid out inline, neighbouring fixed-width fields (with the length that follows them) are
one `struct.Struct` call, and nothing asks at run time what kind a field is. Source text is generated and compiled when
a version is first used; `decoder_source` and `encoder_source` show it.

Two rules keep hostile bytes harmless. A slice never allocates more than what is left, and one check at the end (or the
next read) notices that it came out short; so only counts of arrays need a check before the loop. What `IndexError` and
`struct.error` say about running past the end is caught once, around the whole function.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from struct import Struct as Layout
from typing import Any, NoReturn

from coordinator.wire.primitives import (
    MAX_STRING_BYTES,
    WireError,
    read_string_length,
    read_tags,
    read_uvarint,
    take,
    uvarint,
    write_tags,
)
from coordinator.wire.schema import Field, Message, Struct, StructType, check_version

_LAYOUTS = {"int8": "b", "int16": "h", "uint16": "H", "int32": "i", "int64": "q", "float64": "d", "boolean": "?", "uuid": "16s"}
"""Fixed-width kinds."""


def compile_init(cls: type[Struct]) -> Callable[..., None]:
    """Make the keyword constructor of `cls` and put it on the class."""
    env: dict[str, Any] = {"_FRESH": object()}
    parameters, body = [], []
    for i, field in enumerate(cls.fields):
        env[f"_d{i}"] = env["_FRESH"] if field.default == () or field.default is ... else field.default
        parameters.append(f"{field.name}=_d{i}")
        value = field.name
        if field.default is ...:
            env[f"_c{i}"] = field.elem
            value = f"_c{i}() if {field.name} is _FRESH else {field.name}"
        elif field.default == ():
            value = f"[] if {field.name} is _FRESH else {field.name}"
        body.append(f" self.{field.name} = {value}")
    head = f"def __init__(self, *, {', '.join([*parameters, 'unknown_tags=None'])}):"
    source = "\n".join([head, *body, " self.unknown_tags = unknown_tags"])
    exec(compile(source, f"<{cls.__name__}>", "exec"), env)
    init: Callable[..., None] = env["__init__"]
    cls.__init__ = init  # type: ignore[method-assign]
    return init


def compile_decoder(message: type[Message], version: int) -> Callable[[bytes, int], Any]:
    """Make the function (data, position) -> message, and keep it with the class. Raises `WireError` on an unknown version."""
    source, env = _Decoder(message, version).source()
    exec(compile(source, f"<decode {message.__name__} v{version}>", "exec"), env)
    decoder: Callable[[bytes, int], Any] = env["decode"]
    message._decoders[version] = decoder
    return decoder


def compile_encoder(message: type[Message], version: int) -> Callable[[Any], bytes]:
    """Make the function message -> bytes, and keep it with the class. Raises `WireError` on an unknown version."""
    source, env = _Encoder(message, version).source()
    exec(compile(source, f"<encode {message.__name__} v{version}>", "exec"), env)
    encoder: Callable[[Any], bytes] = env["encode"]
    message._encoders[version] = encoder
    return encoder


def encode_field(message: type[Message], version: int, field: Field, value: object) -> bytes:
    """One field's bytes, as they would stand in this version; for tools, not fast. Raises `WireError`."""
    source, env = _Encoder(message, version).field_source(field)
    exec(compile(source, f"<encode {field.name}>", "exec"), env)
    encoded: bytes = env["encode"](value)
    return encoded


def decoder_source(message: type[Message], version: int) -> str:
    """The generated decoder, for the curious."""
    return _Decoder(message, version).source()[0]


def encoder_source(message: type[Message], version: int) -> str:
    """The generated encoder, for the curious."""
    return _Encoder(message, version).source()[0]


def _keep(tags: dict[int, bytes] | None, tag: int, value: bytes) -> dict[int, bytes]:
    if tags is None:
        return {tag & 0xFFFFFFFF: value}
    tags[tag & 0xFFFFFFFF] = value
    return tags


def differs(field: Field, source: str) -> str:
    """An expression: is the value of `field`, found at `source`, another than its default?"""
    if field.default is ...:
        assert isinstance(field.elem, StructType)
        return " or ".join([*[differs(inner, f"{source}.{inner.name}") for inner in field.elem.fields], f"{source}.unknown_tags"])
    if field.default is None:
        return f"{source} is not None"
    return f"{source} != {'[]' if field.default == () else repr(field.default)}"


class _Writer:
    """What both directions share: lines under an indent, names for objects, fresh variables."""

    FAULTS: tuple[type[Exception], ...]

    def __init__(self, message: type[Message], version: int) -> None:
        check_version(message, version)
        self.message = message
        self.version = version
        self.flexible = version >= message.flexible
        self.title = f"{message.__name__} v{version}"
        self.lines: list[str] = []
        self.depth = 2
        self.count = 0
        self.env: dict[str, Any] = {"failed": self.failed, "FAULTS": self.FAULTS}

    def handlers(self) -> list[str]:
        """What ends the function: any fault becomes a `WireError` that names message and version."""
        return [" except FAULTS as fault:", "  raise failed(fault) from fault", ""]

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
        return [field for field in carried if field.tag is None], [field for field in carried if field.tag is not None and self.flexible]


class _Decoder(_Writer):
    """Writes `decode(data, p)`. `run` holds fixed-width fields not yet read: (layout, target of the assignment)."""

    FAULTS = (WireError, IndexError, struct.error)

    def __init__(self, message: type[Message], version: int) -> None:
        super().__init__(message, version)
        self.run: list[tuple[str, str]] = []
        self.checked = True
        self.env |= {"new": object.__new__, "pick": struct.unpack_from, "number": read_uvarint, "length": read_string_length}
        self.env |= {"tags": read_tags, "take": take, "keep": _keep, "null": self.null, "many": self.many}

    def said(self, fault: Exception) -> str:
        return str(fault) if isinstance(fault, WireError) else "ends too early"

    def null(self, path: str) -> NoReturn:
        raise WireError(f"{path} is null")

    def many(self, path: str, count: int, left: int) -> NoReturn:
        raise WireError(f"{path} claims {count} elements, {left} bytes are left")

    def source(self) -> tuple[str, dict[str, Any]]:
        top = self.new(self.message)
        self.struct(self.message, top, "")
        self.flush()
        if not self.checked:
            self.emit("if p > len(data): raise IndexError")
        self.emit(f"return {top}")
        return "\n".join(["def decode(data, p):", " try:", *self.lines, *self.handlers()]), self.env

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
        self.emit(f"{targets} = {self.name('S', layout.unpack_from)}(data, p)", f"p += {layout.size}")

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
        self.read("B", "n")
        self.flush()
        refused = [field for field in cls.fields if field.tag is not None and field not in tagged]
        if not tagged and not refused:
            self.emit("if n:", "  if n > 127: n, p = number(data, p - 1)", f"  {target}.unknown_tags, p = tags(data, p, n)")
            self.emit(f"else: {target}.unknown_tags = None")
            self.checked = True
            return
        self.emit(f"{target}.unknown_tags = None", "if n:")
        self.depth += 1
        self.emit("if n > 127: n, p = number(data, p - 1)")
        self.tagged(tagged, refused, target, path)
        self.depth -= 1
        self.checked = False

    def tagged(self, tagged: list[Field], refused: list[Field], target: str, path: str) -> None:
        """Known tags are read in place, whatever their stated size, as Kafka does; one of another version is refused.

        One that carries its default is legal but not what our encoder writes: its bytes are kept, to give them back.
        """
        tag, start = self.fresh("t"), self.fresh("s")
        self.emit("for _ in range(n):")
        self.depth += 1
        self.emit(f"{tag}, p = number(data, p)", "z, p = number(data, p)")
        for i, field in enumerate(tagged + refused):
            self.emit(f"{'elif' if i else 'if'} {tag} == {field.tag}:")
            self.depth += 1
            if field in refused:
                self.emit(f"null({path + field.name + ': tag ' + str(field.tag) + ' of another version; it'!r})")
            else:
                self.emit(f"{start} = p")
                self.value(field, f"{target}.{field.name}", f"{path}{field.name}")
                self.flush()
                self.emit(f"if not ({differs(field, f'{target}.{field.name}')}):")
                self.emit(f" {target}.unknown_tags = keep({target}.unknown_tags, {tag}, data[{start}:p])")
            self.depth -= 1
        self.emit("else:", f" {start}, p = take(data, p, z)", f" {target}.unknown_tags = keep({target}.unknown_tags, {tag}, {start})")
        self.depth -= 1

    def default(self, field: Field) -> str:
        if field.default is ...:
            return f"{self.name('C', field.elem)}()"
        return "[]" if field.default == () else repr(field.default)

    def value(self, field: Field, target: str, path: str) -> None:
        nullable = self.version >= field.nullable
        if field.kind in _LAYOUTS:
            self.read(_LAYOUTS[field.kind], target)
        elif field.kind == "struct":
            self.nested(field, target, path, nullable)
        elif field.kind == "array":
            self.array(field, target, path, nullable)
        else:
            self.bytes(field, target, path, nullable)

    def prefix(self, layout: str, reader: str, target: str, path: str, nullable: bool) -> int:
        """Read a length; give what must be taken off it. A null is dealt with: what follows belongs to an `else`."""
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
        off = self.prefix("h" if text else "i", "length" if text else "number", target, path, nullable)
        self.emit(f"e = p + n{' - 1' if off else ''}")
        self.emit(f'{target} = str(data[p:e], "utf-8", "replace")' if text else f"{target} = data[p:e]", "p = e")
        self.depth -= nullable
        self.checked = False

    def array(self, field: Field, target: str, path: str, nullable: bool) -> None:
        elem = field.elem
        assert elem is not None
        if self.prefix("i", "number", target, path, nullable):
            self.emit("n -= 1")
        layout = _LAYOUTS.get(elem.kind) if isinstance(elem, Field) else None
        size = Layout(">" + layout).size if layout else 1
        self.emit(f"if n > {'(len(data) - p)' if size == 1 else f'(len(data) - p) // {size}'}: many({path!r}, n, len(data) - p)")
        if layout == "16s":
            self.emit(f"{target} = [data[i:i + 16] for i in range(p, p + 16 * n, 16)]", "p += 16 * n")
        elif layout:
            self.emit(f'{target} = list(pick(f">{{n}}{layout}", data, p)) if n else []', f"p += {size} * n")
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


class _Encoder(_Writer):
    """Writes `encode(o)`. `pieces` are expressions not yet appended: (layout, value), or (None, bytes)."""

    FAULTS = (WireError, struct.error, AttributeError, TypeError, UnicodeEncodeError)

    def __init__(self, message: type[Message], version: int) -> None:
        super().__init__(message, version)
        self.pieces: list[tuple[str | None, str]] = []
        self.output = "w"
        self.looped = False
        self.env |= {"number": uvarint, "SMALL": tuple(bytes((n,)) for n in range(128)), "tags": write_tags, "pack": struct.pack}
        self.env["long"] = self.long

    def long(self, path: str, size: int) -> NoReturn:
        raise WireError(f"{path} is {size} bytes long: {MAX_STRING_BYTES} is the most")

    def source(self) -> tuple[str, dict[str, Any]]:
        self.struct(self.message, "o", "")
        self.finish()
        return self.function(), self.env

    def field_source(self, field: Field) -> tuple[str, dict[str, Any]]:
        self.value(field, "o", field.name)
        self.finish()
        return self.function(), self.env

    def function(self) -> str:
        return "\n".join(["def encode(o):", " try:", *self.lines, *self.handlers()])

    def finish(self) -> None:
        if self.looped:
            self.flush()
            self.lines.insert(0, "  w = []")
            self.emit('return b"".join(w)')
        else:
            self.emit(f"return {self.joined()}")

    def joined(self) -> str:
        parts = self.parts()
        if len(parts) < 4:
            return " + ".join(f"({part})" if " if " in part else part for part in parts) or 'b""'
        return f'b"".join(({", ".join(parts)}))'

    def parts(self) -> list[str]:
        """Expressions of bytes for the pieces so far: neighbouring fixed-width ones become one call."""
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

    def struct(self, cls: StructType, source: str, path: str) -> None:
        plain, tagged = self.fields(cls)
        for field in plain:
            self.value(field, f"{source}.{field.name}", f"{path}{field.name}")
        if not self.flexible:
            return
        if not tagged:
            self.pieces.append((None, f"tags({source}.unknown_tags) if {source}.unknown_tags else SMALL[0]"))
            return
        self.flush()
        found = self.fresh("t")
        self.emit(f"{found} = {{**{source}.unknown_tags}} if {source}.unknown_tags else {{}}")
        for field in tagged:
            self.tag(field, found, f"{source}.{field.name}", f"{path}{field.name}")
        self.pieces.append((None, f"tags({found}) if {found} else SMALL[0]"))

    def tag(self, field: Field, found: str, source: str, path: str) -> None:
        """A tagged field is written only where it differs from its default (KIP-482)."""
        self.emit(f"if {differs(field, source)}:")
        self.depth += 1
        output, looped = self.output, self.looped
        self.output, self.looped = self.fresh("w"), False
        first = len(self.lines)
        self.value(field, source, path)
        if self.looped:
            self.flush()
            self.lines.insert(first, " " * self.depth + f"{self.output} = []")
            self.emit(f'{found}[{field.tag}] = b"".join({self.output})')
        else:
            self.emit(f"{found}[{field.tag}] = {self.joined()}")
        self.output, self.looped = output, looped
        self.depth -= 1

    def value(self, field: Field, source: str, path: str) -> None:
        nullable = self.version >= field.nullable
        if field.kind in _LAYOUTS:
            self.pieces.append((_LAYOUTS[field.kind], source))
        elif field.kind == "struct":
            self.nested(field, source, path, nullable)
        elif field.kind == "array":
            self.array(field, source, path, nullable)
        else:
            self.bytes(field, source, path, nullable)

    def prefix(self, layout: str, size: str) -> None:
        if self.flexible:
            self.pieces.append((None, f"SMALL[{size}] if {size} < 128 else number({size})"))
        else:
            self.pieces.append((layout, size))

    def bytes(self, field: Field, source: str, path: str, nullable: bool) -> None:
        content, size = self.fresh("b"), self.fresh("n")
        text = field.kind == "string"
        off = 1 if self.flexible else 0
        plus = " + 1" if off else ""
        if nullable:
            self.emit(f"{content} = {source}", f"if {content} is None:", f' {size} = {off - 1}; {content} = b""', "else:")
            self.depth += 1
            if text:
                self.emit(f"{content} = {content}.encode()")
        else:
            self.emit(f"{content} = {source}{'.encode()' if text else ''}")
        self.emit(f"{size} = len({content}){plus}")
        if text:
            self.emit(f"if {size} > {MAX_STRING_BYTES + off}: long({path!r}, {size})")
        self.depth -= nullable
        self.prefix("h" if text else "i", size)
        self.pieces.append((None, content))

    def array(self, field: Field, source: str, path: str, nullable: bool) -> None:
        elem = field.elem
        assert elem is not None
        items, size = self.fresh("v"), self.fresh("n")
        off = 1 if self.flexible else 0
        plus = " + 1" if off else ""
        self.emit(f"{items} = {source}")
        if nullable:
            self.emit(f"if {items} is None:", f" {size} = {off - 1}; {items} = ()", "else:", f" {size} = len({items}){plus}")
        else:
            self.emit(f"{size} = len({items}){plus}")
        self.prefix("i", size)
        layout = _LAYOUTS.get(elem.kind) if isinstance(elem, Field) else None
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
            self.value(elem, item, f"{path}[]")
        else:
            first = len(self.lines)
            self.struct(elem, item, f"{path}[].")
            if len(self.lines) == first and not self.pieces:
                self.emit("pass")
        self.flush()
        self.depth -= 1

    def nested(self, field: Field, source: str, path: str, nullable: bool) -> None:
        assert isinstance(field.elem, StructType)
        item = self.fresh("x")
        if nullable:
            self.flush()
            self.emit(f"{item} = {source}", f"if {item} is None:", f" {self.output}.append(NULL)", "else:")
            self.env["NULL"] = b"\xff"
            self.depth += 1
            self.pieces.append(("b", "1"))
        else:
            self.emit(f"{item} = {source}")
        self.struct(field.elem, item, f"{path}.")
        if nullable:
            self.flush()
            self.depth -= 1
