"""The tools that ask about the cluster itself: what it can, who leads, where logs lie, who may do
what."""

from __future__ import annotations

import json
import re

from integration_tests.tools.registry import story
from integration_tests.tools.shell import Shell


@story()
def api_versions(sh: Shell) -> None:
    """kafka-broker-api-versions: one broker, every API with its range."""
    sh.run("kafka-broker-api-versions")


@story()
def groups_of_all_types(sh: Shell) -> None:
    """kafka-groups: by type and protocol."""
    group, simple = sh.name("g"), sh.name("simple")
    name = sh.topic("t")
    sh.member(group, name, 0)
    sh.commits(simple, name, 0)
    mine = sh.session.nonce
    sh.run("kafka-groups", "--list", only=mine, shuffled=True)
    for how in (
        ("--consumer",),
        ("--share",),
        ("--streams",),
        ("--group-type", "classic"),
        ("--group-type", "consumer"),
        ("--protocol", "consumer"),
        ("--protocol", "nonsense"),
        ("--group-type", "classic", "--protocol", "consumer"),
    ):
        sh.run("kafka-groups", "--list", *how, only=mine, shuffled=True)


@story()
def leaders_elected(sh: Shell) -> None:
    """kafka-leader-election: nobody needs one."""
    name = sh.topic("t", 2)
    tool = "kafka-leader-election"
    for kind in ("preferred", "unclean"):
        sh.run(tool, "--election-type", kind, "--topic", name, "--partition", "0")
        sh.run(tool, "--election-type", kind, "--topic", sh.name("missing"), "--partition", "0")
    sh.run(tool, "--election-type", "preferred", "--all-topic-partitions")
    plan = {"partitions": [{"topic": name, "partition": 0}, {"topic": name, "partition": 9}]}
    sh.run(
        tool,
        "--election-type",
        "preferred",
        "--path-to-json-file",
        sh.file("plan.json", json.dumps(plan)),
        shuffled=True,
    )
    sh.run(tool, "--election-type", "nonsense", "--topic", name, "--partition", "0")


@story()
def log_dirs(sh: Shell) -> None:
    """kafka-log-dirs: sizes of partitions; another broker's are not found."""
    name, empty = sh.topic("t", 2, records=5), sh.topic("empty")
    done = sh.quietly("kafka-log-dirs", "--describe", "--topic-list", f"{name},{empty}")
    found = json.loads(done.output.splitlines()[-1])
    for broker in found["brokers"]:
        for directory in broker["logDirs"]:
            sh.say(f"broker {broker['broker']}, error {directory['error']}")
            for part in sorted(directory["partitions"], key=str):
                sh.say(
                    f"{part['partition']} size {part['size']} lag {part['offsetLag']} future {part['isFuture']}"
                )
    sh.run("kafka-log-dirs", "--describe", "--broker-list", "7")
    sh.run("kafka-log-dirs", "--describe", "--topic-list", sh.name("missing"), only="Querying")


@story()
def the_quorum(sh: Shell) -> None:
    """kafka-metadata-quorum: one voter, which leads."""
    said = sh.quietly("kafka-metadata-quorum", "describe", "--status").output
    for line in said.splitlines():
        key = line.partition(":")[0]
        sh.say(line if key in ("LeaderId", "MaxFollowerLag") else key)
    voters = re.findall(r'"id": (\d+)', said)
    sh.say(f"voters: {voters}")
    table = sh.quietly("kafka-metadata-quorum", "describe", "--replication").output.splitlines()
    sh.say(table[0])
    for row in table[1:]:
        node_id, _, _, lag, *_, status = row.split()
        sh.say(f"node {node_id} lag {lag} {status}")


@story()
def cluster_id_and_brokers(sh: Shell) -> None:
    """kafka-cluster: its id, its endpoints; nobody else can be unregistered."""
    at = ("--bootstrap-server", sh.address)
    said = sh.quietly("kafka-cluster", "cluster-id", *at, bare=True).output
    sh.say(re.sub(r"[\w-]{22}", "<cluster id>", said.strip()))
    sh.run("kafka-cluster", "unregister", *at, "--id", "7", bare=True)
    for row in sh.quietly("kafka-cluster", "list-endpoints", *at, bare=True).output.splitlines():
        node_id, _, _, *rest = row.split()
        sh.say(" ".join((node_id, "HOST", "PORT", *rest)))


@story()
def features(sh: Shell) -> None:
    """kafka-features: what is supported and what is in force; changes that cannot be. Nothing is
    changed."""
    said = sh.quietly("kafka-features", "describe").output
    for line in said.splitlines():
        sh.say(re.sub(r"Epoch: \d+", "Epoch: <n>", line))
    for change in (
        ("upgrade", "--feature", "nope=1"),
        ("upgrade", "--feature", "metadata.version=31"),
        ("upgrade", "--feature", "x"),
        ("upgrade", "--metadata", "4.3"),
        ("upgrade", "--metadata", "9.9"),
        ("downgrade", "--metadata", "3.9"),
        ("disable", "--feature", "nope"),
        ("disable", "--feature", "metadata.version"),
    ):
        sh.run("kafka-features", change[0], *change[1:], "--dry-run")


@story()
def partitions_reassigned(sh: Shell) -> None:
    """kafka-reassign-partitions: to where they are; to brokers that are not there; verified,
    cancelled, listed."""
    name, tool = sh.topic("t", 2), "kafka-reassign-partitions"
    stays = sh.file("stays.json", _assignment((name, 0, [1]), (name, 1, [1])))
    away = sh.file("away.json", _assignment((name, 0, [7])))
    topics = sh.file("topics.json", json.dumps({"version": 1, "topics": [{"topic": name}]}))
    sh.run(tool, "--generate", "--topics-to-move-json-file", topics, "--broker-list", "1")
    sh.run(tool, "--generate", "--topics-to-move-json-file", topics, "--broker-list", "7")
    for what in ("--execute", "--verify", "--cancel"):
        sh.run(tool, what, "--reassignment-json-file", stays)
    sh.run(tool, "--execute", "--reassignment-json-file", away)
    sh.run(tool, "--list")
    missing = sh.file("missing.json", _assignment((sh.name("missing"), 0, [1])))
    sh.run(tool, "--execute", "--reassignment-json-file", missing)
    sh.run(tool, "--verify", "--reassignment-json-file", missing)


def _assignment(*parts: tuple[str, int, list[int]]) -> str:
    return json.dumps(
        {
            "version": 1,
            "partitions": [{"topic": t, "partition": p, "replicas": r} for t, p, r in parts],
        }
    )


@story()
def no_authorizer(sh: Shell) -> None:
    """kafka-acls: there is none."""
    sh.run("kafka-acls", "--list")
    sh.run("kafka-acls", "--list", "--topic", "t")
    sh.run(
        "kafka-acls", "--add", "--allow-principal", "User:a", "--operation", "Read", "--topic", "t"
    )
    sh.run(
        "kafka-acls",
        "--remove",
        "--force",
        "--allow-principal",
        "User:a",
        "--operation",
        "Read",
        "--topic",
        "t",
    )


@story()
def no_delegation_tokens(sh: Shell) -> None:
    """kafka-delegation-tokens: not for those who are not authenticated."""
    config = sh.file("client.properties", "security.protocol=PLAINTEXT\n")
    for action in (
        ("--describe",),
        ("--create", "--max-life-time-period", "-1"),
        ("--renew", "--renew-time-period", "-1", "--hmac", "AAAA"),
        ("--expire", "--expiry-time-period", "-1", "--hmac", "AAAA"),
    ):
        sh.run("kafka-delegation-tokens", "--command-config", config, *action)
