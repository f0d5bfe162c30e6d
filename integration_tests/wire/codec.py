"""The project's message tables as the codec of raw connections: plain dicts in, plain dicts out,
defaults filled in."""

from __future__ import annotations

from typing import Any, Final

from coordinator.base.releases import release_named
from coordinator.wire.framing import request_header_version, response_header_version
from coordinator.wire.json_values import to_plain
from coordinator.wire.messages import API_KEYS, request_type, response_type
from coordinator.wire.schema import Field, StructType
from integration_tests.wire.raw import Plain


class TableCodec:
    """A `raw.Codec` over `coordinator.wire`."""

    def __init__(self) -> None:
        self._keys = {name: key for key, name in API_KEYS.items()}

    def key(self, api: str) -> int:
        """The API key. Raises KeyError for a name the protocol does not have."""
        return self._keys[api]

    def spoken(self, api: str, version: int) -> int:
        """As asked."""
        return version

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


_LOWERED: Final = {
    "DescribeCluster": (2,),
    "DescribeGroups": (6,),
    "EndTxn": (5,),
    "ListOffsets": (10, 11),
    "Metadata": (13,),
    "Produce": (12,),
    "TxnOffsetCommit": (5,),
}
"""Versions in whose place a lower one says the same of most requests: topics have names in both."""


class OlderCodec(TableCodec):
    """Of a release that lacks some versions: where a lower one says the same, the highest that it
    has is sent."""

    def __init__(self, release: str) -> None:
        super().__init__()
        self._versions = release_named(release).api_versions if release in LOWERS else {}

    def spoken(self, api: str, version: int) -> int:
        """The version asked for, or the highest in its place."""
        if version not in _LOWERED.get(api, ()) or not self._versions:
            return version
        return min(version, self._versions[self.key(api)][1])


LOWERS: Final = frozenset({"3.9"})
"""Releases on which scenarios are played so. On those since 4.0 a scenario ends at a version that
they lack."""


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
