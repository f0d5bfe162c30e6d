"""Turns the tables of `coordinator.wire.schema` into flat functions: one for each class, version and direction.

Nested structs and arrays are laid out inline, neighbouring fixed-width fields (with the length that follows them) are
one `struct.Struct` call, and nothing asks at run time what kind a field is. Source text is generated and compiled when
a version is first used (a fifth of a millisecond for a Heartbeat, one for a Fetch); `decoder_source` and
`encoder_source` show it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from coordinator.wire.decoders import Decoder
from coordinator.wire.encoders import Encoder
from coordinator.wire.schema import Field, Message, Struct


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
    source, env = Decoder(message, version).source()
    exec(compile(source, f"<decode {message.__name__} v{version}>", "exec"), env)
    decoder: Callable[[bytes, int], Any] = env["decode"]
    message._decoders[version] = decoder
    return decoder


def compile_encoder(message: type[Message], version: int) -> Callable[[Any], bytes]:
    """Make the function message -> bytes, and keep it with the class. Raises `WireError` on an unknown version."""
    source, env = Encoder(message, version).source()
    exec(compile(source, f"<encode {message.__name__} v{version}>", "exec"), env)
    encoder: Callable[[Any], bytes] = env["encode"]
    message._encoders[version] = encoder
    return encoder


def encode_field(message: type[Message], version: int, field: Field, value: object) -> bytes:
    """One field's bytes, as they would stand in this version; for tools, not fast. Raises `WireError`."""
    source, env = Encoder(message, version).field_source(field)
    exec(compile(source, f"<encode {field.name}>", "exec"), env)
    encoded: bytes = env["encode"](value)
    return encoded


def decoder_source(message: type[Message], version: int) -> str:
    """The generated decoder, for the curious."""
    return Decoder(message, version).source()[0]


def encoder_source(message: type[Message], version: int) -> str:
    """The generated encoder, for the curious."""
    return Encoder(message, version).source()[0]
