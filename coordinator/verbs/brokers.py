"""Verbs for a cluster, as data: what can be done to its brokers, links, leaders, coordinators and
topics, and how each is undone. `row` says what a row of this table means.

    StopBroker(2, how="crash")        MoveCoordinator("billing", to=3)        CutLink(1, 2)        SlowFollower(3, delay_ms=500)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from .row import Hurts, told, verb

_BROKER: Final = "the id of a broker"
How = Literal["controlled", "crash", "pause"]
HOW: Final[tuple[str, ...]] = get_args(How)


@verb(
    "broker {broker} stops ({how})",
    summary="""Stop a broker by a controlled shutdown, a crash (as SIGKILL) or a pause (as SIGSTOP).
    Inverse: StartBroker.""",
    undone_by="StartBroker",
    hurts=Hurts.BROKERS,
    command="stop",
    drawn=True,
)
@dataclass(frozen=True, slots=True)
class StopBroker:
    """Stop a broker: by a controlled shutdown, a crash (as SIGKILL), or a pause (as SIGSTOP).
    Inverse: StartBroker."""

    broker: int = field(metadata=told(_BROKER))
    how: How = field(default="controlled", metadata=told("how it stops", choices=HOW))


@verb(
    "broker {broker} starts or is resumed",
    summary="""Start a stopped broker, as another release of Kafka if one is given, or resume a paused
    one. Inverse: StopBroker.""",
    further={"kafka_version": ", as Kafka {kafka_version}"},
    undone_by="StopBroker",
    command="start",
    drawn=True,
)
@dataclass(frozen=True, slots=True)
class StartBroker:
    """Start a stopped broker, as another release of Kafka if one is given, or resume a paused one.
    Inverse: StopBroker.
    """

    broker: int = field(metadata=told(_BROKER))
    kafka_version: str | None = field(
        default=None, metadata=told("its Kafka release from now on, such as 4.4")
    )


@verb(
    "broker {target} leads {topic}-{partition}",
    summary="Make another in-sync replica the leader of a partition. Inverse: MoveLeader back.",
    undone_by="MoveLeader",
    hurts=Hurts.A_WHILE,
    command="move-leader",
    again=True,
)
@dataclass(frozen=True, slots=True)
class MoveLeader:
    """Make another in-sync replica the leader of a partition. Inverse: MoveLeader back."""

    topic: str = field(metadata=told("its name"))
    partition: int = field(metadata=told("its number"))
    to: int = field(metadata=told(_BROKER))


@verb(
    "broker {target} coordinates group {group}",
    summary="""Make another broker the coordinator of a group: it becomes the leader of the group's
    partition of __consumer_offsets. Inverse: MoveCoordinator back.""",
    undone_by="MoveCoordinator",
    hurts=Hurts.A_WHILE,
    command="move-coordinator",
    again=True,
    drawn=True,
)
@dataclass(frozen=True, slots=True)
class MoveCoordinator:
    """Make another broker the coordinator of a group: it becomes the leader of the group's
    partition of __consumer_offsets. Inverse: MoveCoordinator back.
    """

    group: str = field(metadata=told("its id"))
    to: int = field(metadata=told(_BROKER))


@verb(
    "{topic}-{partition} moves to brokers {replicas}",
    summary="""Move a partition to these brokers, preferred leader first (KIP-455). null, or the
    replicas that it had before, cancels a reassignment that is under way. With an empty
    list, a broker without a replica takes the leader's place. Inverse: ReassignPartition
    back to the former replicas.""",
    undone_by="ReassignPartition",
    hurts=Hurts.A_WHILE,
    command="reassign",
)
@dataclass(frozen=True, slots=True)
class ReassignPartition:
    """Move a partition to these brokers, preferred leader first (KIP-455). None cancels a
    reassignment that is under way, as do the replicas that it had before; with an empty tuple, a
    broker that has no replica takes the place of its leader. Inverse: ReassignPartition back to
    the former replicas.
    """

    topic: str = field(metadata=told("its name"))
    partition: int = field(metadata=told("its number"))
    replicas: tuple[int, ...] | None = field(default=(), metadata=told("preferred leader first"))


@verb(
    "broker {broker} is fenced",
    summary="Make the controller fence a broker until UnfenceBroker, its inverse.",
    undone_by="UnfenceBroker",
    hurts=Hurts.BROKERS,
    command="fence",
)
@dataclass(frozen=True, slots=True)
class FenceBroker:
    """Make the controller fence a broker until UnfenceBroker, its inverse."""

    broker: int = field(metadata=told(_BROKER))


@verb(
    "broker {broker} may come back",
    summary="Unfence a broker that was fenced on purpose. Inverse: FenceBroker.",
    undone_by="FenceBroker",
    command="unfence",
)
@dataclass(frozen=True, slots=True)
class UnfenceBroker:
    """Unfence a broker that was fenced on purpose. Inverse: FenceBroker."""

    broker: int = field(metadata=told(_BROKER))


@verb(
    "no traffic passes between brokers {one} and {other}",
    summary="Cut the link between two brokers: no traffic passes. Inverse: HealLink.",
    undone_by="HealLink",
    hurts=Hurts.BROKERS,
    command="cut",
)
@dataclass(frozen=True, slots=True)
class CutLink:
    """Cut the link between two brokers: nothing passes. Inverse: HealLink."""

    one: int = field(metadata=told(_BROKER))
    other: int = field(metadata=told(_BROKER))


@verb(
    "traffic passes between brokers {one} and {other} again",
    summary="Heal the link between two brokers. Inverse: CutLink.",
    undone_by="CutLink",
    command="heal",
)
@dataclass(frozen=True, slots=True)
class HealLink:
    """Heal the link between two brokers. Inverse: CutLink."""

    one: int = field(metadata=told(_BROKER))
    other: int = field(metadata=told(_BROKER))


@verb(
    "no traffic passes between client {client_id} and broker {broker}",
    summary="""Cut the link between a client, named by its client id, and a broker; connections stay
    open. Inverse: HealClient.""",
    undone_by="HealClient",
    hurts=Hurts.CLIENT,
    command="cut-client",
)
@dataclass(frozen=True, slots=True)
class CutClient:
    """Cut the link between a client, known by its client id, and a broker; connections stay open.
    Inverse: HealClient.
    """

    client_id: str = field(metadata=told("its client.id"))
    broker: int = field(metadata=told(_BROKER))


@verb(
    "traffic passes between client {client_id} and broker {broker} again",
    summary="""Heal the link between a client and a broker; messages that waited are delivered.
    Inverse: CutClient.""",
    undone_by="CutClient",
    command="heal-client",
)
@dataclass(frozen=True, slots=True)
class HealClient:
    """Heal the link between a client and a broker; messages that waited are delivered. Inverse:
    CutClient.
    """

    client_id: str = field(metadata=told("its client.id"))
    broker: int = field(metadata=told(_BROKER))


@verb(
    "broker {broker} follows",
    summary="""Make a broker's replicas follow their leaders with this delay in ms, at this number of
    bytes a second at most (null: no limit). Inverse: the pace before.""",
    further={
        "delay_ms": " {delay_ms} ms late",
        "bytes_per_second": ", at {bytes_per_second} bytes a second",
    },
    ended="broker {broker} follows without delay again",
    undone_by="SlowFollower",
    hurts=Hurts.A_WHILE,
    command="slow",
)
@dataclass(frozen=True, slots=True)
class SlowFollower:
    """Make a broker's replicas follow their leaders `delay_ms` behind, at most `bytes_per_second`
    (None: no limit). Inverse: the pace before.
    """

    broker: int = field(metadata=told(_BROKER))
    delay_ms: int = field(default=0, metadata=told("delay in ms", least=0, option="ms"))
    bytes_per_second: int | None = field(
        default=None, metadata=told("at most so many bytes a second", least=1)
    )


@verb(
    "every answer of broker {broker} takes",
    summary="""Delay every answer of a broker to a client by this number of ms; requests are handled
    when they arrive. Inverse: the delay before.""",
    further={"by_ms": " {by_ms} ms longer"},
    ended="answers of broker {broker} take no longer than before",
    undone_by="SlowBroker",
    hurts=Hurts.A_WHILE,
    command="slow-broker",
)
@dataclass(frozen=True, slots=True)
class SlowBroker:
    """Delay every response of a broker to a client by `by_ms`; requests are handled when they
    arrive. Inverse: the delay before.
    """

    broker: int = field(metadata=told(_BROKER))
    by_ms: int = field(metadata=told("how many ms longer", least=0))


@verb(
    "coordinators of broker {broker} take",
    summary="""Make a broker's coordinators take this number of ms to load; meanwhile they answer
    COORDINATOR_LOAD_IN_PROGRESS. Inverse: the time before.""",
    further={"load_ms": " {load_ms} ms to load"},
    ended="coordinators of broker {broker} load as quickly as before",
    undone_by="SlowLoad",
    hurts=Hurts.A_WHILE,
    command="slow-load",
)
@dataclass(frozen=True, slots=True)
class SlowLoad:
    """Make a broker's coordinators take `load_ms` to load; meanwhile they answer
    COORDINATOR_LOAD_IN_PROGRESS. Inverse: the time before.
    """

    broker: int = field(metadata=told(_BROKER))
    load_ms: int = field(metadata=told("how many ms", least=0))


@verb(
    "the wall clock of broker {broker} jumps by {by_ms} ms",
    summary="""Move the wall clock of a broker's host forward by this number of ms, or back (negative).
    Timers are not affected; appended records, commits and expiring offsets are dated by the
    changed clock. Inverse: JumpClock as far the other way.""",
    undone_by="JumpClock",
    command="jump-clock",
    again=True,
    drawn=True,
)
@dataclass(frozen=True, slots=True)
class JumpClock:
    """Move the wall clock of a broker's host forward by `by_ms`, or back (negative).

    Timers are not affected; appended records, commits and expiring offsets are dated by the
    changed clock. Inverse: JumpClock as far the other way.
    """

    broker: int = field(metadata=told(_BROKER))
    by_ms: int = field(metadata=told("how many ms forward; negative: back", example="3600000"))


@verb(
    "feature {feature} is finalised at {level}",
    summary="""Finalise a feature of the cluster at another level, as kafka-features.sh does (KIP-584);
    0 turns it off. Inverse: UpdateFeature back; metadata.version has none, because Kafka
    does not lower it.""",
    undone_by="UpdateFeature",
    command="update-feature",
    again=True,
)
@dataclass(frozen=True, slots=True)
class UpdateFeature:
    """Finalise a feature of the cluster at another level, as kafka-features.sh does (KIP-584); 0
    turns it off. Inverse: UpdateFeature back; metadata.version has none, because Kafka does not
    lower it.
    """

    feature: str = field(metadata=told("its name, such as metadata.version"))
    level: int = field(metadata=told("the level", least=0))


@verb(
    "topic {topic} is created with {partitions} partitions",
    summary="""Create a topic. With -1 partitions or replicas it has as many as num.partitions or
    default.replication.factor says. Inverse: DeleteTopic.""",
    undone_by="DeleteTopic",
    drawn=True,
)
@dataclass(frozen=True, slots=True)
class CreateTopic:
    """Create a topic. -1 partitions or replicas: the broker's num.partitions or
    default.replication.factor. Inverse: DeleteTopic.
    """

    topic: str = field(metadata=told("its name"))
    partitions: int = field(default=-1, metadata=told("how many"))
    replication: int = field(default=-1, metadata=told("replicas of each"))


@verb(
    "topic {topic} has {partitions} partitions from now on",
    summary="""Grow a topic to this number of partitions (KIP-195). No inverse: Kafka removes no
    partitions.""",
    drawn=True,
)
@dataclass(frozen=True, slots=True)
class CreatePartitions:
    """Grow a topic to this number of partitions (KIP-195). No inverse: Kafka removes no partitions."""

    topic: str = field(metadata=told("its name"))
    partitions: int = field(metadata=told("the new number of partitions"))


@verb(
    "topic {topic} is deleted",
    summary="""Delete a topic, its records, and the groups' committed offsets in it. Inverse:
    CreateTopic with as many partitions and replicas, empty.""",
    undone_by="CreateTopic",
    hurts=Hurts.A_WHILE,
    drawn=True,
)
@dataclass(frozen=True, slots=True)
class DeleteTopic:
    """Delete a topic, its records, and the groups' committed offsets in it. Inverse: CreateTopic
    with as many partitions and replicas, empty.
    """

    topic: str = field(metadata=told("its name"))


@verb(
    "logs are cleaned",
    summary="""Make the brokers check logs for retention and compaction now, of all topics or of one;
    otherwise they do so every log.retention.check.interval.ms and log.cleaner.backoff.ms.
    No inverse: deleted records do not come back.""",
    further={"topic": ": those of {topic}", "partition": ", partition {partition}"},
    command="clean-logs",
    again=True,
)
@dataclass(frozen=True, slots=True)
class CleanLogs:
    """Make the brokers check logs for retention and compaction at once, of all topics or of one;
    otherwise they do so every log.retention.check.interval.ms and log.cleaner.backoff.ms. `now`
    False: at their next check. No inverse: deleted records do not come back.
    """

    topic: str | None = field(default=None, metadata=told("topic (default: all)"))
    partition: int | None = field(
        default=None, metadata=told("partition (default: all of the topic)")
    )
    now: bool = field(default=True, metadata=told("false: at the brokers' next check instead"))


BrokerVerb = (
    StopBroker
    | StartBroker
    | MoveLeader
    | MoveCoordinator
    | ReassignPartition
    | FenceBroker
    | UnfenceBroker
    | CutLink
    | HealLink
    | CutClient
    | HealClient
    | SlowFollower
    | SlowBroker
    | SlowLoad
    | JumpClock
    | CleanLogs
)
ControllerVerb = UpdateFeature | CreateTopic | CreatePartitions | DeleteTopic
"""Verbs that are carried out by a request to the controller."""
Verb = BrokerVerb | ControllerVerb
VERBS: Final[dict[str, type[Any]]] = {kind.__name__: kind for kind in get_args(Verb)}
"""Classes of the verbs by name."""
