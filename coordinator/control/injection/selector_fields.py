"""Which words of a Selector the requests of an API can fit at all: a Heartbeat names no topic, a
Fetch no generation.

A fault that no request can ever meet is refused when it is made. Follows how `matching` reads each
word off a request; does not depend on any one request.
"""

from __future__ import annotations

from typing import Final

from ...broker.error_responses import LISTED, NESTED
from ...wire.messages import request_type
from ..faults import API_NAMES, FaultError, Selector
from .matching import by_client_id

_FIELDS: Final[dict[str, frozenset[str]]] = {
    "group": frozenset({"group_id"}),
    "topic": frozenset({"topics", "topic_names", "resources"}),
    "member": frozenset({"member_id", "members"}),
    "instance_id": frozenset({"group_instance_id", "instance_id", "members"}),
    "generation": frozenset({"generation_id", "generation_id_or_member_epoch", "member_epoch"}),
    "transactional_id": frozenset(
        {
            "transactional_id",
            "v3_and_below_transactional_id",
            "transactional_ids",
            "coordinator_keys",
        }
    ),
}
_OF_RECORDS: Final = {
    "delivery": ("ShareFetch",),
    "offset": ("ShareFetch", "ShareAcknowledge"),
}
_SPOKEN: Final = {"instance_id": "group instance id", "transactional_id": "transactional id"}


def check_carried(selector: Selector) -> None:
    """Raise FaultError for a word that no request of the API says."""
    api = selector.api
    if api is None:
        return
    for word, apis in _OF_RECORDS.items():
        if getattr(selector, word) is not None and api not in apis:
            raise FaultError(
                f"{word}: only {' and '.join(apis)} are about single records: leave it out, or give another api"
            )
    for word, names in _FIELDS.items():
        if getattr(selector, word) is not None and not _carries(api, word, names):
            raise FaultError(
                f"{word}: a request of {api} names no {_SPOKEN.get(word, word)}: leave it out"
            )


def _carries(api: str, word: str, names: frozenset[str]) -> bool:
    if word == "topic" and (api in NESTED or api in ("OffsetFetch", "WriteTxnMarkers")):
        return True
    listed = LISTED.get(api)
    if listed is not None and listed.about == word:
        return True
    if word == "group" and (api in ("OffsetFetch", "FindCoordinator") or by_client_id(api)):
        return True
    return not names.isdisjoint(request_type(API_NAMES[api]).__slots__)
