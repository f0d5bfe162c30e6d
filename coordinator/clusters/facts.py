"""Facts that one line of a log states: small values, made by the readers of dialects.

`group` is None if the line does not name it; other lines of the file may. `client` is the client
id or, for clients whose lines have none, the file or the pod.
"""

from __future__ import annotations

from typing import NamedTuple


# -- the classic protocol, as a broker logs it
class Prepared(NamedTuple):
    """A rebalance begins: "Preparing to rebalance group ..."."""

    group: str
    old_generation: int
    reason: str


class Stabilized(NamedTuple):
    """The join phase is over."""

    group: str
    generation: int
    members: int | None


class BecameEmpty(NamedTuple):
    """The last member left; the group has a new generation and no members."""

    group: str
    generation: int


class Expired(NamedTuple):
    """A member's session ended without a heartbeat."""

    group: str
    member: str


class Left(NamedTuple):
    """A member left by LeaveGroup, or by a heartbeat that says so."""

    group: str
    member: str
    client_reason: str
    instance: str | None = None


class Joined(NamedTuple):
    """A member that the group did not have joins. `protocol` is empty for a classic group."""

    group: str
    member: str
    instance: str | None = None
    state: str = ""
    protocol: str = ""


class Replaced(NamedTuple):
    """A static member comes back under a new member id, in the place of the former one."""

    group: str
    instance: str
    member: str | None
    former: str


class NotRejoined(NamedTuple):
    """Members that did not join again before the rebalance timeout, and were removed."""

    group: str
    members: tuple[str, ...]


class Fenced(NamedTuple):
    """A request or a join of a static member is refused: another member has its instance id."""

    group: str | None
    instance: str | None
    member: str | None
    by: str | None
    operation: str


class LeaderKnown(NamedTuple):
    """The leader of this generation, which assigns partitions."""

    group: str
    member: str
    generation: int


class LeaderReplaced(NamedTuple):
    """The leader did not rejoin in time; `by` is the new leader, or None if no member joined."""

    former: str
    by: str | None
    group: str | None = None


class EmptyAssignment(NamedTuple):
    """The leader assigned no partitions to some members."""

    group: str
    generation: int


class Refused(NamedTuple):
    """The coordinator refused to change the group's protocol."""

    group: str
    to: str
    why: str


class Loaded(NamedTuple):
    """A broker became the group's coordinator."""

    group: str
    generation: int | None


class Unloaded(NamedTuple):
    """A broker stopped being the group's coordinator."""

    group: str
    generation: int | None


class MemberTimeouts(NamedTuple):
    """The timeouts in a member's JoinGroup."""

    member: str
    client: str
    instance: str | None
    session_ms: int
    rebalance_ms: int


# -- groups with an epoch (KIP-848, KIP-932)
class EpochBumped(NamedTuple):
    """A group epoch begins. `metadata_hash` is None in releases that do not print it."""

    group: str
    epoch: int
    metadata_hash: str | None


class TargetComputed(NamedTuple):
    """A target assignment for an epoch."""

    group: str
    epoch: int


class MemberFenced(NamedTuple):
    """A member was removed by the coordinator."""

    group: str
    member: str
    why: str


class TemporarilyLeft(NamedTuple):
    """A static member leaves and keeps its place."""

    group: str
    member: str
    instance: str


class SubscriptionChanged(NamedTuple):
    """A member subscribes to topics, when it joins or later."""

    group: str
    member: str
    topics: str = ""


class MetadataChanged(NamedTuple):
    """The partitions of the subscribed topics have changed."""

    group: str


class Migrated(NamedTuple):
    """The group changed its protocol."""

    group: str
    to: str


# -- as a client logs it
class ClientMember(NamedTuple):
    """The member id that a client has, or learns."""

    client: str
    group: str | None
    member: str


class ClientJoined(NamedTuple):
    """A client has joined a generation. `members`: their number, if the line has it."""

    client: str
    group: str | None
    member: str | None
    generation: int
    members: int | None = None


class ClientStarted(NamedTuple):
    """A client is made: its process began, or makes a new one."""

    client: str
    group: str | None


class ClientAsked(NamedTuple):
    """A client is about to join (again), with its own reason."""

    client: str
    group: str | None
    reason: str


class ClientJoining(NamedTuple):
    """A client sends its JoinGroup request."""

    client: str
    group: str | None


class ClientPollExpired(NamedTuple):
    """The application did not poll in time. `interval_ms` if the line says it."""

    client: str
    group: str | None
    interval_ms: int | None = None


class ClientLeaving(NamedTuple):
    """A client leaves the group. `generation`: the one that it was in, if the line has it."""

    client: str
    group: str | None
    member: str | None
    reason: str
    generation: int | None = None


class ClientRemoved(NamedTuple):
    """A client learns that the coordinator does not know its member id any more. `generation`:
    the one that it was in, if the line has it."""

    client: str
    group: str | None
    error: str
    generation: int | None = None


class ClientFenced(NamedTuple):
    """A client learns that another one has its instance id."""

    client: str
    group: str | None
    instance: str | None


class CommitRefused(NamedTuple):
    """A commit was refused because the client is not in the group's generation. `joining`: it may
    have been joining again at that moment; the line does not tell."""

    client: str
    group: str | None
    joining: bool = False


class SessionTimedOut(NamedTuple):
    """A client's heartbeats were not answered for its session timeout."""

    client: str
    group: str | None
    session_ms: int | None


class CoordinatorLost(NamedTuple):
    """A client cannot reach its coordinator, or learned that another broker is the coordinator."""

    client: str
    group: str | None
    reason: str


class Assigned(NamedTuple):
    """The members that a leader saw when it assigned; the generation is None where the line does
    not name it. `idle`: those that got nothing; `most`: how many partitions a member has at most
    (None: the lines do not show it)."""

    client: str
    group: str | None
    generation: int | None
    members: tuple[str, ...]
    idle: tuple[str, ...] = ()
    most: int | None = None


class ClientSubscribed(NamedTuple):
    """The topics that a client subscribes to."""

    client: str
    group: str | None
    topics: str


class ProtocolRefused(NamedTuple):
    """A client may not join, because it shares no assignor with the members."""

    client: str
    group: str | None


class ProducerFenced(NamedTuple):
    """A transactional producer learns that another one has its transactional id."""

    client: str
    group: str | None
    transactional: str


class TransactionTimedOut(NamedTuple):
    """A transaction coordinator rolled a transaction back that was open for too long."""

    transactional: str
    group: str | None = None


class AssignmentChanged(NamedTuple):
    """A client is assigned partitions or revokes some; the line names neither epoch nor reason."""

    client: str
    group: str | None
    added: int
    revoked: int


class Unnumbered(NamedTuple):
    """A client joined a generation or left one, but its line lacks the number or the reason that
    would make a rebalance of its own."""

    client: str
    group: str | None
    generation: int | None
    what: str


class TopicChanged(NamedTuple):
    """A client sees that a topic's partitions have changed."""

    client: str
    group: str | None


class Settings(NamedTuple):
    """The configuration that a client logs when it starts."""

    client: str
    group: str | None
    values: dict[str, str]


# -- describe
class Described(NamedTuple):
    """The group's state at an instant, from `kafka-consumer-groups --describe`. `lags`: by
    owner, if all are known. `idle` and `most`: the members without a partition, and the highest
    number of partitions of a member (`--members`)."""

    group: str | None
    state: str | None
    members: int | None
    owners: tuple[str, ...]
    lag: int | None
    lags: tuple[tuple[str, int], ...] = ()
    idle: tuple[str, ...] = ()
    most: int | None = None


Fact = (
    Prepared
    | Stabilized
    | BecameEmpty
    | Expired
    | Left
    | Joined
    | Replaced
    | NotRejoined
    | Fenced
    | LeaderKnown
    | LeaderReplaced
    | EmptyAssignment
    | Refused
    | Loaded
    | Unloaded
    | MemberTimeouts
    | EpochBumped
    | TargetComputed
    | MemberFenced
    | SubscriptionChanged
    | TemporarilyLeft
    | MetadataChanged
    | Migrated
    | ClientMember
    | ClientJoined
    | ClientJoining
    | ClientStarted
    | ClientAsked
    | ClientPollExpired
    | ClientLeaving
    | ClientRemoved
    | ClientFenced
    | CommitRefused
    | SessionTimedOut
    | CoordinatorLost
    | Assigned
    | AssignmentChanged
    | Unnumbered
    | TopicChanged
    | ClientSubscribed
    | ProtocolRefused
    | ProducerFenced
    | TransactionTimedOut
    | Settings
    | Described
)


class Evidence(NamedTuple):
    """A line of a file: the name of the file, the number of the line, its text."""

    file: str
    line: int
    text: str


class Seen(NamedTuple):
    """A fact, its time, and its line. `at`: ms by the line's own clock, None without a time
    stamp; `source`: the file, or the pod within it."""

    at: int | None
    source: str
    evidence: Evidence
    fact: Fact
