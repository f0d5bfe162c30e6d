"""Reasons why a wait for a group ended in vain that lie outside the group: brokers, clients and
peers. What the group itself lacks is said by the expectation (`kit/waits/expectations.py`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..session import KitSession
    from ..views.group_snapshots import GroupSnapshot, TopicPartition
    from ..waits.expectations import GroupExpectation
    from ..waits.onlooker import Onlooker


def reasons(
    session: KitSession,
    group_id: str,
    expectation: GroupExpectation,
    seen: GroupSnapshot,
    onlooker: Onlooker | None,
    *,
    tried: bool,
) -> list[str]:
    """Return the reasons as phrases. `tried`: the log has clients that came and were refused."""
    found = [*(session.all_brokers_down() or session.uncoordinated(group_id))]
    found += [
        f"peer {name} has ended: {why}" for name, why in session.failed_peers(group_id).items()
    ]
    if not seen.exists and onlooker is not None and not session.all_brokers_down():
        no_client = [] if tried else ["no client is connected"]
        found += onlooker.told(session.clients()) or no_client
    if not session.all_brokers_down():
        found += _of_partitions(session, expectation, seen)
    return found


def _of_partitions(
    session: KitSession, expectation: GroupExpectation, seen: GroupSnapshot
) -> Iterable[str]:
    """Yield the reasons why members cannot read partitions that the expectation wants them to
    read."""
    read: set[TopicPartition] = set()
    if expectation.lag is not None:
        read |= {partition for partition, lag in seen.lag.items() if lag}
    if expectation.acted:
        read |= {place for m in seen.members if not m.acted for place in m.assignment or ()}
    for topic, index in sorted(read):
        lacking = session.unready(topic, index)
        yield from lacking
        if not lacking:
            yield from _cut_off(session, topic, index, seen)


def _cut_off(session: KitSession, topic: str, index: int, seen: GroupSnapshot) -> Iterable[str]:
    leader = session.leader_of(topic, index)
    if not leader.reaches_controller:
        yield f"{topic}-{index}: its leader, broker {leader.node_id}, is cut off from the controller"
    names = {member.client_id for member in seen.members} & set(
        leader.services.client_links.cut_off
    )
    for name in sorted(names):
        yield f"{topic}-{index}: client {name} is cut off from its leader, broker {leader.node_id}"
