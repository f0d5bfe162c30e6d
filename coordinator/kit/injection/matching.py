"""Decides whether a fault selects a request, and which items of the request it selects.

Knows where each field of a Selector is found in a request: names, ids and generations in fields
of their own, items in lists. What a request does not say (the phase of its group, the group of a
client id, the name of a topic id) is asked of a `Surroundings`. This module must not know what a
fault does to the request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from coordinator.server.requests.call import Call
from coordinator.server.requests.refusals import Place
from coordinator.wire.messages.fetch import FetchRequest
from coordinator.wire.messages.share_fetch import ShareFetchRequest
from coordinator.wire.schema import Request

from ..faults import Selector
from . import carried


class Surroundings(Protocol):
    """Queries of this module to the broker that received a request."""

    def state_of(self, group: str) -> str | None:
        """Return the group's state as Kafka spells it; None if it does not exist."""

    def has_client(self, group: str, client_id: str) -> bool:
        """Return True if a member of the group has this client id."""

    def topic_name(self, topic_id: bytes) -> str | None:
        """Return the name of a topic, or None if no topic has this id."""

    def fetched(self, message: FetchRequest) -> list[Place]:
        """Return the partitions that a Fetch reads, those of its fetch session included."""

    def share_fetched(self, message: ShareFetchRequest) -> list[Place]:
        """Return the partitions that a ShareFetch reads, those of its share session included."""


def selects(
    selector: Selector, api: str, call: Call, broker: int, around: Surroundings
) -> Callable[[Place], bool] | None:
    """Return None if the request is not selected, else a function that says which of its items
    are."""
    message = call.message
    if selector.api is not None and selector.api != api:
        return None
    if selector.broker is not None and selector.broker != broker:
        return None
    if selector.client_id is not None and selector.client_id != call.client_id:
        return None
    if selector.member is not None and not any(
        member.startswith(selector.member) for member in _members(message)
    ):
        return None
    if selector.instance_id is not None and selector.instance_id not in _instances(message):
        return None
    if selector.generation is not None and selector.generation != _generation(message):
        return None
    groups = groups_of(api, message)
    if selector.group is not None and selector.group not in groups:
        if groups or not by_client_id(api) or not around.has_client(selector.group, call.client_id):
            return None
    if (
        selector.transactional_id is not None
        and selector.transactional_id not in _transactional_ids(api, message)
    ):
        return None
    if selector.phase is not None and not _in_phase(selector, groups, call, around):
        return None
    chosen = _items(selector, api, groups, around)
    if selector.delivery is not None:
        return chosen  # the answer shows it
    if selector.offset is not None:
        return chosen if _acknowledges(selector, message, around) else None
    if selector.topic is not None and not any(map(chosen, _places(message, around))):
        return None
    return chosen


def hands_out(selector: Selector, answer: Any, around: Surroundings) -> bool:
    """Return True if a response to ShareFetch returns the selected record with the selected
    delivery count."""
    return any(
        of.first_offset <= selector.offset <= of.last_offset
        and of.delivery_count == selector.delivery
        for row in _rows(selector, answer.responses, around)
        for of in row.acquired_records
    )


def _acknowledges(selector: Selector, message: Request, around: Surroundings) -> bool:
    return any(
        of.first_offset <= selector.offset <= of.last_offset
        for row in _rows(selector, getattr(message, "topics", ()), around)
        for of in getattr(row, "acknowledgement_batches", ())
    )


def _rows(selector: Selector, topics: Any, around: Surroundings) -> Iterator[Any]:
    """Yield the entries of the selected partition in a ShareFetch or ShareAcknowledge, or in its
    response."""
    for topic in topics:
        topic_id = getattr(topic, "topic_id", None)
        if topic_id is not None and around.topic_name(topic_id) == selector.topic:
            for row in getattr(topic, "partitions", ()):  # a Metadata names topics alone
                if getattr(row, "partition_index", None) == selector.partition:
                    yield row


def _items(
    selector: Selector, api: str, groups: list[str], around: Surroundings
) -> Callable[[Place], bool]:
    """Return a function that says whether an item of the request, which fits as a whole, is
    selected."""
    many_groups = selector.group is not None and len(groups) > 1

    def chosen(place: Place) -> bool:
        if selector.topic is not None:
            name = (
                place.topic
                if place.topic is not None or place.topic_id is None
                else around.topic_name(place.topic_id)
            )
            if (name is not None or place.partition is not None) and name != selector.topic:
                return False
            if (
                selector.partition is not None
                and place.partition is not None
                and place.partition != selector.partition
            ):
                return False
        return not (many_groups and place.group is not None and place.group != selector.group)

    return chosen


def by_client_id(api: str) -> bool:
    """Return True if requests of this API name no group, so that they belong to the group that
    has a member with their client id."""
    return api in ("Fetch", "Produce", "ListOffsets", "Metadata", "OffsetForLeaderEpoch")


def _in_phase(selector: Selector, groups: list[str], call: Call, around: Surroundings) -> bool:
    asked = groups or ([selector.group] if selector.group is not None else [])
    return any((around.state_of(group) or "Dead") == selector.phase for group in asked)


def groups_of(api: str, message: Request) -> list[str]:
    """Return the groups that a request names."""
    if api == "FindCoordinator":
        keys = list(message.coordinator_keys) or [message.key]  # type: ignore[attr-defined]
        return keys if message.key_type == 0 else []  # type: ignore[attr-defined]
    return carried.groups(message)


def _members(message: Request) -> list[str]:
    member = getattr(message, "member_id", "")
    if member:
        return [member]
    return [
        entry.member_id
        for entry in getattr(message, "members", ()) or ()
        if getattr(entry, "member_id", "")
    ]


def _instances(message: Request) -> list[str]:
    found = [getattr(message, "group_instance_id", None), getattr(message, "instance_id", None)]
    found += [
        getattr(entry, "group_instance_id", None) for entry in getattr(message, "members", ()) or ()
    ]
    return [instance for instance in found if instance is not None]


def _generation(message: Request) -> int | None:
    for name in ("generation_id", "generation_id_or_member_epoch", "member_epoch"):
        value: int | None = getattr(message, name, None)
        if value is not None:
            return value
    return None


def _transactional_ids(api: str, message: Request) -> list[str]:
    if api == "FindCoordinator" and message.key_type == 1:  # type: ignore[attr-defined]
        return list(message.coordinator_keys) or [message.key]  # type: ignore[attr-defined]
    return carried.transactional_ids(message)


def _places(message: Request, around: Surroundings) -> list[Place]:
    """Return the topics and partitions that a request concerns, those of its fetch session
    included."""
    if isinstance(message, FetchRequest):
        return around.fetched(message)
    if isinstance(message, ShareFetchRequest):
        return around.share_fetched(message)
    return carried.places(message)
