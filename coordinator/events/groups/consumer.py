"""Events of a consumer group (KIP-848): past-tense values, the only thing that changes its
membership.

All but two are durable: they hold what Kafka's records of keys 3, 5 to 8 and 16 hold (PST-4), so
a coordinator that loads the group has every member with its epoch, its current and its target
assignment. Topic ids are 16 bytes; a topic's name stands beside its id for the reader of a log
("" if the topic was deleted). Epochs are explained in docs/event_log.md.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple


class TopicPartitions(NamedTuple):
    """Partitions of one topic that a target assignment gives a member."""

    topic: str
    topic_id: bytes
    partitions: tuple[int, ...]


class HeldPartitions(NamedTuple):
    """Partitions of one topic that a member has, and for each the epoch at which the member got it
    (KIP-1251)."""

    topic: str
    topic_id: bytes
    partitions: tuple[int, ...]
    epochs: tuple[int, ...]


class Target(NamedTuple):
    """The assignor's target for one member."""

    member_id: str
    topics: tuple[TopicPartitions, ...]


class ClassicSettings(NamedTuple):
    """The settings from the JoinGroup of a member that uses the classic protocol; kept so that the
    group can be downgraded (K8-CLS-2).
    """

    session_timeout_ms: int
    protocols: tuple[tuple[str, bytes], ...]


class ConsumerGroupCreated(NamedTuple):
    """The group is a consumer group from now on, without members (K8-HB-1). An empty classic group
    of that id was replaced; its offsets stay (K8-MIG-3).
    """

    replaced_classic: bool


class ConsumerGroupUpgraded(NamedTuple):
    """A classic group with members became a consumer group; its generation is the group epoch
    (K8-MIG-1). Events for each member's subscription and assignment follow, and one target for
    all.
    """

    group_epoch: int
    metadata_hash: int
    members: tuple[str, ...]


class MembershipReset(NamedTuple):
    """An empty consumer group became an empty classic one; its offsets stay (K8-MIG-3)."""


class DowngradedMember(NamedTuple):
    """A member that stays when the group becomes a classic one; `assignment` is its target in the
    client's format (K8-MIG-2).
    """

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: tuple[tuple[str, bytes], ...]
    assignment: bytes


class ConsumerGroupDowngraded(NamedTuple):
    """A consumer group whose last members use the classic protocol became a Stable classic group
    (K8-MIG-2). `generation` is the group epoch; `left` are the members that left.
    """

    generation: int
    protocol_type: str
    protocol_name: str
    leader: str
    left: tuple[str, ...]
    reason: str
    members: tuple[DowngradedMember, ...]


class ConsumerMemberSubscribed(NamedTuple):
    """A member was added, or its subscription or another of its properties changed (K8-HB-1 step
    4). `classic` None: it uses the consumer protocol.
    """

    member_id: str
    group_instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    topics: tuple[str, ...]
    topic_regex: str
    server_assignor: str | None
    classic: ClassicSettings | None


class ConsumerMemberReplaced(NamedTuple):
    """A static member rejoined under another member id; it inherits the old id's assignment, at
    epoch 0 (K8-ST-1).
    """

    member_id: str
    replaced: str
    subscription: ConsumerMemberSubscribed
    state: str
    held: tuple[HeldPartitions, ...]
    revoking: tuple[HeldPartitions, ...]
    target: tuple[TopicPartitions, ...]


class FormerInstanceIdKept(NamedTuple):
    """A member took another group instance id, and its former one still points to it, as in
    releases before K8-ST-5. That lasts even after the member is gone, until another member takes
    the former id.
    """

    member_id: str
    group_instance_id: str


class ConsumerMemberRemoved(NamedTuple):
    """A member was removed from the group (K8-LV-1, K8-LV-5)."""

    member_id: str
    reason: str  # one of `Removal`
    detail: str | None = None  # as of `MemberRemoved`


class GroupEpochBumped(NamedTuple):
    """Members, subscriptions or topics changed, so a new target assignment must be computed
    (K8-HB-1 step 5).
    """

    group_epoch: int
    metadata_hash: int
    reason: str


class TargetAssigned(NamedTuple):
    """The result of the assignor: the targets that changed (K8-TGT-2). `assignor` None: no assignor
    was called, because an upgraded group keeps its assignment (K8-MIG-1), or no member is left
    (K8-EP-44-1).
    """

    assignment_epoch: int
    assignor: str | None
    targets: tuple[Target, ...]


class AssignmentFailed(NamedTuple):
    """The assignor failed, so the request was refused and nothing changed (K8-TGT-3). Not durable:
    the group is unchanged.
    """

    assignment_epoch: int  # that it would have had
    assignor: str
    failure: str


class ConsumerMemberReconciled(NamedTuple):
    """A member moved towards its target: its epochs, its state, its assigned partitions and those
    that it has yet to revoke (K8-REC-3).

    Also written when a static member leaves temporarily, at epoch -2 (K8-LV-2).
    """

    member_id: str
    member_epoch: int
    previous_member_epoch: int
    state: str  # of `MemberState`
    held: tuple[HeldPartitions, ...]
    revoking: tuple[HeldPartitions, ...]


class PreviousEpochAccepted(NamedTuple):
    """A heartbeat with the member's previous epoch was accepted: the response with the newer epoch
    was lost (K8-EP-1). Not durable: the group is unchanged.
    """

    member_id: str
    member_epoch: int  # that the heartbeat named


class TopicRegexResolved(NamedTuple):
    """A regular expression that members subscribe to was matched against the existing topics
    (K8-RX-2).
    """

    regex: str
    topics: tuple[str, ...]


class TopicRegexForgotten(NamedTuple):
    """No member subscribes to a regular expression any more (K8-RX-3)."""

    regex: str


ConsumerEvent = (
    ConsumerGroupCreated
    | MembershipReset
    | ConsumerGroupUpgraded
    | ConsumerGroupDowngraded
    | ConsumerMemberSubscribed
    | ConsumerMemberReplaced
    | FormerInstanceIdKept
    | ConsumerMemberRemoved
    | GroupEpochBumped
    | TargetAssigned
    | AssignmentFailed
    | PreviousEpochAccepted
    | ConsumerMemberReconciled
    | TopicRegexResolved
    | TopicRegexForgotten
)


class Removal:
    """Reasons of a removal of a member of a consumer group."""

    LEFT: ClassVar[str] = "left"
    SESSION_EXPIRED: ClassVar[str] = "session expired"
    ENDED_BY_HAND: ClassVar[str] = "its session was ended by hand"
    DID_NOT_REVOKE: ClassVar[str] = "did not revoke in time"
    DID_NOT_REJOIN: ClassVar[str] = "did not rejoin in time"
    DID_NOT_SYNC: ClassVar[str] = "did not sync in time"
