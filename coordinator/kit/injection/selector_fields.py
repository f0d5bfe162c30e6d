"""The fields of a Selector that requests of an API can match: a Heartbeat names no topic, a Fetch
no generation.

A fault that no request can ever meet is refused when it is made. This module follows `matching`,
but must not depend on any single request.
"""

from __future__ import annotations

from typing import Final

from coordinator.wire.messages import request_type

from ..faults import API_NAMES, FaultError, Selector
from . import carried
from .matching import by_client_id

_SELECTABLE: Final = (
    "group",
    "topic",
    "member",
    "instance_id",
    "generation",
    "transactional_id",
)
_FIELDS: Final[dict[str, frozenset[str]]] = {
    "member": frozenset({"member_id", "members"}),
    "instance_id": frozenset({"group_instance_id", "instance_id", "members"}),
    "generation": frozenset({"generation_id", "generation_id_or_member_epoch", "member_epoch"}),
}
_OF_RECORDS: Final = {
    "delivery": ("ShareFetch",),
    "offset": ("ShareFetch", "ShareAcknowledge"),
}
_SPOKEN: Final = {"instance_id": "group instance id", "transactional_id": "transactional id"}


def check_carried(selector: Selector) -> None:
    """Raise FaultError for a field that no request of the API can match."""
    api = selector.api
    if api is None:
        return
    for word, apis in _OF_RECORDS.items():
        if getattr(selector, word) is not None and api not in apis:
            raise FaultError(
                f"{word}: only {' and '.join(apis)} are about single records: leave it out, or give another api"
            )
    for word in _SELECTABLE:
        if getattr(selector, word) is not None and not _carries(api, word):
            raise FaultError(
                f"{word}: a request of {api} names no {_SPOKEN.get(word, word)}: leave it out"
            )


def _carries(api: str, word: str) -> bool:
    kind = request_type(API_NAMES[api])
    if word == "topic":
        return carried.names_topics(kind)
    if word == "group":
        return api == "FindCoordinator" or by_client_id(api) or carried.names_groups(kind)
    if word == "transactional_id":
        return api == "FindCoordinator" or carried.names_transactional_ids(kind)
    return not _FIELDS[word].isdisjoint(kind.__slots__)
