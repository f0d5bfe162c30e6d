"""What administrators ask of a cluster of one unsecured broker: elections, reassignments, log directories, the quorum, features,
quotas, credentials, access rules, delegation tokens, SASL, lists of what has configurations."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from integration_tests.wire.batches import batch
from integration_tests.wire.people import topic
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.configs import GROUP, alter
from integration_tests.wire.scenarios.produce import produce

METADATA_LOG = "__cluster_metadata"
CLIENT_METRICS = 16
NOBODY = 7  # no broker has this id


def await_answer(link: Link, api: str, version: int, settled: Callable[[Plain], bool], **fields: Any) -> None:
    """Ask, without a step, until a change is seen: Kafka's brokers learn of one a moment after its answer."""
    link.session.until(lambda: settled(link.ask_quietly(api, version, **fields)), f"{api} never saw the change")


# -- elections and reassignments -------------------------------------------------------------------------------------------


def elect(link: Link, version: int, *parts: tuple[str, list[int]], kind: int = 0, timeout_ms: int = 5000) -> Plain:
    """ElectLeaders of these partitions; preferred unless told otherwise."""
    told: Plain = {"election_type": kind} if version >= 1 else {}
    asked = [{"topic": name, "partitions": indexes} for name, indexes in parts]
    return link.ask("ElectLeaders", version, topic_partitions=asked, timeout_ms=timeout_ms, **told)


@scenario()
def leaders_elected(s: Session) -> None:
    """v0-2: not needed (84), unknown topics and partitions (3), names that cannot be."""
    a, name = s.connect(), topic(s, "t", 2)
    for version in (0, 1, 2):
        elect(a, version, (name, [0, 1, 7]), (s.name("nope"), [0]), ("", [0]), ("a b", []))
        elect(a, version)
    elect(a, 2, (name, [0, 0]), (name, [1, 0]), kind=1)
    elect(a, 2, (s.name("nope"), [0]), (name, [-1]), kind=1)


@scenario()
def leaders_elected_everywhere(s: Session) -> None:
    """Null topics: all, and of those that need no election the name only."""
    a = s.connect()
    topic(s, "t", 2)
    for version in (0, 1, 2):
        a.ask("ElectLeaders", version, only="replica_election_results", topic_partitions=None, timeout_ms=5000)


@scenario()
def elections_refused(s: Session) -> None:
    """An unknown kind (42), and no time (7): the whole request."""
    a, name = s.connect(), topic(s, "t")
    for kind, timeout_ms in ((7, 5000), (-1, 5000), (0, 0), (1, -1), (7, 0)):
        elect(a, 2, (name, [0]), (s.name("nope"), [0, 1]), kind=kind, timeout_ms=timeout_ms)
        elect(a, 2, kind=kind, timeout_ms=timeout_ms)
    for kind, timeout_ms in ((7, 5000), (0, 0)):
        a.ask("ElectLeaders", 2, election_type=kind, topic_partitions=None, timeout_ms=timeout_ms)
    elect(a, 0, (name, [0]), timeout_ms=0)


def reassign(link: Link, version: int, *topics: tuple[str, list[tuple[int, list[int] | None]]], **other: Any) -> Plain:
    """AlterPartitionReassignments: by topic, index and target (None cancels)."""
    asked = [{"name": name, "partitions": [{"partition_index": i, "replicas": r} for i, r in parts]} for name, parts in topics]
    return link.ask("AlterPartitionReassignments", version, **({"timeout_ms": 5000} | other), topics=asked)


@scenario()
def partitions_reassigned(s: Session) -> None:
    """To where they are; to nowhere (39); nothing to cancel (85); unknown (3). REASN-4"""
    a, name = s.connect(), topic(s, "t", 2)
    for version in (0, 1):
        reassign(a, version)
        reassign(a, version, (name, [(0, [1]), (1, None), (7, [1]), (-1, [1])]))
        reassign(a, version, (s.name("nope"), [(0, [1]), (1, None)]), ("", [(0, [1])]), (s.name("nope"), []))
    for target in ([], [1, 1], [7], [-1], [1, 7], [7, 1], [8, 7], [7, 7], [1, 1, 7], [-1, 1, 1]):
        reassign(a, 1, (name, [(0, target)]))
    reassign(a, 1, (name, [(0, [1]), (0, [1])]), (name, [(0, [1])]))
    reassign(a, 1, ("__consumer_offsets", [(0, [1])]))


@scenario()
def reassignments_with_options(s: Session) -> None:
    """The replication factor may stay as it is; no time refuses all (7)."""
    a, name = s.connect(), topic(s, "t")
    for target in ([1], None, [1, 7]):
        reassign(a, 1, (name, [(0, target)]), allow_replication_factor_change=False)
    for timeout_ms in (0, -1):
        reassign(a, 1, (name, [(0, [1]), (7, [1])]), (s.name("nope"), []), timeout_ms=timeout_ms)
        reassign(a, 0, timeout_ms=timeout_ms)


@scenario()
def reassignments_listed(s: Session) -> None:
    """None is ever on its way. REASN-5"""
    a, name = s.connect(), topic(s, "t")
    for topics in (None, [], [{"name": name, "partition_indexes": [0, 9]}, {"name": s.name("nope"), "partition_indexes": [0]}]):
        a.ask("ListPartitionReassignments", 0, topics=topics)
    a.ask("ListPartitionReassignments", 0, topics=None, timeout_ms=0)


# -- log directories -------------------------------------------------------------------------------------------------------


def log_dirs(link: Link, version: int, topics: list[Plain] | None) -> str:
    """DescribeLogDirs, of the run's own topics; where the directory is and how large its volume does not matter."""
    answer = link.ask_quietly("DescribeLogDirs", version, topics=topics)
    found = answer["results"][0]
    mine = sorted((t for t in found["topics"] if link.session.nonce in t["name"]), key=lambda t: str(t["name"]))
    for entry in mine:
        entry["partitions"].sort(key=lambda p: int(p["partition_index"]))
    shown = {**found, "topics": mine, "log_dir": "absolute" if found["log_dir"].startswith("/") else found["log_dir"]}
    shown |= {size: "volume" for size in ("total_bytes", "usable_bytes") if size in found}
    link.session.say(f"log dirs v{version}", {**answer, "results": [shown]})
    return str(found["log_dir"])


@scenario()
def log_dirs_described(s: Session) -> None:
    """v1-5: sizes in bytes of batches; unknown partitions are left out; none, and all."""
    a, name, empty = s.connect(), topic(s, "t", 2), topic(s, "empty")
    produce(a, name, batch(b"12345", b"678"))
    produce(a, name, batch(b"x" * 100))
    asked = [{"topic": name, "partitions": [0, 1, 7]}, {"topic": s.name("nope"), "partitions": [0]}, {"topic": empty, "partitions": [0]}]
    for version in range(1, 6):
        log_dirs(a, version, asked)
    log_dirs(a, 5, [])
    log_dirs(a, 5, None)
    log_dirs(a, 5, [{"topic": name, "partitions": []}])
    log_dirs(a, 5, [{"topic": name, "partitions": [1, 1]}, {"topic": name, "partitions": [0]}])


def move(link: Link, version: int, *dirs: tuple[str, list[tuple[str, list[int]]]], label: str) -> None:
    """AlterReplicaLogDirs; paths do not matter."""
    asked = [{"path": path, "topics": [{"name": n, "partitions": p} for n, p in topics]} for path, topics in dirs]
    answer = link.ask_quietly("AlterReplicaLogDirs", version, dirs=asked)
    results = sorted(answer["results"], key=lambda r: str(r["topic_name"]))
    for result in results:
        result["partitions"].sort(key=lambda p: int(p["partition_index"]))
    link.session.say(f"{label} v{version}", {**answer, "results": results})


@scenario()
def replicas_moved_between_log_dirs(s: Session) -> None:
    """There is one directory: what is there is there already; unknown (3); another directory is not found (57)."""
    a, name, nope = s.connect(), topic(s, "t", 2), s.name("nope")
    here = str(a.ask_quietly("DescribeLogDirs", 1, topics=[])["results"][0]["log_dir"])
    for version in (1, 2):
        move(a, version, label="nothing")
        move(a, version, (here, [(name, [0, 7]), (nope, [0]), ("", [0])]), label="here")
        move(a, version, ("/no/such/directory", [(name, [0, 7]), (nope, [0])]), label="elsewhere")
        move(a, version, ("relative", [(name, [0])]), ("", [(name, [1])]), label="no path")
        move(a, version, ("/no/such/directory", [(name, [0, 0])]), (here, [(name, [0])]), label="twice, last here")
        move(a, version, (here, [(name, [0])]), ("/no/such/directory", [(name, [0])]), label="twice, last elsewhere")


# -- the quorum, brokers and features --------------------------------------------------------------------------------------


def quorum(link: Link, version: int, *topics: tuple[str, list[int]]) -> None:
    """DescribeQuorum; offsets, times and endpoints by their kind."""
    asked = [{"topic_name": name, "partitions": [{"partition_index": i} for i in indexes]} for name, indexes in topics]
    answer = link.ask_quietly("DescribeQuorum", version, topics=asked)
    for found in answer["topics"]:
        for part in found["partitions"]:
            part["high_watermark"] = "some" if part["high_watermark"] > 0 else part["high_watermark"]
            part["leader_epoch"] = "some" if part["leader_epoch"] > 0 else part["leader_epoch"]
            for voter in part["current_voters"]:
                voter |= {k: "some" for k in ("log_end_offset", "last_fetch_timestamp", "last_caught_up_timestamp") if voter.get(k, -1) > 0}
                voter.pop("replica_directory_id", None)  # zero or random, as the storage was formatted
    for node in answer.get("nodes", ()):
        node["listeners"] = [{"name": "LISTENER", "host": "HOST", "port": "PORT"} for _ in node["listeners"]][:1]
    link.session.say(f"quorum v{version}", answer)


@scenario()
def the_quorum_described(s: Session) -> None:
    """v0-2: the one controller leads; all else is unknown (3), the metadata log too when it is not asked for alone."""
    a, name = s.connect(), topic(s, "t")
    for version in (0, 1, 2):
        quorum(a, version, (METADATA_LOG, [0]))
        quorum(a, version, (name, [0]))
        quorum(a, version)
    quorum(a, 2, (METADATA_LOG, [1]))
    quorum(a, 2, (METADATA_LOG, [0, 1]))
    quorum(a, 2, (METADATA_LOG, []))
    quorum(a, 2, (METADATA_LOG, [0]), (name, [0]))


@scenario()
def brokers_unregistered(s: Session) -> None:
    """Those that are not there (102)."""
    a = s.connect()
    for broker_id in (NOBODY, -1):
        a.ask("UnregisterBroker", 0, broker_id=broker_id)


def features(link: Link, version: int, *updates: tuple[str, int], **how: Any) -> Plain:
    """UpdateFeatures: by name and level; `how`: upgrade_type or allow_downgrade of each. Never executed from v1 on."""
    asked = [{"feature": name, "max_version_level": level, **how} for name, level in updates]
    checked: Plain = {"validate_only": True} if version >= 1 else {}
    return link.ask("UpdateFeatures", version, feature_updates=asked, **checked)


@scenario()
def features_updated(s: Session) -> None:
    """To the level they have; to levels that cannot be, in Kafka's order of checks and words (95)."""
    a = s.connect()
    refused = (("metadata.version", 29), ("metadata.version", 31), ("metadata.version", 6), ("metadata.version", 0), ("group.version", 2),
               ("nope", 1), ("nope", 0), ("", 1), ("group.version", -1), ("eligible.leader.replicas.version", 2), ("nope", -1))  # fmt: skip
    for version in (0, 1, 2):
        features(a, version)
        features(a, version, ("metadata.version", 30))
        features(a, version, ("metadata.version", 30), ("nope", 1))
        features(a, version, ("kraft.version", 0), ("eligible.leader.replicas.version", 1))
    for name, level in refused:
        for kind in (1, 2, 3):
            features(a, 1, (name, level), upgrade_type=kind)
        features(a, 2, (name, level), upgrade_type=1)
        features(a, 0, (name, level), allow_downgrade=False)
    features(a, 1, ("eligible.leader.replicas.version", 0), upgrade_type=1)
    features(a, 1, ("kraft.version", 0), upgrade_type=3)
    features(a, 1, ("kraft.version", 1), upgrade_type=2)
    for kind in (0, 4, 9, -1):
        features(a, 1, ("metadata.version", 30), upgrade_type=kind)
        features(a, 1, ("nope", -1), upgrade_type=kind)
    features(a, 1, ("metadata.version", 30), ("metadata.version", 30), upgrade_type=1)


# -- security that is not there --------------------------------------------------------------------------------------------

ANY_RESOURCE, ANY_PATTERN, ANY_OPERATION, ANY_PERMISSION = 1, 1, 1, 1


def acl_filter(**other: Any) -> Plain:
    """A filter that lets everything through, but for what is named."""
    return {
        "resource_type_filter": ANY_RESOURCE, "resource_name_filter": None, "pattern_type_filter": ANY_PATTERN, "principal_filter": None,
        "host_filter": None, "operation": ANY_OPERATION, "permission_type": ANY_PERMISSION, **other,
    }  # fmt: skip


def acl(**other: Any) -> Plain:
    """An access rule, but for what is named."""
    return {
        "resource_type": 2, "resource_name": "t", "resource_pattern_type": 3, "principal": "User:a", "host": "*", "operation": 3,
        "permission_type": 3, **other,
    }  # fmt: skip


@scenario()
def no_authorizer(s: Session) -> None:
    """Access rules cannot be described, made or deleted (54); nothing asked, nothing refused."""
    a = s.connect()
    for version in (1, 2, 3):
        a.ask("DescribeAcls", version, **acl_filter())
        a.ask("DescribeAcls", version, **acl_filter(resource_type_filter=2, resource_name_filter="x", pattern_type_filter=4))
        a.ask("CreateAcls", version, creations=[])
        a.ask("CreateAcls", version, creations=[acl(), acl(resource_pattern_type=4)])
        a.ask("DeleteAcls", version, filters=[])
        a.ask("DeleteAcls", version, filters=[acl_filter(), acl_filter(principal_filter="User:a")])
    a.ask("DescribeAcls", 3, **acl_filter(resource_type_filter=99, pattern_type_filter=77, operation=-1))
    a.ask("CreateAcls", 3, creations=[acl(resource_type=99, resource_name="", principal="nonsense")])
    a.ask("DeleteAcls", 3, filters=[acl_filter(resource_type_filter=99, permission_type=55)])


@scenario()
def acls_with_unknown_elements(s: Session) -> None:
    """An element that says UNKNOWN (0) is no request: the connection is closed."""
    for index, unknown in enumerate(("resource_type_filter", "pattern_type_filter", "operation", "permission_type")):
        bad = acl_filter(**{unknown: 0})
        for api, fields in (("DescribeAcls", bad), ("DeleteAcls", {"filters": [acl_filter(), bad]})):
            link = s.connect(f"{api}-{index}")
            link.send(api, 1 + index % 3, **fields)
            link.ends()
    for index, unknown in enumerate(("resource_type", "resource_pattern_type", "operation", "permission_type")):
        link = s.connect(f"CreateAcls-{index}")
        link.send("CreateAcls", 1 + index % 3, creations=[acl(), acl(**{unknown: 0})])
        link.ends()


@scenario()
def no_delegation_tokens(s: Session) -> None:
    """Who is not authenticated gets none (64); the answer names the owner."""
    a = s.connect()
    user = {"principal_type": "User", "principal_name": "a"}
    for version in (1, 2, 3):
        for owners in (None, [], [user]):
            a.ask("DescribeDelegationToken", version, owners=owners)
        for renewers in ([], [user], [{"principal_type": "Group", "principal_name": "a"}]):
            a.ask("CreateDelegationToken", version, renewers=renewers, max_lifetime_ms=-1)
    for version in (1, 2):
        a.ask("RenewDelegationToken", version, hmac="00ff", renew_period_ms=5)
        a.ask("ExpireDelegationToken", version, hmac="", expiry_time_period_ms=-1)
    for kind, name in (("User", "x"), ("Nope", "x"), ("", ""), (None, "x"), ("User", None), ("", "x"), ("User", ""), (None, None)):
        a.ask("CreateDelegationToken", 3, owner_principal_type=kind, owner_principal_name=name, renewers=[], max_lifetime_ms=5)


@scenario()
def no_sasl(s: Session) -> None:
    """A listener without it refuses (34), and the connection goes on."""
    a = s.connect()
    for version in (0, 1):
        a.ask("SaslHandshake", version, mechanism="PLAIN")
        a.ask("SaslHandshake", version, mechanism="")
    for version in (0, 1, 2):
        a.ask("SaslAuthenticate", version, auth_bytes="00")


# -- credentials -----------------------------------------------------------------------------------------------------------

SHA_256, SHA_512 = 1, 2


def upsert(user: str, mechanism: int = SHA_256, iterations: int = 4096, password: str = "aa", salt: str = "00ff") -> Plain:
    """A credential to be set."""
    return {"name": user, "mechanism": mechanism, "iterations": iterations, "salt": salt, "salted_password": password}


def deletion(user: str, mechanism: int = SHA_256) -> Plain:
    """A credential to be removed."""
    return {"name": user, "mechanism": mechanism}


def scram(link: Link, *changes: Plain) -> Plain:
    """AlterUserScramCredentials, and the wait until it is seen."""
    gone, made = [c for c in changes if "salt" not in c], [c for c in changes if "salt" in c]
    answer = link.ask("AlterUserScramCredentials", 0, shuffled="results", deletions=gone, upsertions=made)
    done = {r["user"] for r in answer["results"] if not r["error_code"]}
    for change in changes:
        if change["name"] in done:
            wanted = (change["mechanism"], change["iterations"]) if "salt" in change else None
            await_answer(link, "DescribeUserScramCredentials", 0, lambda found, c=change, w=wanted: _has(found, c, w),  # type: ignore[misc]
                         users=[{"name": change["name"]}])  # fmt: skip
    return answer


def _has(found: Plain, change: Plain, wanted: tuple[int, int] | None) -> bool:
    infos = {(i["mechanism"], i["iterations"]) for i in found["results"][0]["credential_infos"]}
    return wanted in infos if wanted else not any(mechanism == change["mechanism"] for mechanism, _ in infos)


def credentials(link: Link, *users: str) -> None:
    """DescribeUserScramCredentials of these users."""
    answer = link.ask_quietly("DescribeUserScramCredentials", 0, users=[{"name": user} for user in users])
    results = [{**r, "credential_infos": sorted(r["credential_infos"], key=str)} for r in answer["results"]]
    link.session.say("credentials", {**answer, "results": sorted(results, key=lambda r: str(r["user"]))})


@scenario()
def scram_credentials_kept(s: Session) -> None:
    """Set, shown, set anew, removed one by one."""
    a, user, other = s.connect(), s.name("u"), s.name("v")
    credentials(a, user)
    scram(a, upsert(user))
    credentials(a, user)
    scram(a, upsert(user, SHA_512, 8192), upsert(other, SHA_256, 16384))
    credentials(a, user, other)
    scram(a, upsert(user, SHA_256, 5000))
    credentials(a, user)
    scram(a, deletion(user), upsert(other, SHA_256, 4097))
    credentials(a, user, other)
    scram(a, deletion(user, SHA_512), deletion(other))
    credentials(a, user, other)


@scenario()
def scram_credentials_refused(s: Session) -> None:
    """Unknown mechanism (33), missing (91), a user twice (92), empty names and iterations out of bounds (93), no password (-1)."""
    a, user, other = s.connect(), s.name("u"), s.name("v")
    scram(a)
    scram(a, deletion(user))
    for mechanism in (0, 3, -1):
        scram(a, upsert(user, mechanism))
        scram(a, deletion(user, mechanism), upsert(other))
    for iterations in (4095, 16385, 0, -1):
        scram(a, upsert(user, SHA_512, iterations))
    scram(a, upsert(user, password=""))
    scram(a, upsert(user, salt=""))
    scram(a, deletion(user, SHA_512))
    scram(a, deletion(user), upsert(user))
    scram(a, deletion(user), upsert(user, SHA_512))
    scram(a, deletion(user), deletion(user))
    scram(a, upsert(user), upsert(user, SHA_512))
    scram(a, upsert(user, 9), upsert(user))
    scram(a, deletion(user), deletion(user), upsert(user), upsert(other, SHA_256, 1))
    scram(a, upsert(""), deletion(""))
    scram(a, upsert("", 9, 0))
    credentials(a, user, other)


@scenario()
def scram_credentials_described(s: Session) -> None:
    """Nobody is missing (91); a user twice (92); all, of whom only this run's are shown."""
    a, user = s.connect(), s.name("u")
    scram(a, upsert(user))
    credentials(a, "", s.name("nobody"), user)
    credentials(a, user, user, s.name("nobody"), s.name("nobody"))
    a.ask("DescribeUserScramCredentials", 0, only="results", users=None)
    a.ask("DescribeUserScramCredentials", 0, only="results", users=[])


# -- quotas ----------------------------------------------------------------------------------------------------------------

Named = tuple[str, "str | None"]
EXACT, DEFAULT, SPECIFIED = range(3)


def quota(*named: Named, **values: float | None) -> Plain:
    """What is to be set (None: removed) for an entity."""
    ops = [{"key": key, "value": value or 0, "remove": value is None} for key, value in values.items()]
    return {"entity": [{"entity_type": kind, "entity_name": name} for kind, name in named], "ops": ops}


def set_quotas(link: Link, *entries: Plain, version: int = 1, validate_only: bool = False) -> Plain:
    """AlterClientQuotas. Values that JSON cannot say are shown as texts."""
    answer = link.ask_quietly("AlterClientQuotas", version, entries=list(entries), validate_only=validate_only)
    link.session.say(f"set v{version}", {"asked": _shown(list(entries)), "validate_only": validate_only,
                                         "answer": {**answer, "entries": sorted(answer["entries"], key=str)}})  # fmt: skip
    return answer


def quotas(link: Link, *components: tuple[str, int, str | None], strict: bool = False, version: int = 1) -> Plain:
    """DescribeClientQuotas; of the entries only this run's."""
    asked = [{"entity_type": kind, "match_type": match, "match": name} for kind, match, name in components]
    answer = link.ask_quietly("DescribeClientQuotas", version, components=asked, strict=strict)
    mine = None if answer["entries"] is None else [
        {"entity": e["entity"], "values": sorted(e["values"], key=str)} for e in answer["entries"] if link.session.nonce in str(e)
    ]  # fmt: skip
    shown = {**answer, "entries": mine if mine is None else sorted(mine, key=str)}
    link.session.say(f"quotas v{version}", {"asked": asked, "strict": strict, "answer": _shown(shown)})
    return answer


def _shown(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shown(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_shown(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def settle_quotas(link: Link) -> None:
    """Wait until all that was set is seen: by a mark, set after it and awaited."""
    mark = quota(("client-id", link.session.name("mark")), request_percentage=time.monotonic())
    link.ask_quietly("AlterClientQuotas", 1, entries=[mark], validate_only=False)
    await_answer(
        link, "DescribeClientQuotas", 1,
        lambda found: bool(found["entries"]) and found["entries"][0]["values"][0]["value"] == mark["ops"][0]["value"],
        components=[{"entity_type": "client-id", "match_type": EXACT, "match": link.session.name("mark")}], strict=True,
    )  # fmt: skip


@scenario()
def quotas_kept(s: Session) -> None:
    """Set for users, client ids, both; found by exact name, by type, strictly; removed."""
    a, user, client = s.connect(), s.name("u"), s.name("c")
    quotas(a, ("user", EXACT, user), version=0)
    set_quotas(a, quota(("user", user), producer_byte_rate=1000, request_percentage=1.5), version=0)
    set_quotas(a, quota(("user", user), ("client-id", client), consumer_byte_rate=5, controller_mutation_rate=0.25))
    set_quotas(a, quota(("client-id", client), ("user", None), consumer_byte_rate=7), quota(("client-id", client), producer_byte_rate=8))
    settle_quotas(a)
    for strict in (False, True):
        quotas(a, ("user", EXACT, user), strict=strict)
        quotas(a, ("user", EXACT, user), ("client-id", SPECIFIED, None), strict=strict)
        quotas(a, ("user", DEFAULT, None), strict=strict)
        quotas(a, ("client-id", EXACT, client), strict=strict)
        quotas(a, ("client-id", SPECIFIED, None), ("user", SPECIFIED, None), strict=strict)
        quotas(a, ("client-id", EXACT, client), ("user", DEFAULT, None), strict=strict, version=0)
    quotas(a, ("user", EXACT, ""))
    quotas(a, ("ip", SPECIFIED, None))
    set_quotas(a, quota(("user", user), producer_byte_rate=None, consumer_byte_rate=9), validate_only=True)
    set_quotas(a, quota(("user", user), producer_byte_rate=None, consumer_byte_rate=9, nope=None))
    settle_quotas(a)
    quotas(a, ("user", EXACT, user))
    set_quotas(a, quota(("user", user), request_percentage=None, consumer_byte_rate=None, producer_byte_rate=None),
               quota(("user", user), ("client-id", client), consumer_byte_rate=None, controller_mutation_rate=None),
               quota(("client-id", client), ("user", None), consumer_byte_rate=None))  # fmt: skip
    settle_quotas(a)
    quotas(a, ("user", SPECIFIED, None))
    quotas(a, ("client-id", EXACT, client))


@scenario()
def quotas_refused(s: Session) -> None:
    """Unknown keys, values that are none, entities that cannot be (42): nothing of an entry is done."""
    a, user = s.connect(), s.name("u")
    me = ("user", user)
    set_quotas(a)
    for values in ({"nope": 1}, {"producer_byte_rate": 0}, {"producer_byte_rate": -3.5}, {"producer_byte_rate": 1.5},
                   {"producer_byte_rate": 1.0000001}, {"producer_byte_rate": 1e300}, {"producer_byte_rate": float(2**63)},
                   {"producer_byte_rate": math.nan}, {"consumer_byte_rate": math.inf}, {"request_percentage": math.inf},
                   {"request_percentage": -math.inf}, {"controller_mutation_rate": 1e-9}, {"connection_creation_rate": 2},
                   {"consumer_byte_rate": 8, "nope": 9, "producer_byte_rate": 11}, {"nope": 1, "producer_byte_rate": -1}):  # fmt: skip
        set_quotas(a, quota(me, **values), validate_only=True)
    for entity in ((), (("nope", "a"),), (me, ("nope", None)), (("user", ""), ("nope", None)), (("user", ""),), (("client-id", ""),),
                   (("user", "other"), me), (("", "a"),)):  # fmt: skip
        set_quotas(a, quota(*entity, producer_byte_rate=2), validate_only=True)
    set_quotas(a, quota(me))
    set_quotas(a, quota(me, producer_byte_rate=-1), quota(("user", s.name("v")), producer_byte_rate=1), validate_only=True)
    settle_quotas(a)
    quotas(a, ("user", SPECIFIED, None))


@scenario()
def quotas_of_addresses(s: Session) -> None:
    """Only new connections are limited, in whole numbers; never together with users (42)."""
    a = s.connect()
    for name in ("1.2.3.4", "::1", "localhost", None, "", "not an ip", "300.1.1.1", "no.such.host.invalid", "1.2.3.4.5"):
        set_quotas(a, quota(("ip", name), connection_creation_rate=2), validate_only=True)
    for rate in (2.5, 3e9, 0, 2**31 - 1, 2**31):
        set_quotas(a, quota(("ip", "1.2.3.4"), connection_creation_rate=rate), validate_only=True)
    set_quotas(a, quota(("ip", "1.2.3.4"), producer_byte_rate=2), validate_only=True)
    set_quotas(a, quota(("ip", "1.2.3.4"), ("user", "a"), connection_creation_rate=2), validate_only=True)
    set_quotas(a, quota(("user", "a"), ("client-id", None), ("ip", "1.2.3.4"), producer_byte_rate=2), validate_only=True)


@scenario()
def quotas_set_twice(s: Session) -> None:
    """An entity twice: the first entry is done, and the answer is a refusal. A key twice: nothing is done."""
    a, user = s.connect(), s.name("u")
    me = ("user", user)
    set_quotas(a, quota(me, producer_byte_rate=5), quota(me, producer_byte_rate=6))
    settle_quotas(a)
    quotas(a, ("user", EXACT, user))
    twice = quota(me, producer_byte_rate=8)
    set_quotas(a, {**twice, "ops": twice["ops"] * 2})
    both = (me, ("client-id", "c"))
    set_quotas(a, quota(*both, producer_byte_rate=8), quota(*reversed(both), producer_byte_rate=9), validate_only=True)
    set_quotas(a, {**quota(me, ("client-id", None)), "ops": twice["ops"] * 2})
    settle_quotas(a)
    quotas(a, ("user", EXACT, user))


@scenario()
def quotas_asked_badly(s: Session) -> None:
    """Unknown types (35), matches that contradict themselves, types that do not go together (42)."""
    a = s.connect()
    for component in (("nope", EXACT, "x"), ("", EXACT, "x"), ("user", EXACT, None), ("user", DEFAULT, "x"), ("user", SPECIFIED, "x"),
                      ("user", 3, None), ("user", -1, "x"), ("nope", 9, None)):  # fmt: skip
        for version in (0, 1):
            quotas(a, component, version=version)
    quotas(a, ("user", SPECIFIED, None), ("user", DEFAULT, None))
    quotas(a, ("ip", SPECIFIED, None), ("user", SPECIFIED, None))
    quotas(a, ("client-id", EXACT, "a"), ("ip", EXACT, "1.2.3.4"))


# -- lists -----------------------------------------------------------------------------------------------------------------


def resources(link: Link, *kinds: int, version: int = 1) -> None:
    """ListConfigResources; of topics, groups and subscriptions only this run's."""
    told = {"resource_types": list(kinds)} if version >= 1 else {}
    answer = link.ask_quietly("ListConfigResources", version, **told)
    mine = sorted((r for r in answer["config_resources"] if link.session.nonce in r["resource_name"] or r["resource_name"] == "1"), key=str)
    link.session.say(f"resources v{version} {kinds}", {**answer, "config_resources": mine})


@scenario()
def config_resources_listed(s: Session) -> None:
    """Topics and brokers always, groups and subscriptions while something is set; unknown types (35)."""
    a = s.connect()
    topic(s, "t")
    metrics, group = s.name("m"), s.name("g")
    for name, kind, key in ((metrics, CLIENT_METRICS, "interval.ms"), (group, GROUP, "consumer.session.timeout.ms")):
        for operation, value in ((0, "50000"), (1, None)):
            alter(a, kind, name, (key, operation, value))
            await_answer(a, "ListConfigResources", 1, lambda found, n=name, op=operation: (n in str(found)) is (op == 0),  # type: ignore[misc]
                         resource_types=[kind])  # fmt: skip
            resources(a, kind)
            resources(a, version=0)
            resources(a)
    for kinds in ((2,), (4,), (8,), (2, 2), (4, 2), (8, 4)):
        resources(a, *kinds)
    for kinds in ((0,), (1,), (99,), (-1,), (2, 99)):
        resources(a, *kinds)
