"""A scenario as values: kinds of members and producers, churn, faults, and what must hold.
`scenario.py` makes them from a file; the world uses them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from assignors import TopicPartition
from coordinator.base.releases import Release
from coordinator.history.judges.grace import REAL_TIME
from coordinator.kit import cluster, faults
from coordinator.members import MemberConfig
from coordinator.members.producers.config import ProducerConfig
from coordinator.members.settings import from_properties

from ..clients.keys import NO_KEYS, Keys
from ..clients.member import Consuming
from ..triggers import Trigger
from ..wires import Wires
from .reading import Plain
from .security_keys import AclChange, Rights
from .share_kinds import ShareKind

DEFAULT_BROKER_CONFIG = {"group.initial.rebalance.delay.ms": "3000"}  # Kafka's own


@dataclass(frozen=True, slots=True)
class MemberKind:
    """Members that are alike."""

    name: str
    count: int
    group: str
    topics: tuple[str, ...]
    static: bool
    start_ms: tuple[int, int]
    reads: int
    """Records a second that each pretends to read from each of its partitions."""
    properties: dict[str, str]
    versions: str = "newest"
    """The client version whose request versions they use: a key of
    `members.requests.CLIENT_VERSIONS`."""
    commit: str = "auto"
    consuming: Consuming | None = None
    """None: it only pretends to read."""
    restarts_ms: tuple[int, int] | None = None
    """A process that ends by an error starts again after so long, at first and at most."""
    assigning_ms: int = 0
    """Time that the assignor of a leader takes, in ms."""
    transactional_id: str = ""
    """Of all of them, one after the other or at once; "": each has its own."""
    late_ms: tuple[int, int] = (0, 0)
    """Delay of heartbeats in ms: each member has its own between these two."""

    def consuming_as(self, client_id: str, identity: str = "") -> Consuming | None:
        """Return how one member of the kind consumes. Members that work in transactions have
        transactional ids of their own. `identity`: the client id whose identities it takes over."""
        plan = self.consuming
        if plan is None or plan.producer is None:
            return plan
        return replace(
            plan,
            producer=replace(
                plan.producer,
                client_id=client_id,
                transactional_id=self.transactional_id or f"{self.group}-{identity or client_id}",
            ),
        )

    def config(self, client_id: str, identity: str = "") -> MemberConfig:
        """Return the settings of one member. `identity`: the client id that a static member uses
        as its instance id, by default its own. Raises MemberConfigError."""
        own = {"group.id": self.group, "client.id": client_id}
        if self.consuming is not None:
            own["enable.auto.commit"] = str(self.commit == "auto").lower()
        if self.static:
            own["group.instance.id"] = identity or client_id
        return MemberConfig.from_properties({**self.properties, **own})


@dataclass(frozen=True, slots=True)
class ProducerKind:
    """Producers that are alike."""

    name: str
    count: int
    partitions: tuple[TopicPartition, ...]
    start_ms: tuple[int, int]
    stop_ms: int
    rate: int
    transactional: bool
    transaction_ms: int
    abort_every: int
    properties: dict[str, str]
    batch: int = 1
    """So many records are sent at once, to one partition."""
    keys: Keys = NO_KEYS
    transactional_id: str = ""
    """Of all of them; "": each has its client id."""

    def config(self, client_id: str, identity: str = "") -> ProducerConfig:
        """Return the settings of one producer. `identity`: its transactional id, by default the
        client id. Raises MemberConfigError."""
        own = {"client.id": client_id}
        if self.transactional:
            own["transactional.id"] = self.transactional_id or identity or client_id
        elif self.properties.get("acks") in ("0", "1"):  # Java's default then
            own["enable.idempotence"] = self.properties.get("enable.idempotence", "false")
        return from_properties(ProducerConfig, {**self.properties, **own}, "a producer")


Kind = MemberKind | ShareKind | ProducerKind


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """A fault and its times. `lasts_ms` None: it is not undone; `longest_ms`: it lasts from
    `lasts_ms` to so long.

    `trigger`: what it waits for, instead of `at_ms`. One of `verb`, `member_verb`, `request`,
    `later` and `acls` is given.
    """

    at_ms: int
    lasts_ms: int | None
    verb: cluster.Verb | None = None
    member_verb: tuple[str, Plain] | None = None
    request: faults.Fault | None = None
    longest_ms: int | None = None
    times: int = 1
    every_ms: int = 0
    trigger: Trigger | None = None
    later: tuple[str, Plain] | None = None
    """A verb of a cluster for brokers that are known only when it happens, and its fields."""
    line: str = ""
    """Its place: the file and the line."""
    acls: AclChange | None = None
    """ACLs that are made or deleted."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario. All times are milliseconds from its beginning."""

    name: str
    lesson: str
    duration_ms: int
    topics: dict[str, int]
    brokers: int
    broker_config: dict[str, str]
    metadata_delay_ms: int
    delay_ms: tuple[int, int]
    bandwidth: int
    wires: Wires
    """The kinds of links, those that are not as all others among them."""
    broker_capacity: int
    """So many requests a second each broker handles at most; 0: any number."""
    members: tuple[MemberKind, ...]
    producers: tuple[ProducerKind, ...]
    churn: tuple[Plain, ...]
    faults: tuple[FaultPlan, ...]
    judges: tuple[str, ...]
    stable_within_ms: int | None
    most_rebalances: int | None
    lines: dict[str, str]
    """Places of tables, as "file, line 7", by the table's name and, in an array, its number from
    0 on ("faults 0")."""
    release: Release
    """The release of its brokers."""
    may_fail: tuple[str, ...]
    """Kinds of members that may end by an error."""
    share_members: tuple[ShareKind, ...] = ()
    """Members of share groups."""
    groups: dict[str, dict[str, str]] = field(default_factory=dict)
    """Groups' own configurations."""
    grace_ms: int = REAL_TIME.late_ms
    """In real time: so far from its instant may happen what is due."""
    rights: Rights | None = None
    """Users and their rights; None: everybody may do everything."""

    @property
    def kinds(self) -> tuple[MemberKind | ShareKind, ...]:
        """Members of all groups."""
        return *self.members, *self.share_members

    @property
    def group_ids(self) -> list[str]:
        """The groups that members are of."""
        return list(dict.fromkeys(kind.group for kind in self.kinds))


def members_of(kind: Kind) -> list[str]:
    """Return the client ids of a kind's members or producers that start with the scenario."""
    return [f"{kind.name}-{number}" for number in range(1, kind.count + 1)]


def trigger_of(plain: Plain) -> Trigger | None:
    """Return the trigger of a fault or a piece of churn; None if it begins at a time."""
    return (
        None
        if plain["when"] is None
        else Trigger(
            plain["when"],
            plain["of"],
            max(plain["seen"], 1),
            plain["later"],
            plain["again"],
            plain["pause"],
        )
    )
