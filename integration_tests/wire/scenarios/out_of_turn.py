"""Every request while a client is to log in: it is answered, and the connection closes (SASL-2)."""

from __future__ import annotations

from typing import Any, Final

from coordinator.base.releases import NEWEST
from coordinator.wire.messages import API_KEYS, request_type
from coordinator.wire.schema import Field, StructType
from integration_tests.wire.raw import Closed, Plain, Silent
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.sasl import SASL

_OF_LOGINS: Final = ("SaslHandshake", "SaslAuthenticate", "ApiVersions")
_AT_ONCE: Final = 20
"""Each refusal comes a second late; so many are awaited together."""


def _two(cls: StructType, version: int, *, bare: bool = False) -> Plain:
    """Of each list two elements, of which the second has empty lists; strings are names."""
    return {
        field.name: _value(field, version, bare)
        for field in cls.fields
        if field.carried(version) and field.tag is None
    }


def _value(field: Field, version: int, bare: bool) -> Any:
    if field.kind == "struct":
        assert isinstance(field.elem, StructType)
        return _two(field.elem, version, bare=bare)
    if field.kind == "array":
        if bare:
            return []
        if isinstance(field.elem, StructType):
            return [_two(field.elem, version), _two(field.elem, version, bare=True)]
        assert isinstance(field.elem, Field)
        return [_value(field.elem, version, bare)]
    match field.kind:
        case "string":
            return "other" if bare else "name"
        case "boolean":
            return False
        case "uuid":
            return "ab" * 16
        case "float64":
            return 1.0
        case "binary" | "records":
            return "00"
        case _:
            return 2


def _told(link: Link) -> None:
    """Note whether there is an answer, and that the connection ends. Its fields are left open: Kafka
    fills some that an ordinary refusal of the API leaves empty."""
    try:
        awaited, _ = link.connection.receive()
    except (Closed, Silent) as failure:
        link.session.note(link.name, met=type(failure).__name__.lower())
    else:
        link.session.note(link.name, got=f"{awaited.api} v{awaited.version}")
        link.ends()


def _asked(s: Session, *requests: tuple[str, int, Plain]) -> None:
    """Each on a connection of its own that has chosen a mechanism."""
    for start in range(0, len(requests), _AT_ONCE):
        links = []
        for number, (api, version, fields) in enumerate(requests[start : start + _AT_ONCE], start):
            link = s.connect(f"{number}", broker=SASL)
            link.ask_quietly("SaslHandshake", 1, mechanism="PLAIN")
            link.send(api, version, **fields)
            links.append(link)
        for link in links:
            _told(link)


def _sample(version_of: int) -> list[tuple[str, int, Plain]]:
    """Every API in its lowest (0) or its highest (1) version."""
    samples = []
    for key, versions in NEWEST.api_versions.items():
        api, cls = API_KEYS[key], request_type(key)
        if api not in _OF_LOGINS:
            version = max(versions[version_of], cls.versions[0])
            samples.append((api, version, _two(cls, version)))
    return samples


@scenario("security", since="4.3")
def every_request_in_its_highest_version(s: Session) -> None:
    """Those of today."""
    _asked(s, *_sample(1))


@scenario("security", since="4.3")
def every_request_in_its_lowest_version(s: Session) -> None:
    """Those of old clients."""
    _asked(s, *_sample(0))


@scenario("security", since="4.3")
def a_request_without_an_answer(s: Session) -> None:
    """The connection closes at once."""
    produce: Plain = {"transactional_id": None, "acks": 0, "timeout_ms": 1_000, "topic_data": []}
    _asked(s, ("Produce", 9, produce))
