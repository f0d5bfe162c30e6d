"""The project's message tables as the codec of raw connections: plain dicts in, plain dicts out,
defaults filled in."""

from __future__ import annotations

from typing import Any

from coordinator.wire.framing import request_header_version, response_header_version
from coordinator.wire.messages import API_KEYS, request_type, response_type
from coordinator.wire.plain import to_plain
from coordinator.wire.schema import Field, StructType
from integration_tests.wire.raw import Plain


class TableCodec:
    """A `raw.Codec` over `coordinator.wire`."""

    def __init__(self) -> None:
        self._keys = {name: key for key, name in API_KEYS.items()}

    def key(self, api: str) -> int:
        """The API key. Raises KeyError for a name the protocol does not have."""
        return self._keys[api]

    def header_versions(self, api: str, version: int) -> tuple[int, int]:
        """Versions of the request's and the response's header."""
        return request_header_version(self.key(api), version), response_header_version(
            self.key(api), version
        )

    def encode(self, api: str, version: int, fields: Plain) -> bytes:
        """The body; a name the table does not know is a TypeError."""
        return bytes(_made(request_type(self.key(api)), fields).encode(version))

    def decode(self, api: str, version: int, body: bytes) -> Plain:
        """The body's fields, those of this version."""
        return to_plain(response_type(self.key(api)).decode(version, body), version)


def _made(cls: StructType, fields: Plain) -> Any:
    known = {field.name: field for field in cls.fields}
    return cls(
        **{
            name: _value(known[name], value) if name in known else value
            for name, value in fields.items()
        }
    )


def _value(field: Field, value: Any) -> Any:
    if value is None:
        return None
    if field.kind in ("binary", "uuid"):
        return bytes.fromhex(value)
    if field.kind == "array":
        elem = field.elem
        return [_made(elem, item) if isinstance(elem, StructType) else item for item in value]
    if field.kind == "struct":
        assert isinstance(field.elem, StructType)
        return _made(field.elem, value)
    return value
