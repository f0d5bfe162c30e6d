"""The parts of a timeline: groups, members, rebalances and notes, as plain records.

`timeline` fills them from the log, `ownership` fills what concerns stopping and consuming,
`history.explain` puts them into sentences. Instants and durations are whole milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, MutableSequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from .groups.consumer_groups import ConsumerGroup
    from .groups.epochs import Epochs
    from .shares.groups import ShareGroup

from coordinator.events.line import Line
from coordinator.wire.connect_protocol import ConnectWork, Worker
from coordinator.wire.consumer_protocol import Subscription

from .blobs import Partitions
from .names import consumer_name, short_name

NOT_KNOWN = "not known"
"""Stands for a value that the logs of another cluster do not have."""


@dataclass(slots=True)
class Pause:
    """A time in which a member consumed nothing although it had partitions: an eager member's way
    through a rebalance."""

    name: str
    partitions: Partitions  # what it had when it stopped
    from_ms: int
    to_ms: int | None = None  # when it went on, or was removed; None: not yet
    removed: bool = False  # it ended because the member was removed
    known: bool = False  # told by the member itself; else inferred from its requests
    learned_ms: int | None = None  # when its heartbeat was answered REBALANCE_IN_PROGRESS


@dataclass(slots=True)
class MemberView:
    """A member as far as the log has been read."""

    member_id: str
    name: str
    client_id: str = ""
    client_host: str = ""
    group_instance_id: str | None = None
    offers: tuple[str, ...] = ()  # the names of its protocols
    worker: Worker | None = None  # what it says of itself as a worker of Kafka Connect
    subscription: Subscription | None = None
    assignment: Partitions | None = (
        None  # None: none yet, or bytes that are no assignment of a consumer
    )
    seen_ms: int = 0
    seen_by: str = ""  # what it was last seen by
    cooperative: bool = False  # its rebalance protocol; else eager
    synced: bool = False  # its SyncGroup of the present generation has come
    held: Partitions = field(default_factory=dict)  # what it consumes, as far as it knows itself
    held_generation: int = -1  # the generation in which it was given that
    pause: Pause | None = None  # while it stands still
    learned_ms: int | None = (
        None  # when its heartbeat was first answered REBALANCE_IN_PROGRESS in this rebalance
    )
    learned_by: int = -1  # the number of that line
    tells: bool = False  # its own callbacks are in the log, so that nothing has to be inferred
    closed_ms: int | None = None  # when its connection closed, if it has not spoken since


class Trouble(NamedTuple):
    """A trouble of a client: the class of its event, its beginning, and its end (None: it
    lasts). `seq`: the line's number. `client`: the client. `times`: number of equal troubles in
    force."""

    kind: type
    since_ms: int
    until_ms: int | None = None
    seq: int = 0
    client: str = ""
    times: int = 1


@dataclass(slots=True)
class Departed:
    """A member id that is no member any more, and what its client may still believe."""

    name: str
    at_ms: int
    reason: str  # of its removal; "replaced" if a newer instance fenced it
    held: Partitions
    generation: int  # in which it was given what it held
    told: bool = False  # a note has said so
    client_id: str = ""


@dataclass(slots=True)
class Change:
    """One change of the membership: the cause of a rebalance, or a change in its course."""

    seq: int
    at_ms: int
    kind: type  # the event's class
    members: list[str]  # short names
    line: Line
    note: dict[str, Any] = field(default_factory=dict)


def _no_claim() -> None:
    return None


@dataclass(slots=True)
class Share:
    """One member's share in a generation, and its difference from the share before."""

    name: str
    member_id: str
    partitions: Partitions | None
    bytes: int
    added: Partitions
    revoked: Partitions
    work: ConnectWork | None = None  # what a worker of Kafka Connect was given
    cooperative: bool = False
    kept: Partitions = field(
        default_factory=dict
    )  # what it went on consuming all through the rebalance: cooperative members only
    pause: Pause | None = None  # how long it stood still on the way here
    resumed_ms: int | None = None  # when its SyncGroup was answered
    claim: Callable[[], tuple[Partitions, int] | None] = (
        _no_claim  # reads what its JoinGroup claimed for a sticky assignor
    )

    @property
    def claimed(self) -> Partitions | None:
        """The partitions that its JoinGroup claims for a sticky assignor; None if the assignor
        ignores claims."""
        found = self.claim()
        return None if found is None else found[0]

    @property
    def claimed_generation(self) -> int:
        """The generation of the claim, or -1 if it has none."""
        found = self.claim()
        return -1 if found is None else found[1]


@dataclass(slots=True)
class Gone:
    """A removed member that had partitions."""

    name: str
    had: Partitions
    silent_since_ms: int | None = None  # its last sign of life, if it expired
    closed_ms: int | None = None  # when its connection closed, if it did not speak after that


@dataclass(slots=True)
class Awaited:
    """The last event that a join phase waited for."""

    kind: type  # an event's class: MemberRejoined, MemberRemoved, PendingMemberRemoved, ...
    members: list[str]
    reason: str = ""  # of a removal
    before_ms: int | None = None  # when the last but one had come, if others rejoined too


@dataclass(slots=True)
class Step:
    """One request or response on the way to a generation, as `explain --detail` lists them."""

    at_ms: int
    name: str | None  # the member's short name
    line: Line
    seen: Line | None = None  # the request that an answer belongs to
    times: int = 1  # how often the same was answered
    injected: str = ""  # the fault that made it a refusal, in words


@dataclass(slots=True)
class Rebalance:
    """A rebalance, up to one generation. Instants are None until they are known."""

    group: str
    seq: int
    started_ms: int
    trigger: Change
    reason: str
    state_before: str
    delay_ms: int | None
    causes: list[Line]
    changes: list[Change] = field(default_factory=list)
    generation: int | None = None
    generation_ms: int | None = None
    stored_ms: int | None = None
    ended_ms: int | None = None  # when the next rebalance began, or the group went
    outcome: str = "joining"  # then: syncing, stable; or empty, interrupted, lost
    leader: str | None = None
    assignor: str | None = None
    members: list[str] = field(default_factory=list)
    shares: list[Share] = field(default_factory=list)
    gone: list[Gone] = field(default_factory=list)  # removed members that had partitions
    awaited: Awaited | None = None
    share_by_id: dict[str, Share] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)  # with details only


@dataclass(slots=True)
class Note:
    """An event worth a sentence that is no part of a rebalance."""

    at_ms: int
    seq: int
    kind: type  # the event's class
    generation: int
    members: list[str]
    line: Line
    departed: Departed | None = None  # a refusal of somebody who was a member once
    held: Partitions = field(
        default_factory=dict
    )  # a refusal of a member with another generation: what it consumes
    times: int = 1  # how often the same happened in a row
    last_ms: int = 0
    sentence: str = ""  # of an event of a consumer group: the note in words
    injected: str = ""  # the fault that did it, in words: a test or an operator had asked for it
    tally: dict[tuple[str, tuple[str, ...]], int] = field(
        default_factory=dict
    )  # refusals of one client that take turns: how often each, by API and errors
    coordinates: bool = False  # a verb: it was done to the broker that coordinates the group
    broker: int | None = None  # of several: which one a load or an unload is about
    moved: bool = False  # an unload: another broker coordinates the group already
    crashed: bool = False  # an unload: the broker's process was killed, so nobody was answered
    trouble: Trouble | None = None  # a refusal: what its client had gone through before
    clock_ahead_ms: int = 0  # offsets expired: how far the broker's wall clock had jumped
    deleted_ms: int = 0  # a topic was made again: when the one before was deleted
    client: str = ""  # the client id of a refused request's sender, if it is known
    offers: dict[tuple[str, ...], list[str]] = field(
        default_factory=dict
    )  # INCONSISTENT_GROUP_PROTOCOL: which members of the group offer these protocols
    protocol_type: str | None = None  # likewise: the group's
    unauthorised: Line | None = None  # a refusal: the AuthorizationRefused that says why
    errors: tuple[str, ...] = ()  # a refusal: the errors that it was answered with
    api: str = ""  # a refusal: of which request


Entry: TypeAlias = Rebalance | Note
"""An entry of a group's story."""


@dataclass(slots=True)
class GroupView:
    """A group's timeline so far. `entries`: its story in order."""

    group: str
    created_ms: int
    state: str = "Empty"
    consumer: ConsumerGroup | None = None  # what is known of it as a consumer group (KIP-848)
    epochs: Epochs | None = None  # its rebalances as a consumer group
    share: ShareGroup | None = None  # what is known of it as a share group (KIP-932)
    given_up_as: str = (
        ""  # its state when a coordinator gave it up, while it is Dead for that reason
    )
    given_up_ms: int = 0  # when
    generation: int = 0
    leader: str | None = None
    assignor: str | None = None
    protocol_type: str | None = None
    coordinator: int | None = None  # of several brokers: the one that spoke for it last
    handed_over: tuple[int | None, int] = (None, 0)  # its coordinator before, and until when
    clients: set[str] = field(default_factory=set)  # client ids of all who were ever members
    members: dict[str, MemberView] = field(default_factory=dict)
    entries: MutableSequence[Entry] = field(default_factory=list)
    current: Rebalance | None = None  # the last rebalance
    names: dict[str, str] = field(default_factory=dict)
    names_taken: set[str] = field(default_factory=set)
    departed: dict[str, Departed] = field(default_factory=dict)
    gone: list[Gone] = field(default_factory=list)  # since the last rebalance began
    pending_gone: tuple[int, str, str] | None = (
        None  # the last pending id that was taken back: when, its name, why
    )
    given: dict[str, int] = field(
        default_factory=dict
    )  # how many partitions of each topic the last generation gave to members
    stored: frozenset[str] = (
        frozenset()
    )  # the members that a coordinator which loads the group will find
    refused: dict[str, Note] = field(
        default_factory=dict
    )  # by client id: the latest refusal, until the client has gone on in the group
    commits: int = 0
    seen: list[Line] = field(
        default_factory=list
    )  # of somebody else's cluster: the lines RebalanceSeen, all that is known of its rebalances
    seen_protocol: str | None = None  # likewise
    rearmed: tuple[int, str] = (0, "")  # when all sessions began anew, and at what
    waiting: list[Change] = field(
        default_factory=list
    )  # changes that no rebalance has taken up yet
    steps: list[Step] = field(
        default_factory=list
    )  # with details only: those that no rebalance has taken up yet

    @property
    def rebalances(self) -> list[Rebalance]:
        """The rebalances, in order."""
        return [entry for entry in self.entries if isinstance(entry, Rebalance)]

    def name(self, member_id: str | None) -> str | None:
        """Return a member's short name, which is unique in the group."""
        if member_id is None:
            return None
        if self.share is not None and member_id in self.share.members:
            return self.share.name(member_id)
        if member_id not in self.names:
            name = self.names[member_id] = short_name(member_id, self.names_taken)
            self.names_taken.add(name)
        return self.names[member_id]

    def went_on(self, client_id: str) -> None:
        """Note that a client was accepted: earlier refusals do not matter any more."""
        if self.refused:
            self.refused.pop(client_id, None)

    def introduce(self, member_id: str, client_id: str) -> None:
        """Note a new member of the consumer protocol."""
        self.clients.add(client_id)
        if member_id not in self.names:
            name = self.names[member_id] = consumer_name(client_id, member_id, self.names_taken)
            self.names_taken.add(name)

    def member(self, member_id: str) -> MemberView:
        """Return a member; one without an event of its own is made from its id."""
        if member_id not in self.members:
            self.members[member_id] = MemberView(member_id, self.name(member_id) or "")
        return self.members[member_id]

    def note(self, line: Line, members: list[str] | None = None) -> Note:
        """Add a note about a line."""
        note = Note(
            line.at_ms,
            line.seq,
            line.kind,
            self.generation,
            members or [],
            line,
            last_ms=line.at_ms,
        )
        self.entries.append(note)
        return note
