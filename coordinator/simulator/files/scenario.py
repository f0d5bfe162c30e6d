"""A scenario as values: what a checked file says, ready for the world. Raises ScenarioError for
what does not go together."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from assignors import TopicPartition

from ...broker.build import topic_options
from ...broker.environments.consumer import assignors
from ...configs.broker_configs import BrokerConfigs
from ...control import cluster, faults
from ...judges import ALL, OF_SHARE_GROUPS, OF_VIRTUAL_TIME
from ...judges.failures import ANY
from ...judges.grace import REAL_TIME
from ...members import MemberConfig
from ...members.applications.consuming import CommitPolicy
from ...members.consuming.fetch_config import FetchConfig
from ...members.producers.config import ProducerConfig
from ...members.settings import from_properties, names
from ...releases import NEWEST, Release
from ...verbs import ROWS
from ...verbs.members import MEMBER_VERBS
from ..clients.keys import NO_KEYS, Keys
from ..clients.member import Consuming
from ..triggers import Trigger
from ..wires import Wires
from . import catalogue
from .checks import (
    There,
    blamed,
    check_brokers,
    check_called,
    check_churn,
    check_fields,
    check_member,
    check_member_verb,
    check_producer,
    check_repeats,
    check_request_fault,
    check_trigger,
    check_verb,
    checked_release,
)
from .composing import Load
from .contradictions import (
    check_classic,
    check_made_once,
    check_said_twice,
    check_something_takes_time,
)
from .places import Places, Where
from .reading import Plain, ScenarioError, parse
from .schema import DEFAULT_HOT_SHARE, TABLES
from .share_kinds import (
    PROTOCOL,
    ShareKind,
    check_not_share,
    check_one_type,
    check_served,
    read_groups,
    read_share_kind,
)
from .sizes import check_replication, check_scale, check_sizes, check_topics
from .wires_keys import CUT_ZONE, check_zone, read_wires
from .work_keys import read_work

MOST_IN_A_BATCH = 1000
DEFAULT_ASSIGNORS = ("range", "cooperative-sticky")
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
    """Whose request versions they speak: a key of `members.requests.CLIENT_VERSIONS`."""
    commit: str = "auto"
    consuming: Consuming | None = None
    """None: it only pretends to read."""
    restarts_ms: tuple[int, int] | None = None
    """A process that ends by an error starts again after so long, at first and at most."""
    assigning_ms: int = 0
    """How long the assignor of a leader among them takes."""
    transactional_id: str = ""
    """Of all of them, one after the other or at once; "": each has its own."""
    late_ms: tuple[int, int] = (0, 0)
    """How much later than due their heartbeats are sent: each has its own between these two."""

    def consuming_as(self, client_id: str, identity: str = "") -> Consuming | None:
        """How one of them consumes: pipelines have transactional ids of their own. `identity`: the
        client id of whose identities it has."""
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
        """The settings of one of them. `identity`: the client id of whose identities it has. Raises
        MemberConfigError."""
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
        """The settings of one of them, `identity` as of members. Raises MemberConfigError."""
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

    `trigger`: what it waits for, instead of `at_ms`. One of `verb`, `member_verb`, `request` and
    `later` is given.
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
    """Where it stands: the file and the line."""


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
    """What links are like, those that are not as all others among them."""
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
    """Where things stand, as "file, line 7": by the name of their table and, in an array, their
    number from 0 on ("faults 0")."""
    release: Release
    """What its brokers behave as."""
    may_fail: tuple[str, ...]
    """Kinds of members that may end by an error."""
    share_members: tuple[ShareKind, ...] = ()
    """Members of share groups."""
    groups: dict[str, dict[str, str]] = field(default_factory=dict)
    """Groups' own configurations."""
    grace_ms: int = REAL_TIME.late_ms
    """In real time: so far from its instant may happen what is due."""

    @property
    def kinds(self) -> tuple[MemberKind | ShareKind, ...]:
        """Members of all groups."""
        return *self.members, *self.share_members

    @property
    def group_ids(self) -> list[str]:
        """The groups that members are of."""
        return list(dict.fromkeys(kind.group for kind in self.kinds))


def read_scenario(
    text: str, name: str, settings: tuple[str, ...] = (), load: Load | None = None
) -> Scenario:
    """A scenario from its file's text. `load` finds what it extends (default: shipped scenarios).
    Raises ScenarioError."""
    return _scenario(
        parse(text, name, settings, load or (lambda base, _: (catalogue.text(base), base))), name
    )


def _scenario(plain: Plain, name: str) -> Scenario:
    places: Places = plain["places"]
    if not plain["members"]:
        raise ScenarioError(f"{name}: there are no members: write [[members]] with name and topics")
    check_scale(plain, places.where)
    topics: dict[str, int] = plain["topics"]
    with blamed(places.where("topics")):
        topic_options(topics)
    later, deleted = _topics_of("CreateTopic", plain), _topics_of("DeleteTopic", plain)
    kinds = [
        _kind(each, topics, later, places.where("members", index))
        for index, each in enumerate(plain["members"])
    ]
    check_one_type(
        [(kind.group, isinstance(kind, ShareKind)) for kind in kinds],
        lambda index: places.where("members", index),
    )
    producers = tuple(
        _producer(each, topics, plain["duration"], places.where("producers", index))
        for index, each in enumerate(plain["producers"])
    )
    for table in ("members", "producers"):
        for index, each in enumerate(plain[table]):
            check_something_takes_time(each, plain["links"]["delay"][0], places.where(table, index))
    brokers, where = plain["brokers"], places.where("brokers")
    config = {**DEFAULT_BROKER_CONFIG, **brokers["config"]}
    version = brokers["kafka_version"]
    release = checked_release(version, "brokers.", where) if version else NEWEST
    with blamed(where):
        configs = BrokerConfigs(config, node_id=1, release=release)
        assignors(configs)
    check_replication(brokers["config"], configs, brokers["count"], where)
    check_topics(topics, configs, brokers["count"], places.where("topics"), where)
    there = There(
        {kind.name: kind.count for kind in kinds},
        {kind.name: kind.count for kind in producers},
        tuple(dict.fromkeys(kind.group for kind in kinds)),
        topics,
        brokers["count"],
        later,
        deleted,
        frozenset(
            kind.properties.get("group.instance.id", kind.name if kind.static else "")
            for kind in kinds
            if isinstance(kind, MemberKind)
        ),
        frozenset(kind.transactional_id or kind.name for kind in producers if kind.transactional)
        | frozenset(
            kind.transactional_id or f"{kind.group}-{kind.name}"
            for kind in kinds
            if isinstance(kind, MemberKind) and kind.commit == "transaction"
        ),
        frozenset(
            kind.group
            for kind in kinds
            if isinstance(kind, MemberKind) and kind.consuming is not None
        ),
        frozenset(plain["brokers"]["zones"])
        | {each["zone"] for table in ("members", "producers") for each in plain[table]} - {""},
    )
    if "consumer" not in configs.get_list("group.coordinator.rebalance.protocols"):
        check_classic(plain["members"], lambda index: places.where("members", index))
    check_served(kinds, release, lambda index: places.where("members", index))
    _check_clients(kinds, producers, configs, places)
    groups = read_groups(
        plain["groups"], there.groups, configs, lambda index: places.where("groups", index)
    )
    check_sizes(
        sum(there.members.values()) + sum(there.producers.values()), places.where("members")
    )
    for index, churn in enumerate(plain["churn"]):
        check_churn(churn, there, places.where("churn", index))
    must, where = plain["must"], places.where("must")
    known = [judge.name for judge in (*ALL, *OF_SHARE_GROUPS, *OF_VIRTUAL_TIME)]
    if not must["judges"] and where.at("judges") != str(where):
        raise ScenarioError(
            f"{where.at('judges')}: must.judges = []: name at least one, or leave the key out for all"
        )
    for judge in must["judges"]:
        if judge not in known:
            raise ScenarioError(
                f"{where.at('judges')}: must.judges: there is no judge {judge}; they are {', '.join(known)}"
            )
    check_said_twice("must.judges", must["judges"], where.at("judges"))
    for kind_name in must["may_fail"]:
        if kind_name not in there.members and kind_name != ANY:
            raise ScenarioError(
                f"{where.at('may_fail')}: must.may_fail: there are no members {kind_name}; there are {', '.join(there.members)}"
            )
    check_made_once(plain["faults"], lambda index: places.where("faults", index))
    faults_ = tuple(
        _fault(each, there, places.where("faults", index))
        for index, each in enumerate(plain["faults"])
    )
    lines = {
        table: str(places.where(table)) for table in TABLES if table and not TABLES[table].several
    }
    lines |= {
        f"{table} {index}": str(places.where(table, index))
        for table in ("churn", "faults")
        for index in range(len(plain[table]))
    }
    return Scenario(
        plain["name"] or name,
        plain["lesson"],
        plain["duration"],
        topics,
        brokers["count"],
        config,
        brokers["metadata_delay"],
        plain["links"]["delay"],
        plain["links"]["bandwidth"],
        read_wires(plain, places),
        brokers["requests_per_second"],
        tuple(kind for kind in kinds if isinstance(kind, MemberKind)),
        producers,
        tuple(plain["churn"]),
        faults_,
        must["judges"],
        must["stable_within"],
        must["most_rebalances"],
        lines,
        release,
        must["may_fail"],
        tuple(kind for kind in kinds if isinstance(kind, ShareKind)),
        groups,
        must["grace"],
    )


def _topics_of(verb: str, plain: Plain) -> frozenset[str]:
    """The topics that faults of this verb name."""
    named = [fault.get("topic") for fault in plain["faults"] if fault["verb"] == verb]
    return frozenset(name for name in named if isinstance(name, str))


def _kind(
    plain: Plain, topics: dict[str, int], later: frozenset[str], where: Where
) -> MemberKind | ShareKind:
    name = f"members {plain['name']}"
    if plain["protocol"] == PROTOCOL:
        share_kind = read_share_kind(plain, where)
        _check_subscribed(name, plain["topics"], topics, later, where)
        return share_kind
    check_member(plain, where)
    check_not_share(plain, where)
    if plain["assigning"] and plain["protocol"] != "classic":
        raise ScenarioError(
            f'{where.at("assigning")}: {name}: assigning needs protocol = "classic": the coordinator assigns'
        )
    if plain["transactional_id"] and plain["commit"] != "transaction":
        raise ScenarioError(
            f'{where.at("transactional_id")}: {name}: transactional_id needs commit = "transaction"'
        )
    _check_subscribed(name, plain["topics"], topics, later, where)
    with blamed(where):
        properties = {
            "group.protocol": plain["protocol"],
            **({"client.rack": plain["zone"]} if plain["zone"] else {}),
            **_assignor(plain, where),
            **plain["config"],
        }
        consuming = None
        if plain["consumes"] or plain["commit"] == "transaction":
            consuming = _consuming(plain, properties, topics, where)
        else:
            for key, default in (
                ("commit", "auto"),
                ("processing", 0),
                ("output", None),
                ("slow", {}),
                ("per", "record"),
                ("poison", 0),
                ("on_poison", "fails"),
            ):
                if plain[key] != default:
                    raise ScenarioError(f"{where.at(key)}: {name}: {key} needs consumes = true")
        kind = MemberKind(
            plain["name"],
            plain["count"],
            plain["group"],
            plain["topics"],
            plain["static"],
            plain["start"],
            plain["reads"],
            properties,
            plain["versions"],
            plain["commit"],
            consuming,
            plain["restarts"],
            plain["assigning"],
            plain["transactional_id"],
            plain["late"],
        )
        kind.config(f"{kind.name}-1").make_assignors()
    return kind


def _check_subscribed(
    name: str, named: tuple[str, ...], topics: dict[str, int], later: frozenset[str], where: Where
) -> None:
    for topic in named:
        if topic not in topics and topic not in later:
            raise ScenarioError(
                f"{where.at('topics')}: {name} subscribe to {topic}, which [topics] does not name, nor any CreateTopic"
            )


def _consuming(
    plain: Plain, properties: dict[str, str], topics: dict[str, int], where: Where
) -> Consuming:
    """How members consume; what concerns fetching moves out of `properties`."""
    known = names(FetchConfig)
    fetch = {"auto.offset.reset": "earliest"} | {
        key: properties.pop(key) for key in list(properties) if key in known
    }
    config = from_properties(FetchConfig, fetch, "a consumer")
    policy = CommitPolicy(plain["commit"])
    work = read_work(plain, topics, where)
    if policy is not CommitPolicy.TRANSACTION:
        if plain["output"] is not None:
            raise ScenarioError(
                f'{where.at("output")}: members {plain["name"]}: output needs commit = "transaction"'
            )
        return Consuming(config, policy, *work)
    if plain["output"] not in topics:
        said = f"there is no topic {plain['output']}" if plain["output"] else "output is missing"
        right = f"a pipeline writes to one of [topics], {', '.join(topics)}"
        raise ScenarioError(f"{where.at('output')}: members {plain['name']}: {said}: {right}")
    if plain["output"] in plain["topics"]:
        said = f"output = {plain['output']!r}: they subscribe to it, too, and would read all that they write: give another topic"
        raise ScenarioError(f"{where.at('output')}: members {plain['name']}: {said}")
    properties.setdefault("isolation.level", "read_committed")
    output = tuple(
        TopicPartition(plain["output"], number) for number in range(topics[plain["output"]])
    )
    return Consuming(config, policy, *work, output, ProducerConfig(linger_ms=0))


def _producer(plain: Plain, topics: dict[str, int], duration_ms: int, where: Where) -> ProducerKind:
    name = f"producers {plain['name']}"
    for topic in plain["topics"]:
        if topic not in topics:
            raise ScenarioError(
                f"{where.at('topics')}: {name} write to {topic}, which [topics] does not name"
            )
    if not plain["rate"]:
        raise ScenarioError(f"{where.at('rate')}: {name}: rate = 0: at least 1 record a second")
    if plain["transactional_id"] and not plain["transactional"]:
        raise ScenarioError(
            f"{where.at('transactional_id')}: {name}: transactional_id needs transactional = true"
        )
    if not 1 <= plain["batch"] <= MOST_IN_A_BATCH:
        raise ScenarioError(
            f"{where.at('batch')}: {name}: batch = {plain['batch']}: from 1 to {MOST_IN_A_BATCH} records"
        )
    if plain["abort_every"] and not plain["transactional"]:
        raise ScenarioError(
            f"{where.at('abort_every')}: {name}: abort_every needs transactional = true"
        )
    partitions = tuple(
        TopicPartition(topic, number)
        for topic in plain["topics"]
        for number in range(topics[topic])
    )
    stop = plain["stop"] if plain["stop"] is not None else max(duration_ms - 30_000, 0)
    check_producer(plain, stop, duration_ms, where)
    kind = ProducerKind(
        plain["name"],
        plain["count"],
        partitions,
        plain["start"],
        stop,
        plain["rate"],
        plain["transactional"],
        plain["transaction"],
        plain["abort_every"],
        dict(plain["config"]),
        plain["batch"],
        _keys(plain, where),
        plain["transactional_id"],
    )
    with blamed(where):
        kind.config(f"{kind.name}-1")
    return kind


def _keys(plain: Plain, where: Where) -> Keys:
    name, keys, hot = f"producers {plain['name']}", plain["keys"], plain["hot_keys"]
    if hot and hot > keys:
        raise ScenarioError(
            f"{where.at('hot_keys')}: {name}: hot_keys = {hot}: at most keys, {keys}"
        )
    if plain["hot_share"] != DEFAULT_HOT_SHARE and not hot:
        raise ScenarioError(f"{where.at('hot_share')}: {name}: hot_share needs hot_keys")
    if not 1 <= plain["hot_share"] <= 100:
        raise ScenarioError(
            f"{where.at('hot_share')}: {name}: hot_share = {plain['hot_share']}: 1 to 100 per cent"
        )
    return Keys(keys, hot, plain["hot_share"])


def _check_clients(
    kinds: list[MemberKind | ShareKind],
    producers: tuple[ProducerKind, ...],
    configs: BrokerConfigs,
    places: Places,
) -> None:
    """What clients may be called, and what brokers let them ask for."""
    tables = [("members", index) for index in range(len(kinds))] + [
        ("producers", index) for index in range(len(producers))
    ]
    names_ = [kind.name for kind in kinds] + [kind.name for kind in producers]
    check_called(names_, [places.where(table, index) for table, index in tables])
    least, most = (
        configs.get_int("group.min.session.timeout.ms"),
        configs.get_int("group.max.session.timeout.ms"),
    )
    for index, kind in enumerate(kinds):
        if isinstance(kind, ShareKind):
            continue
        where = places.where("members", index)
        config = kind.config(f"{kind.name}-1")
        _check_remote_assignor(kind, configs.get_list("group.consumer.assignors"), where)
        _check_late(kind, config, configs, where)
        if not config.speaks_consumer and not least <= config.session_timeout_ms <= most:
            said = f"session.timeout.ms = {config.session_timeout_ms}: brokers take {least} to {most} ms"
            settings = "group.min.session.timeout.ms, group.max.session.timeout.ms"
            raise ScenarioError(
                f"{where.of('session.timeout.ms')}: members {kind.name}: {said} ({settings})"
            )
    longest = configs.get_int("transaction.max.timeout.ms")
    for index, producer in enumerate(producers):
        where = places.where("producers", index)
        asked = producer.config(f"{producer.name}-1").transaction_timeout_ms
        if producer.transactional and asked > longest:
            said = f"transaction.timeout.ms = {asked}: brokers take at most {longest} ms (transaction.max.timeout.ms)"
            raise ScenarioError(
                f"{where.of('transaction.timeout.ms')}: producers {producer.name}: {said}"
            )


def _check_late(
    kind: MemberKind, config: MemberConfig, configs: BrokerConfigs, where: Where
) -> None:
    """Heartbeats that are late come before the session ends all the same."""
    if config.speaks_consumer:
        of = "group.consumer"
        interval_ms, session_ms = (
            configs.get_int(f"{of}.heartbeat.interval.ms"),
            configs.get_int(f"{of}.session.timeout.ms"),
        )
    else:
        interval_ms, session_ms = config.heartbeat_interval_ms, config.session_timeout_ms
    if kind.late_ms[1] and interval_ms + kind.late_ms[1] >= session_ms:
        said = f"late = {kind.late_ms[1]} ms after an interval of {interval_ms} ms: the session of {session_ms} ms would end first"
        raise ScenarioError(
            f"{where.at('late')}: members {kind.name}: {said}: give less than {session_ms - interval_ms} ms"
        )


def _check_remote_assignor(kind: MemberKind, served: list[str], where: Where) -> None:
    """An assignor that no coordinator has would end every member (K8-VAL-3). A user's own,
    `module:Class`, may be called anything."""
    asked = kind.properties.get("group.remote.assignor")
    if asked is not None and asked not in served and not any(":" in entry for entry in served):
        has = f"coordinators have no assignor {asked}, but {', '.join(served)}"
        raise ScenarioError(
            f'{where.at("assignor")}: members {kind.name}: protocol = "consumer": {has}'
        )


def members_of(kind: Kind) -> list[str]:
    """The client ids of those that start with the scenario."""
    return [f"{kind.name}-{number}" for number in range(1, kind.count + 1)]


def _assignor(plain: Plain, where: Where) -> dict[str, str]:
    """Whose choice the assignor is: in the classic protocol the members', in the consumer protocol
    the coordinator's."""
    names = plain["assignor"]
    if plain["protocol"] == "classic":
        return {"partition.assignment.strategy": ",".join(names or DEFAULT_ASSIGNORS)}
    if plain["versions"] != "newest":
        said = f'clients of Kafka {plain["versions"]} have no protocol = "consumer"'
        raise ScenarioError(f"{where.at('versions')}: members {plain['name']}: {said}")
    if len(names) > 1:
        said = (
            f'protocol = "consumer" takes one assignor of the coordinator, not {", ".join(names)}'
        )
        raise ScenarioError(f"{where.at('assignor')}: members {plain['name']}: {said}")
    return {"group.remote.assignor": names[0]} if names else {}


def trigger_of(plain: Plain) -> Trigger | None:
    """What a fault or a piece of churn waits for; None: for its time."""
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


def _fault(plain: Plain, there: There, where: Where) -> FaultPlan:
    fields: dict[str, Any] = {
        key: value for key, value in plain.items() if key not in TABLES["faults"].keys
    }
    lasts, verb, action = plain["lasts"], plain["verb"], plain["action"]
    if (verb is None) == (action is None):
        raise ScenarioError(f"{where}: a fault has either a verb or an action")
    shortest, longest = lasts if lasts is not None else (None, None)
    check_trigger(plain, there, where)
    plan = FaultPlan(
        plain["at"],
        shortest,
        longest_ms=longest,
        times=plain["repeats"],
        every_ms=plain["every"],
        trigger=trigger_of(plain),
        line=str(where),
    )
    with blamed(where):
        if verb == CUT_ZONE:
            check_repeats(plain, where)
            return replace(plan, later=(CUT_ZONE, check_zone(fields, there, where)))
        if verb is not None:
            verb = faults.choose(verb, [*ROWS, CUT_ZONE], "verb")
        if action is not None:
            plan = replace(plan, request=faults.from_plain({"action": action, **fields}))
            check_request_fault(action, fields, there, where)
        elif verb in MEMBER_VERBS:
            plan = replace(
                plan, member_verb=(verb, check_member_verb(verb, fields, plain, there, where))
            )
        else:
            check_fields(str(verb), fields, where)
            known = check_brokers(str(verb), fields, there, where)
            made = cluster.from_plain({"verb": verb, **known})
            check_verb(str(verb), known, there, where)
            plan = (
                replace(plan, later=(str(verb), fields))
                if known != fields
                else replace(plan, verb=made)
            )
    check_repeats(plain, where)
    return plan
