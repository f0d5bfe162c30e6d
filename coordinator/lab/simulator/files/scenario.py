"""Makes a `Scenario` from the text of a file. Raises ScenarioError for contradictions.
`reading.py` checks keys and types before, `model.py` has the values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from coordinator.base.releases import NEWEST
from coordinator.history.judges import ALL, OF_SHARE_GROUPS, OF_VIRTUAL_TIME
from coordinator.history.judges.failures import ANY
from coordinator.history.judges.rights import AclsDecide
from coordinator.kit import cluster, faults
from coordinator.server.build import topic_options
from coordinator.server.environments.consumer import assignors
from coordinator.server.settings.broker_configs import BrokerConfigs
from coordinator.verbs import ROWS
from coordinator.verbs.brokers import CreateTopic, DeleteTopic
from coordinator.verbs.members import MEMBER_VERBS

from . import catalogue
from .churn_checks import check_churn
from .client_kinds import check_clients, read_kind, read_producer
from .composing import Load
from .contradictions import (
    check_classic,
    check_made_once,
    check_said_twice,
    check_something_takes_time,
)
from .fault_checks import (
    check_brokers,
    check_fields,
    check_meant,
    check_member_verb,
    check_repeats,
    check_request_fault,
    check_spelling,
    check_verb,
    checked_release,
)
from .key_positions import Places, Where
from .model import DEFAULT_BROKER_CONFIG, FaultPlan, MemberKind, Scenario, trigger_of
from .reading import Plain, ScenarioError, parse
from .schema import TABLES
from .security_keys import ACL_VERBS, read_change, read_rights
from .share_kinds import ShareKind, check_one_type, check_served, read_groups
from .sizes import check_replication, check_scale, check_sizes, check_topics
from .there import There, blamed
from .trigger_checks import check_trigger
from .wires_keys import CUT_ZONE, check_zone, read_wires


def read_scenario(
    text: str, name: str, settings: tuple[str, ...] = (), load: Load | None = None
) -> Scenario:
    """Read a scenario from its file's text. `load`: returns the file that it extends (default:
    shipped scenarios). Raises ScenarioError."""
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
    later, deleted = (
        _topics_of(CreateTopic.__name__, plain),
        _topics_of(DeleteTopic.__name__, plain),
    )
    kinds = [
        read_kind(each, topics, later, places.where("members", index))
        for index, each in enumerate(plain["members"])
    ]
    check_one_type(
        [(kind.group, isinstance(kind, ShareKind)) for kind in kinds],
        lambda index: places.where("members", index),
    )
    producers = tuple(
        read_producer(each, topics, plain["duration"], places.where("producers", index))
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
    check_clients(kinds, producers, configs, places)
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
    known.append(AclsDecide.name)
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
        read_rights(plain, places),
    )


def _topics_of(verb: str, plain: Plain) -> frozenset[str]:
    """Return the topics that faults with this verb name."""
    named = [fault.get("topic") for fault in plain["faults"] if fault["verb"] == verb]
    return frozenset(name for name in named if isinstance(name, str))


def _fault(plain: Plain, there: There, where: Where) -> FaultPlan:
    fields: dict[str, Any] = {
        key: value for key, value in plain.items() if key not in TABLES["faults"].keys
    }
    lasts, verb, action = plain["lasts"], plain["verb"], plain["action"]
    if verb is None and action is None:
        check_spelling("a fault", fields, (), where)
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
        if verb is not None:
            check_meant(verb, where)
            verb = faults.choose(verb, [*ROWS, CUT_ZONE, *ACL_VERBS], "verb")
            plain = {**plain, "verb": verb}
        if verb == CUT_ZONE:
            check_repeats(plain, where)
            return replace(plan, later=(CUT_ZONE, check_zone(fields, there, where)))
        if verb in ACL_VERBS:
            check_repeats(plain, where)
            return replace(plan, acls=read_change(verb, fields, where))
        if action is not None:
            check_spelling(f"a fault that does {action}", fields, faults.KEYS, where)
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
