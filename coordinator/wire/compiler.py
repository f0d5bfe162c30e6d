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
    """Make the keyword constructor of `cls` and put it on the class."""
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
    """Make the function (data, position) -> message; the class keeps it. Raises `WireError` on an
    unknown version."""
    source, env = Decoder(message, version, limited=limited).source()
    exec(compile(source, f"<decode {message.__name__} v{version}>", "exec"), env)
    decoder: Callable[[bytes, int], Any] = env["decode"]
    return decoder


def compile_encoder(message: StructType, version: int) -> Callable[..., bytes]:
    """Make the function (message, most bytes) -> bytes; the class keeps it. Raises `WireError` on
    an unknown version."""
    source, env = Encoder(message, version).source()
    exec(compile(source, f"<encode {message.__name__} v{version}>", "exec"), env)
    encoder: Callable[..., bytes] = env["encode"]
    return encoder


@cache
def compile_sliced_decoder(
    message: StructType, version: int, limited: bool = True
) -> Callable[[bytes, int], Generator[None, Any, Any]]:
    """As `compile_decoder`, for a generator that stops from time to time and returns the
    message."""
    source, env = Decoder(message, version, sliced=True, limited=limited).source()
    exec(compile(source, f"<decode {message.__name__} v{version} in slices>", "exec"), env)
    decoder: Callable[[bytes, int], Generator[None, Any, Any]] = env["decode"]
    return decoder


@cache
def compile_sliced_encoder(
    message: StructType, version: int
) -> Callable[..., Generator[None, Any, bytes]]:
    """As `compile_encoder`, for a generator that stops from time to time and returns the bytes."""
    source, env = Encoder(message, version, sliced=True).source()
    exec(compile(source, f"<encode {message.__name__} v{version} in slices>", "exec"), env)
    encoder: Callable[..., Generator[None, Any, bytes]] = env["encode"]
    return encoder


def encode_field(message: StructType, version: int, field: Field, value: object) -> bytes:
    """One field's bytes, as they would stand in this version; for tools, not fast. Raises
    `WireError`."""
    source, env = Encoder(message, version).field_source(field)
    exec(compile(source, f"<encode {field.name}>", "exec"), env)
    encoded: bytes = env["encode"](value)
    return encoded


def decoder_source(message: StructType, version: int) -> str:
    """The generated decoder, for the curious."""
    return Decoder(message, version).source()[0]


def encoder_source(message: StructType, version: int) -> str:
    """The generated encoder, for the curious."""
    return Encoder(message, version).source()[0]
