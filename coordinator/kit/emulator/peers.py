"""Fits a peer to its group: assignor, protocol, what the kit sees of all peers, and where their
faults and callbacks are reported.

This module must not know where the brokers are: on sockets or in virtual time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING

from assignors.registry import BUILT_IN_NAMES, KNOWN_NAMES
from coordinator.base.errors import ErrorCode
from coordinator.core.groups.classic.model import ClassicGroup
from coordinator.core.groups.consumer.model import ConsumerMembership
from coordinator.core.groups.share.model import ShareMembership
from coordinator.events.groups import GenerationStarted
from coordinator.events.line import Line
from coordinator.events.members import PartitionsAssigned, PartitionsLost, PartitionsRevoked

if TYPE_CHECKING:
    from coordinator.events import EventLog
    from coordinator.members import MemberConfig, MemberFault
    from coordinator.members.live import Fleet
    from coordinator.members.live.peer import Peer
    from coordinator.members.live.recorder import Callback
    from coordinator.server.broker import Broker

_STRATEGY, COOPERATIVE = "partition.assignment.strategy", "cooperative-sticky"
_KINDS = {
    "assigned": PartitionsAssigned,
    "revoked": PartitionsRevoked,
    "lost": PartitionsLost,
}


class PeersSeen:
    """The testing kit's view of all peers."""

    def __init__(self, fleets: MutableMapping[str | None, Fleet]) -> None:
        """`fleets`: by user; emptied when all peers end."""
        self._fleets = fleets

    def _peers(self) -> list[Peer]:
        return [peer for fleet in self._fleets.values() for peer in fleet.peers]

    def own(self) -> dict[str, frozenset[tuple[str, int]]]:
        """Return the peers' member ids, with the partitions that each took over."""
        return {
            peer.member_id: frozenset((tp.topic, tp.partition) for tp in peer.owned)
            for peer in self._peers()
            if peer.settled
        }

    def paused(self) -> set[str]:
        """Return the member ids of paused peers."""
        return {peer.member_id for peer in self._peers() if peer.paused}

    def failed(self, group_id: str) -> dict[str, str]:
        """Return, by client id, the peers of a group that ended by a fault, and the fault."""
        return {
            peer.client_id: str(peer.fault)
            for fleet in self._fleets.values()
            for peer in fleet.failed
            if peer.member.config.group_id == group_id
        }

    def end(self) -> set[str]:
        """Crash all peers, share consumers included. Return `host:port` of their open
        connections, whose latest requests a broker may not have read yet."""
        open_ones: set[str] = set()
        for fleet in self._fleets.values():
            open_ones |= fleet.addresses()
            fleet.abandon()
        self._fleets.clear()
        return open_ones


def told(
    fleet: Fleet,
    brokers: Callable[[], Iterable[Broker]],
    log: EventLog | None,
    now: Callable[[], int],
) -> Fleet:
    """Return the fleet; its peers' faults then say what would fit the group, and their callbacks
    are logged."""
    explained: set[MemberFault] = set()

    def explain(peer: Peer) -> None:
        fault = peer.fault
        if (
            fault is not None
            and fault.code is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
            and fault not in explained
        ):
            config = peer.member.config
            why = refusal_explained(brokers(), config.group_id, config)
            fault.args = (f"{fault}; {why}", *fault.args[1:])
            explained.add(fault)

    fleet.on_change = explain
    if log is not None:
        fleet.on_callback = callback_logger(log, now)
    return fleet


def fitting(
    brokers: Iterable[Broker],
    group_id: str,
    given: Mapping[str, object],
    last_used: Callable[[], str | None] = lambda: None,
) -> dict[str, object]:
    """Return the settings with which a peer fits its group: the protocol of its members, and all
    assignors of ours, those that its members have in common first.

    If all members offer cooperative-sticky alone, so does the peer, because then they use the
    cooperative rebalance protocol. In a group without members its last assignor comes first.
    Empty if the given settings decide already, or if the members have no assignor of ours in
    common.
    """
    membership = next(
        (m for m in (_membership(broker, group_id) for broker in brokers) if m is not None), None
    )
    if isinstance(membership, ConsumerMembership) and membership.members:
        return {} if "group.protocol" in given else {"group.protocol": "consumer"}
    if _STRATEGY in given or given.get("group.protocol", "classic") != "classic":
        return {}
    members = list(membership) if isinstance(membership, ClassicGroup) else []
    offered = [[name for name, _ in member.protocols] for member in members]
    if offered:
        first = [
            name
            for name in offered[0]
            if name in KNOWN_NAMES and all(name in names for names in offered)
        ]
        if not first:
            return {}
        if first == [COOPERATIVE]:
            return {_STRATEGY: COOPERATIVE}
    else:
        used = last_used()
        first = [used] if used in KNOWN_NAMES else []
    return {_STRATEGY: ",".join(dict.fromkeys([*first, *BUILT_IN_NAMES]))}


def last_assignor(lines: Sequence[Line], group_id: str) -> str | None:
    """Return the assignor that a group used last, by the event log; None if it used none."""
    for line in reversed(lines):
        if line.kind is GenerationStarted and line.group == group_id:
            event: GenerationStarted = line.event
            return event.protocol_name
    return None


def refusal_explained(brokers: Iterable[Broker], group_id: str, config: MemberConfig) -> str:
    """Return a sentence about the offers of a group's members, the offer of the refused peer,
    and what to change."""
    membership = next(
        (m for m in (_membership(broker, group_id) for broker in brokers) if m is not None), None
    )
    offers = ", ".join(assignor.name for assignor in config.make_assignors())
    if not isinstance(membership, ClassicGroup):
        what = (
            "no longer exists"
            if membership is None
            else "is a share group: its members are share consumers"
            if isinstance(membership, ShareMembership)
            else "is of the consumer protocol (KIP-848): set group.protocol"
        )
        return f"the peer offers the classic protocol with {offers}; group {group_id!r} {what}"
    rows = {
        member.client_id: ", ".join(name for name, _ in member.protocols) for member in membership
    }
    told = (
        "; ".join(f"{client} offers {names}" for client, names in rows.items())
        or "it has no members"
    )
    kind = (
        f" of protocol type {membership.protocol_type!r}"
        if membership.protocol_type not in (None, "consumer")
        else ""
    )
    return f"the peer offers {offers}; in group {group_id!r}{kind} {told}: set {_STRATEGY} to what all of them have"


def _membership(
    broker: Broker, group_id: str
) -> ClassicGroup | ConsumerMembership | ShareMembership | None:
    shard = broker.coordinator.shard_of(group_id)
    return None if shard is None else shard.groups[group_id].membership


def callback_logger(log: EventLog, now: Callable[[], int]) -> Callable[[Peer, Callback], None]:
    """Return a function that writes what a peer's application is called with (partitions
    assigned, revoked, lost) to the log's stream `member`."""

    def note(peer: Peer, callback: Callback) -> None:
        config, number = (
            peer.member.config,
            callback.generation if callback.generation >= 0 else None,
        )
        of_classic, of_consumer = (None, number) if config.speaks_consumer else (number, None)
        log.append(
            _KINDS[callback.kind](peer.client_id, of_consumer, tuple(callback.partitions)),
            at_ms=now(),
            group=config.group_id,
            member=peer.member_id or None,
            generation=of_classic,
        )

    return note
