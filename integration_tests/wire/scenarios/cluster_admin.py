"""What administrators ask of a cluster of one broker: elections, reassignments, log directories,
the quorum, features, lists of what has configurations."""

from __future__ import annotations

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


def await_answer(
    link: Link, api: str, version: int, settled: Callable[[Plain], bool], **fields: Any
) -> None:
    """Ask, without a step, until a change is seen: Kafka's brokers learn of one a moment after its
    answer."""
    link.session.until(
        lambda: settled(link.ask_quietly(api, version, **fields)), f"{api} never saw the change"
    )


# -- elections and reassignments
# -------------------------------------------------------------------------------------------


def elect(
    link: Link, version: int, *parts: tuple[str, list[int]], kind: int = 0, timeout_ms: int = 5000
) -> Plain:
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
        a.ask(
            "ElectLeaders",
            version,
            only="replica_election_results",
            topic_partitions=None,
            timeout_ms=5000,
        )


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


def reassign(
    link: Link, version: int, *topics: tuple[str, list[tuple[int, list[int] | None]]], **other: Any
) -> Plain:
    """AlterPartitionReassignments: by topic, index and target (None cancels)."""
    asked = [
        {"name": name, "partitions": [{"partition_index": i, "replicas": r} for i, r in parts]}
        for name, parts in topics
    ]
    return link.ask(
        "AlterPartitionReassignments", version, **({"timeout_ms": 5000} | other), topics=asked
    )


@scenario()
def partitions_reassigned(s: Session) -> None:
    """To where they are; to nowhere (39); nothing to cancel (85); unknown (3). REASN-4"""
    a, name = s.connect(), topic(s, "t", 2)
    for version in (0, 1):
        reassign(a, version)
        reassign(a, version, (name, [(0, [1]), (1, None), (7, [1]), (-1, [1])]))
        reassign(
            a,
            version,
            (s.name("nope"), [(0, [1]), (1, None)]),
            ("", [(0, [1])]),
            (s.name("nope"), []),
        )
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
    for topics in (
        None,
        [],
        [
            {"name": name, "partition_indexes": [0, 9]},
            {"name": s.name("nope"), "partition_indexes": [0]},
        ],
    ):
        a.ask("ListPartitionReassignments", 0, topics=topics)
    a.ask("ListPartitionReassignments", 0, topics=None, timeout_ms=0)


# -- log directories
# -------------------------------------------------------------------------------------------------------


def log_dirs(link: Link, version: int, topics: list[Plain] | None) -> str:
    """DescribeLogDirs, of the run's own topics; where the directory is and how large its volume
    does not matter."""
    answer = link.ask_quietly("DescribeLogDirs", version, topics=topics)
    found = answer["results"][0]
    mine = sorted(
        (t for t in found["topics"] if link.session.nonce in t["name"]),
        key=lambda t: str(t["name"]),
    )
    for entry in mine:
        entry["partitions"].sort(key=lambda p: int(p["partition_index"]))
    shown = {
        **found,
        "topics": mine,
        "log_dir": "absolute" if found["log_dir"].startswith("/") else found["log_dir"],
    }
    shown |= {size: "volume" for size in ("total_bytes", "usable_bytes") if size in found}
    link.session.say(f"log dirs v{version}", {**answer, "results": [shown]})
    return str(found["log_dir"])


@scenario()
def log_dirs_described(s: Session) -> None:
    """v1-5: sizes in bytes of batches; unknown partitions are left out; none, and all."""
    a, name, empty = s.connect(), topic(s, "t", 2), topic(s, "empty")
    produce(a, name, batch(b"12345", b"678"))
    produce(a, name, batch(b"x" * 100))
    asked = [
        {"topic": name, "partitions": [0, 1, 7]},
        {"topic": s.name("nope"), "partitions": [0]},
        {"topic": empty, "partitions": [0]},
    ]
    for version in range(1, 6):
        log_dirs(a, version, asked)
    log_dirs(a, 5, [])
    log_dirs(a, 5, None)
    log_dirs(a, 5, [{"topic": name, "partitions": []}])
    log_dirs(a, 5, [{"topic": name, "partitions": [1, 1]}, {"topic": name, "partitions": [0]}])


def move(
    link: Link, version: int, *dirs: tuple[str, list[tuple[str, list[int]]]], label: str
) -> None:
    """AlterReplicaLogDirs; paths do not matter."""
    asked = [
        {"path": path, "topics": [{"name": n, "partitions": p} for n, p in topics]}
        for path, topics in dirs
    ]
    answer = link.ask_quietly("AlterReplicaLogDirs", version, dirs=asked)
    results = sorted(answer["results"], key=lambda r: str(r["topic_name"]))
    for result in results:
        result["partitions"].sort(key=lambda p: int(p["partition_index"]))
    link.session.say(f"{label} v{version}", {**answer, "results": results})


@scenario()
def replicas_moved_between_log_dirs(s: Session) -> None:
    """There is one directory: what is there is there already; unknown (3); another directory is not
    found (57)."""
    a, name, nope = s.connect(), topic(s, "t", 2), s.name("nope")
    here = str(a.ask_quietly("DescribeLogDirs", 1, topics=[])["results"][0]["log_dir"])
    for version in (1, 2):
        move(a, version, label="nothing")
        move(a, version, (here, [(name, [0, 7]), (nope, [0]), ("", [0])]), label="here")
        move(a, version, ("/no/such/directory", [(name, [0, 7]), (nope, [0])]), label="elsewhere")
        move(a, version, ("relative", [(name, [0])]), ("", [(name, [1])]), label="no path")
        move(
            a,
            version,
            ("/no/such/directory", [(name, [0, 0])]),
            (here, [(name, [0])]),
            label="twice, last here",
        )
        move(
            a,
            version,
            (here, [(name, [0])]),
            ("/no/such/directory", [(name, [0])]),
            label="twice, last elsewhere",
        )


# -- the quorum, brokers and features
# --------------------------------------------------------------------------------------


def quorum(link: Link, version: int, *topics: tuple[str, list[int]]) -> None:
    """DescribeQuorum; offsets, times and endpoints by their kind."""
    asked = [
        {"topic_name": name, "partitions": [{"partition_index": i} for i in indexes]}
        for name, indexes in topics
    ]
    answer = link.ask_quietly("DescribeQuorum", version, topics=asked)
    for found in answer["topics"]:
        for part in found["partitions"]:
            part["high_watermark"] = (
                "some" if part["high_watermark"] > 0 else part["high_watermark"]
            )
            part["leader_epoch"] = "some" if part["leader_epoch"] > 0 else part["leader_epoch"]
            for voter in part["current_voters"]:
                voter |= {
                    k: "some"
                    for k in ("log_end_offset", "last_fetch_timestamp", "last_caught_up_timestamp")
                    if voter.get(k, -1) > 0
                }
                voter.pop(
                    "replica_directory_id", None
                )  # zero or random, as the storage was formatted
    for node in answer.get("nodes", ()):
        node["listeners"] = [
            {"name": "LISTENER", "host": "HOST", "port": "PORT"} for _ in node["listeners"]
        ][:1]
    link.session.say(f"quorum v{version}", answer)


@scenario()
def the_quorum_described(s: Session) -> None:
    """v0-2: the one controller leads; all else is unknown (3), the metadata log too when it is not
    asked for alone."""
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
    """UpdateFeatures: by name and level; `how`: upgrade_type or allow_downgrade of each. Never
    executed from v1 on."""
    asked = [{"feature": name, "max_version_level": level, **how} for name, level in updates]
    checked: Plain = {"validate_only": True} if version >= 1 else {}
    return link.ask("UpdateFeatures", version, feature_updates=asked, **checked)


@scenario(since="4.1")
def features_updated(s: Session) -> None:
    """To the level they have; to levels that cannot be, in Kafka's order of checks and words
    (95)."""
    a = s.connect()
    refused = (
        ("metadata.version", 29),
        ("metadata.version", 31),
        ("metadata.version", 6),
        ("metadata.version", 0),
        ("group.version", 2),
        ("nope", 1),
        ("nope", 0),
        ("", 1),
        ("group.version", -1),
        ("eligible.leader.replicas.version", 2),
        ("nope", -1),
    )
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


# -- lists
# -----------------------------------------------------------------------------------------------------------------


@scenario(since="4.3")
def voters_that_cannot_be(s: Session) -> None:
    """Without an id or a directory there is no voter (42), before anything else of the request."""
    a = s.connect()
    voter: Plain = {}
    for voter_id, directory in ((-1, "ab" * 16), (2, "0" * 32), (0, "0" * 32)):
        voter = {"cluster_id": None, "voter_id": voter_id, "voter_directory_id": directory}
        a.ask("RemoveRaftVoter", 0, **voter)
        for version in (0, 1):
            for listener in ("CONTROLLER", "X"):
                listeners = [{"name": listener, "host": "127.0.0.1", "port": 1}]
                a.ask("AddRaftVoter", version, timeout_ms=3_000, listeners=listeners, **voter)
    a.ask("AddRaftVoter", 1, timeout_ms=3_000, listeners=[], **voter)


def resources(link: Link, *kinds: int, version: int = 1) -> None:
    """ListConfigResources; of topics, groups and subscriptions only this run's."""
    told = {"resource_types": list(kinds)} if version >= 1 else {}
    answer = link.ask_quietly("ListConfigResources", version, **told)
    mine = sorted(
        (
            r
            for r in answer["config_resources"]
            if link.session.nonce in r["resource_name"] or r["resource_name"] == "1"
        ),
        key=str,
    )
    link.session.say(f"resources v{version} {kinds}", {**answer, "config_resources": mine})


@scenario(since="4.3")
def config_resources_listed(s: Session) -> None:
    """Topics and brokers always, groups and subscriptions while something is set; unknown types
    (35)."""
    a = s.connect()
    topic(s, "t")
    metrics, group = s.name("m"), s.name("g")
    for name, kind, key in (
        (metrics, CLIENT_METRICS, "interval.ms"),
        (group, GROUP, "consumer.session.timeout.ms"),
    ):
        for operation, value in ((0, "50000"), (1, None)):
            alter(a, kind, name, (key, operation, value))
            await_answer(
                a,
                "ListConfigResources",
                1,
                lambda found, n=name, op=operation: (n in str(found)) is (op == 0),  # type: ignore[misc]
                resource_types=[kind],
            )
            resources(a, kind)
            resources(a, version=0)
            resources(a)
    for kinds in ((2,), (4,), (8,), (2, 2), (4, 2), (8, 4)):
        resources(a, *kinds)
    for kinds in ((0,), (1,), (99,), (-1,), (2, 99)):
        resources(a, *kinds)
