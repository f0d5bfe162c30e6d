"""Kinds of members and producers: read from a scenario file, and checked against each other and
against the brokers' settings. Raises ScenarioError for contradictions."""

from __future__ import annotations

from difflib import get_close_matches

from assignors import TopicPartition
from coordinator.members import MemberConfig, MemberConfigError
from coordinator.members.applications.consuming import CommitPolicy
from coordinator.members.consuming.fetch_config import FetchConfig
from coordinator.members.producers.config import ProducerConfig
from coordinator.members.settings import from_properties, names
from coordinator.server.settings.broker_configs import BrokerConfigs

from ..clients.keys import Keys
from ..clients.member import Consuming
from .client_checks import check_called, check_member, check_producer
from .key_positions import Places, Where
from .model import MemberKind, ProducerKind
from .reading import Plain, ScenarioError
from .schema import DEFAULT_HOT_SHARE
from .share_kinds import PROTOCOL, ShareKind, check_not_share, read_share_kind
from .there import blamed
from .work_keys import read_work

MOST_IN_A_BATCH = 1000
BURSTS_A_SECOND = 4
"""Number of times that a producer sends in a second unless `batch` says otherwise; records are
sent in batches."""
DEFAULT_ASSIGNORS = ("range", "cooperative-sticky")


def read_kind(
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
        _check_spelling(plain["config"])
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


def _check_spelling(config: Plain) -> None:
    """Check the spelling of all settings that a member may have; each part of a member reads its
    own later."""
    known = names(MemberConfig) | names(FetchConfig)
    for name in config:
        if name not in known and (close := get_close_matches(name, sorted(known), 1)):
            raise MemberConfigError(f"{name} is no setting of a member: {close[0]} is")


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
    """Return how members consume; settings about fetching are removed from `properties`."""
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


def read_producer(
    plain: Plain, topics: dict[str, int], duration_ms: int, where: Where
) -> ProducerKind:
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
    batch = plain["batch"]
    if batch is None:  # several records of an application's request, message or row
        batch = min(max(plain["rate"] // BURSTS_A_SECOND, 1), MOST_IN_A_BATCH)
    if not 1 <= batch <= MOST_IN_A_BATCH:
        raise ScenarioError(
            f"{where.at('batch')}: {name}: batch = {batch}: from 1 to {MOST_IN_A_BATCH} records"
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
        batch,
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


def check_clients(
    kinds: list[MemberKind | ShareKind],
    producers: tuple[ProducerKind, ...],
    configs: BrokerConfigs,
    places: Places,
) -> None:
    """Check the names of all clients, and their settings against the limits of the brokers."""
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
    """Check that late heartbeats still come before the session ends."""
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
    """Check that coordinators have the assignor: an unknown one would end every member
    (K8-VAL-3). An assignor of a user, `module:Class`, may have any name."""
    asked = kind.properties.get("group.remote.assignor")
    if asked is not None and asked not in served and not any(":" in entry for entry in served):
        has = f"coordinators have no assignor {asked}, but {', '.join(served)}"
        raise ScenarioError(
            f'{where.at("assignor")}: members {kind.name}: protocol = "consumer": {has}'
        )


def _assignor(plain: Plain, where: Where) -> dict[str, str]:
    """Return the setting of the assignor: in the classic protocol the members choose it, in the
    consumer protocol the coordinator."""
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
