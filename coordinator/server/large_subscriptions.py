"""Requests of groups whose subscriptions name very many topics: those are read in slices before the
group decides in one piece.

A classic member's subscription is bytes until it is asked for: when a generation begins, when the
group becomes a consumer group, when such a member joins one. Does not depend on what is decided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.wire.consumer_protocol import read_topics_in_slices

from .requests.call import Sliced

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coordinator.base.slices import Slices

    from .broker import Broker
    from .requests.call import Call, Result


def with_topics_read(
    broker: Broker, call: Call, subscriptions: Iterable[bytes], fresh_id: str
) -> Sliced:
    """Put a request before the group coordinator once these subscriptions are read. Meanwhile the
    group may change: what it needs then and is not read yet is read then."""
    return Sliced(_work(broker, call, subscriptions, fresh_id))


def _work(
    broker: Broker, call: Call, subscriptions: Iterable[bytes], fresh_id: str
) -> Slices[Result]:
    held = set()  # as long as they are held they need not be read again
    for data in dict.fromkeys(subscriptions):
        held.add((yield from read_topics_in_slices(bytes(data))))
    now = yield
    return broker.coordinate(call._replace(now=now), call.message, fresh_id)
