"""Turns the tables of `coordinator.wire.fields` into flat functions: one for each class, version
and direction.

Nested structs and arrays are laid out inline, neighbouring fixed-width fields (with the length that
follows them) are one `struct.Struct` call, and nothing asks at run time what kind a field is.
Source text is generated and compiled when a version is first used (a fifth of a millisecond for a
Heartbeat, one for a Fetch); `decoder_source` and `encoder_source` show it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import cache
from typing import Any

from .decoders import Decoder
from .encoders import Encoder
from .fields import Field, StructType


def compile_init(cls: StructType) -> Callable[..., None]:
    """Compile the keyword constructor of `cls` and set it on the class."""
    env: dict[str, Any] = {"_FRESH": object()}
    parameters, body = [], []
    for i, field in enumerate(cls.fields):
        env[f"_d{i}"] = (
            env["_FRESH"] if field.default == () or field.default is ... else field.default
        )
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
    cls.__init__ = init  # type: ignore[misc]
    return init


def compile_decoder(
    message: StructType, version: int, *, limited: bool = True
) -> Callable[[bytes, int], Any]:
    """Compile the function (data, position) -> message, which the class keeps. Raises `WireError`
    on an unknown version.
    """
    source, env = Decoder(message, version, limited=limited).source()
    exec(compile(source, f"<decode {message.__name__} v{version}>", "exec"), env)
    decoder: Callable[[bytes, int], Any] = env["decode"]
    return decoder


def compile_encoder(message: StructType, version: int) -> Callable[..., bytes]:
    """Compile the function (message, most bytes) -> bytes, which the class keeps. Raises
    `WireError` on an unknown version.
    """
    source, env = Encoder(message, version).source()
    exec(compile(source, f"<encode {message.__name__} v{version}>", "exec"), env)
    encoder: Callable[..., bytes] = env["encode"]
    return encoder


@cache
def compile_sliced_decoder(
    message: StructType, version: int, limited: bool = True
) -> Callable[[bytes, int], Generator[None, Any, Any]]:
    """Compile a generator that decodes as `compile_decoder`'s function does, with stops, and
    returns the message.
    """
    source, env = Decoder(message, version, sliced=True, limited=limited).source()
    exec(compile(source, f"<decode {message.__name__} v{version} in slices>", "exec"), env)
    decoder: Callable[[bytes, int], Generator[None, Any, Any]] = env["decode"]
    return decoder


@cache
def compile_sliced_encoder(
    message: StructType, version: int
) -> Callable[..., Generator[None, Any, bytes]]:
    """Compile a generator that encodes as `compile_encoder`'s function does, with stops, and
    returns the bytes.
    """
    source, env = Encoder(message, version, sliced=True).source()
    exec(compile(source, f"<encode {message.__name__} v{version} in slices>", "exec"), env)
    encoder: Callable[..., Generator[None, Any, bytes]] = env["encode"]
    return encoder


def encode_field(message: StructType, version: int, field: Field, value: object) -> bytes:
    """Return the bytes of one field in this version; for tools, not fast. Raises `WireError`."""
    source, env = Encoder(message, version).field_source(field)
    exec(compile(source, f"<encode {field.name}>", "exec"), env)
    encoded: bytes = env["encode"](value)
    return encoded


def decoder_source(message: StructType, version: int) -> str:
    """Return the source of the generated decoder, for debugging."""
    return Decoder(message, version).source()[0]


def encoder_source(message: StructType, version: int) -> str:
    """Return the source of the generated encoder, for debugging."""
    return Encoder(message, version).source()[0]
