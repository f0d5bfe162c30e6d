"""A scenario as values: what a checked file says, ready for the world. Raises ScenarioError for what does not go together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from assignors import TopicPartition

from ..broker.build import TopicError, topic_options
from ..brokers import ClusterError
from ..cluster.configs import BrokerConfigs, ConfigError
from ..control import cluster as verbs
from ..control import faults
from ..judges import ALL
from ..members import MemberConfig, MemberConfigError
from ..members.application import CommitPolicy
from ..members.fetch_config import FetchConfig
from ..members.producer_config import ProducerConfig
from ..members.settings import from_properties, names
from . import catalogue
from .composing import Load
from .member import Consuming
from .reading import Plain, ScenarioError, parse
from .schema import TABLES
from .triggers import WHEN, Trigger

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

    def consuming_as(self, client_id: str) -> Consuming | None:
        """How one of them consumes: pipelines have transactional ids of their own."""
        plan = self.consuming
        if plan is None or plan.producer is None:
            return plan
        return replace(plan, producer=replace(plan.producer, client_id=client_id, transactional_id=f"{self.group}-{client_id}"))

    def config(self, client_id: str) -> MemberConfig:
        """The settings of one of them. Raises MemberConfigError."""
        own = {"group.id": self.group, "client.id": client_id}
        if self.consuming is not None:
            own["enable.auto.commit"] = str(self.commit == "auto").lower()
        if self.static:
            own["group.instance.id"] = client_id
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

    def config(self, client_id: str) -> ProducerConfig:
        """The settings of one of them. Raises MemberConfigError."""
        own = {"client.id": client_id}
        if self.transactional:
            own["transactional.id"] = client_id
        elif self.properties.get("acks") in ("0", "1"):  # Java's default then
            own["enable.idempotence"] = self.properties.get("enable.idempotence", "false")
        return from_properties(ProducerConfig, {**self.properties, **own}, "a producer")


Kind = MemberKind | ProducerKind


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """A fault and its times. `lasts_ms` None: it is not undone; `longest_ms`: it lasts from `lasts_ms` to so long.

    `trigger`: what it waits for, instead of `at_ms`. One of `verb`, `member_verb` and `request` is given.
    """

    at_ms: int
    lasts_ms: int | None
    verb: verbs.Verb | None = None
    member_verb: tuple[str, Plain] | None = None
    request: faults.Fault | None = None
    longest_ms: int | None = None
    times: int = 1
    every_ms: int = 0
    trigger: Trigger | None = None
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
    members: tuple[MemberKind, ...]
    producers: tuple[ProducerKind, ...]
    churn: tuple[Plain, ...]
    faults: tuple[FaultPlan, ...]
    judges: tuple[str, ...]
    stable_within_ms: int | None
    most_rebalances: int | None
    lines: dict[str, str]
    """Where things stand, as "file, line 7": by the name of their table and, in an array, their number from 0 on ("faults 0")."""


MEMBER_VERBS: dict[str, tuple[str, ...]] = {
    "CutMember": ("member", "broker", "direction"),
    "SlowMember": ("member", "broker", "direction", "bytes_per_second"),
    "PauseMember": ("member",),
    "ResetMember": ("member",),
}
"""What can be done to a member's host and links, and what each needs to know."""
DIRECTIONS = ("both", "to_broker", "from_broker")


def read_scenario(text: str, name: str, settings: tuple[str, ...] = (), load: Load | None = None) -> Scenario:
    """A scenario from its file's text. `load` finds what it extends (default: shipped scenarios). Raises ScenarioError."""
    plain = parse(text, name, settings, load or (lambda base, _: (catalogue.text(base), base)))
    try:
        return _scenario(plain, name)
    except (MemberConfigError, ConfigError, TopicError, faults.FaultError, ClusterError) as error:
        raise ScenarioError(f"{name}: {error}") from None


def _scenario(plain: Plain, name: str) -> Scenario:
    if not plain["members"]:
        raise ScenarioError(f"{name}: there are no members: write [[members]] with name and topics")
    topics: dict[str, int] = plain["topics"]
    topic_options(topics)
    kinds = tuple(_kind(each, topics, name) for each in plain["members"])
    producers = tuple(_producer(each, topics, plain["duration"], name) for each in plain["producers"])
    clients: tuple[Kind, ...] = (*kinds, *producers)
    called = [kind.name for kind in clients]
    if len(set(called)) < len(called):
        raise ScenarioError(f"{name}: two kinds of members or producers have the same name: {', '.join(called)}")
    for churn in plain["churn"]:
        _check_churn(churn, clients, name)
    brokers = plain["brokers"]
    if not brokers["count"]:
        raise ScenarioError(f"{name}: brokers.count = 0: at least 1")
    config = {**DEFAULT_BROKER_CONFIG, **brokers["config"]}
    configs = BrokerConfigs(config, node_id=1)
    for kind in kinds:
        _check_remote_assignor(kind, configs.get_list("group.consumer.assignors"), name)
    must = plain["must"]
    known = [judge.name for judge in ALL]
    for judge in must["judges"]:
        if judge not in known:
            raise ScenarioError(f"{name}: must.judges: there is no judge {judge}; they are {', '.join(known)}")
    faults_ = tuple(
        replace(_fault(each, clients, brokers["count"], name), line=plain["lines"][f"faults {number}"])
        for number, each in enumerate(plain["faults"]))
    return Scenario(
        plain["name"] or name, plain["lesson"], plain["duration"], topics, brokers["count"], config, brokers["metadata_delay"],
        plain["links"]["delay"], plain["links"]["bandwidth"], kinds, producers, tuple(plain["churn"]), faults_, must["judges"],
        must["stable_within"], must["most_rebalances"], plain["lines"])


def _kind(plain: Plain, topics: dict[str, int], name: str) -> MemberKind:
    for topic in plain["topics"]:
        if topic not in topics:
            raise ScenarioError(f"{name}: members {plain['name']} subscribe to {topic}, which [topics] does not name")
    properties = {"group.protocol": plain["protocol"], **_assignor(plain, name), **plain["config"]}
    consuming = None
    if plain["consumes"] or plain["commit"] == "transaction":
        consuming = _consuming(plain, properties, topics, name)
    elif plain["commit"] != "auto" or plain["processing"] or plain["output"]:
        raise ScenarioError(f"{name}: members {plain['name']}: commit, processing and output need consumes = true")
    kind = MemberKind(
        plain["name"], plain["count"], plain["group"], plain["topics"], plain["static"], plain["start"], plain["reads"], properties,
        plain["versions"], plain["commit"], consuming)
    kind.config(f"{kind.name}-1").make_assignors()
    return kind


def _consuming(plain: Plain, properties: dict[str, str], topics: dict[str, int], name: str) -> Consuming:
    """How members consume; what concerns fetching moves out of `properties`."""
    known = names(FetchConfig)
    fetch = {"auto.offset.reset": "earliest"} | {key: properties.pop(key) for key in list(properties) if key in known}
    config = from_properties(FetchConfig, fetch, "a consumer")
    policy = CommitPolicy(plain["commit"])
    if policy is not CommitPolicy.TRANSACTION:
        if plain["output"] is not None:
            raise ScenarioError(f'{name}: members {plain["name"]}: output needs commit = "transaction"')
        return Consuming(config, policy, plain["processing"])
    if plain["output"] not in topics:
        raise ScenarioError(f"{name}: members {plain['name']}: output = {plain['output']!r}: one of [topics], {', '.join(topics)}")
    properties.setdefault("isolation.level", "read_committed")
    output = tuple(TopicPartition(plain["output"], number) for number in range(topics[plain["output"]]))
    return Consuming(config, policy, plain["processing"], output, ProducerConfig(linger_ms=0))


def _producer(plain: Plain, topics: dict[str, int], duration_ms: int, name: str) -> ProducerKind:
    for topic in plain["topics"]:
        if topic not in topics:
            raise ScenarioError(f"{name}: producers {plain['name']} write to {topic}, which [topics] does not name")
    if not plain["rate"]:
        raise ScenarioError(f"{name}: producers {plain['name']}: rate = 0: at least 1 record a second")
    partitions = tuple(TopicPartition(topic, number) for topic in plain["topics"] for number in range(topics[topic]))
    stop = plain["stop"] if plain["stop"] is not None else max(duration_ms - 30_000, 0)
    kind = ProducerKind(
        plain["name"], plain["count"], partitions, plain["start"], stop, plain["rate"], plain["transactional"], plain["transaction"],
        plain["abort_every"], dict(plain["config"]))
    kind.config(f"{kind.name}-1")
    return kind


def _assignor(plain: Plain, name: str) -> dict[str, str]:
    """Whose choice the assignor is: in the classic protocol the members', in the consumer protocol the coordinator's."""
    names = plain["assignor"]
    if plain["protocol"] == "classic":
        return {"partition.assignment.strategy": ",".join(names or DEFAULT_ASSIGNORS)}
    if len(names) > 1:
        kind = plain["name"]
        raise ScenarioError(f'{name}: members {kind}: protocol = "consumer" takes one assignor of the coordinator, not {", ".join(names)}')
    return {"group.remote.assignor": names[0]} if names else {}


def _check_remote_assignor(kind: MemberKind, served: list[str], name: str) -> None:
    """An assignor that no coordinator has would end every member (K8-VAL-3). A user's own, `module:Class`, may be called anything."""
    asked = kind.properties.get("group.remote.assignor")
    if asked is not None and asked not in served and not any(":" in entry for entry in served):
        has = f"coordinators have no assignor {asked}, but {', '.join(served)}"
        raise ScenarioError(f'{name}: members {kind.name}: protocol = "consumer": {has}')


def _check_churn(churn: Plain, kinds: tuple[Kind, ...], name: str) -> None:
    single = churn["kind"] in ("restart", "stall")
    whom = churn["members"]
    called = [kind.name for kind in kinds]
    if whom not in called and not (single and any(whom in members_of(kind) for kind in kinds)):
        right = f"one of {', '.join(called)}" + (f", or a single one such as {called[0]}-1" if single else "")
        raise ScenarioError(f"{name}: churn {churn['kind']} of members {whom}: give {right}")
    becomes = churn["becomes"]
    if becomes is not None and not any(kind.name == becomes for kind in kinds if isinstance(kind, MemberKind)):
        raise ScenarioError(f"{name}: churn {churn['kind']}: becomes = {becomes!r}: one of {', '.join(called)}")
    if churn["surge"] and becomes is not None:
        raise ScenarioError(f"{name}: churn rolling: either surge or becomes")
    if churn["kind"] == "waves" and churn["low"] >= churn["to"]:
        raise ScenarioError(f"{name}: churn waves: low = {churn['low']} is to be below to = {churn['to']}")
    trigger_of(churn, name)
    if churn["kind"] == "rolling" and not churn["at_once"]:
        raise ScenarioError(f"{name}: churn rolling: at_once = 0: at least 1")


def trigger_of(plain: Plain, name: str) -> Trigger | None:
    """What a fault or a piece of churn waits for; None: for its time."""
    if plain.get("when") is None:
        if plain.get("of") or plain.get("later"):
            raise ScenarioError(f"{name}: of, seen and later need when: one of {', '.join(WHEN)}")
        return None
    if plain["at"]:
        raise ScenarioError(f"{name}: either at or when; later says how long after {plain['when']!r}")
    return Trigger(plain["when"], plain["of"], max(plain["seen"], 1), plain["later"])


def members_of(kind: Kind) -> list[str]:
    """The client ids of those that start with the scenario."""
    return [f"{kind.name}-{number}" for number in range(1, kind.count + 1)]


def _fault(plain: Plain, kinds: tuple[Kind, ...], brokers: int, name: str) -> FaultPlan:
    fields: dict[str, Any] = {key: value for key, value in plain.items() if key not in TABLES["faults"].keys}
    lasts, verb, action = plain["lasts"], plain["verb"], plain["action"]
    if plain["repeats"] > 1 and (lasts is None or lasts[1] >= plain["every"]):
        what = f"fault {verb or action}: repeats = {plain['repeats']}"
        raise ScenarioError(f"{name}: {what} needs a lasts shorter than every, {plain['every']} ms")
    shortest, longest = lasts if lasts is not None else (None, None)
    plan = FaultPlan(
        plain["at"], shortest, longest_ms=longest, times=plain["repeats"], every_ms=plain["every"], trigger=trigger_of(plain, name))
    if (verb is None) == (action is None):
        raise ScenarioError(f"{name}: a fault has either a verb or an action")
    if action is not None:
        return replace(plan, request=faults.from_plain({"action": action, **fields}))
    if verb in MEMBER_VERBS:
        return replace(plan, member_verb=(verb, _member_verb(verb, fields, kinds, brokers, name)))
    if verb not in verbs.VERBS:
        faults.choose(str(verb), [*verbs.VERBS, *MEMBER_VERBS], "verb")
    return replace(plan, verb=verbs.from_plain({"verb": verb, **fields}))


def _member_verb(verb: str, fields: Plain, kinds: tuple[Kind, ...], brokers: int, name: str) -> Plain:
    known = MEMBER_VERBS[verb]
    for key in fields:
        if key not in known:
            raise ScenarioError(f"{name}: {verb} has the keys {', '.join(known)}, not {key}")
    everybody = [each for kind in kinds for each in members_of(kind)]
    if fields.get("member") not in everybody:
        raise ScenarioError(f"{name}: {verb}: member {fields.get('member')!r} is not there; there are {', '.join(everybody[:10])}")
    if fields.get("direction", "both") not in DIRECTIONS:
        raise ScenarioError(f"{name}: {verb}: direction {fields['direction']!r}: one of {', '.join(DIRECTIONS)}")
    rate = fields.get("bytes_per_second")
    if verb == "SlowMember" and (type(rate) is not int or rate < 1):
        raise ScenarioError(f"{name}: {verb}: bytes_per_second = {rate!r}: give a whole number from 1 on, such as 2000")
    broker = fields.get("broker")
    if broker is not None and (type(broker) is not int or not 1 <= broker <= brokers):
        raise ScenarioError(f"{name}: {verb}: broker {broker!r}: from 1 to {brokers}; without it, all")
    return fields
