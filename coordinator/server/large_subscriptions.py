"""Requests of groups whose subscriptions name very many topics: subscriptions are decoded in slices
before the group coordinator handles the request in one step.

A classic member's subscription stays encoded until it is needed: when a generation begins, when
the group becomes a consumer group, or when such a member joins one. Does not know what is
decided.
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
    """Handle a request with the group coordinator after decoding these subscriptions. The group may
    change meanwhile; subscriptions that are needed then and not yet decoded are decoded at once.
    """
    return Sliced(_work(broker, call, subscriptions, fresh_id))


def _work(
    broker: Broker, call: Call, subscriptions: Iterable[bytes], fresh_id: str
) -> Slices[Result]:
    held = set()  # as long as they are held they need not be read again
    for data in dict.fromkeys(subscriptions):
        held.add((yield from read_topics_in_slices(bytes(data))))
    now = yield
    return broker.groups.coordinate(call._replace(now=now), call.message, fresh_id)
