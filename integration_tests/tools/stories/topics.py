"""kafka-topics: made, listed, described, grown, deleted, and what it says when that cannot be."""

from __future__ import annotations

from integration_tests.tools.registry import story
from integration_tests.tools.shell import Shell
from integration_tests.wire.people import topic_id

TOPICS = "kafka-topics"


@story()
def a_topic_s_life(sh: Shell) -> None:
    """Create, describe, grow, delete; each seen by the next."""
    name = sh.name("life")
    sh.run(
        TOPICS,
        "--create",
        "--topic",
        name,
        "--partitions",
        "2",
        "--replication-factor",
        "1",
        "--config",
        "retention.ms=1000",
        "--config",
        "cleanup.policy=compact,delete",
    )
    sh.topic_has(name, 2)
    sh.run(TOPICS, "--describe", "--topic", name)
    sh.run(TOPICS, "--list", only=name)
    sh.run(TOPICS, "--alter", "--topic", name, "--partitions", "3")
    sh.topic_has(name, 3)
    sh.run(TOPICS, "--describe", "--topic", name)
    sh.run(TOPICS, "--delete", "--topic", name)
    sh.topic_has(name, None)
    sh.run(TOPICS, "--list", only=name)


@story()
def made_with_defaults(sh: Shell) -> None:
    """Without partitions and replicas the broker's defaults hold; replicas can be said one by
    one."""
    plain, placed = sh.name("plain"), sh.name("placed")
    sh.run(TOPICS, "--create", "--topic", plain)
    sh.topic_has(plain, 1)
    sh.run(TOPICS, "--describe", "--topic", plain)
    sh.run(TOPICS, "--create", "--topic", placed, "--replica-assignment", "1,1")
    sh.topic_has(placed, 2)
    sh.run(TOPICS, "--describe", "--topic", placed)


@story()
def creation_refused(sh: Shell) -> None:
    """Existing, badly named, over-replicated, without partitions, with unknown configurations."""
    name = sh.topic("there")
    sh.run(TOPICS, "--create", "--topic", name)
    sh.run(TOPICS, "--create", "--topic", name, "--if-not-exists")
    sh.run(TOPICS, "--create", "--topic", sh.name("a b"))
    sh.run(TOPICS, "--create", "--topic", sh.name("rep"), "--replication-factor", "2")
    sh.run(TOPICS, "--create", "--topic", sh.name("none"), "--partitions", "0")
    sh.run(TOPICS, "--create", "--topic", sh.name("conf"), "--config", "no.such.config=1")
    sh.run(TOPICS, "--create", "--topic", sh.name("conf"), "--config", "retention.ms=soon")
    sh.run(TOPICS, "--create", "--topic", sh.name("placed"), "--replica-assignment", "7")
    sh.run(TOPICS, "--create", "--topic", sh.name("dot.ted"))
    sh.run(TOPICS, "--create", "--topic", sh.name("dot_ted"))


@story()
def change_refused(sh: Shell) -> None:
    """Alter and delete of what is not there, and fewer partitions than there are."""
    name, missing = sh.topic("two", 2), sh.name("missing")
    for action in ("--alter", "--delete", "--describe"):
        more = ["--partitions", "3"] if action == "--alter" else []
        sh.run(TOPICS, action, "--topic", missing, *more)
        sh.run(TOPICS, action, "--topic", missing, "--if-exists", *more)
    sh.run(TOPICS, "--alter", "--topic", name, "--partitions", "1")
    sh.run(TOPICS, "--alter", "--topic", name, "--partitions", "2")
    sh.run(TOPICS, "--alter", "--topic", name, "--partitions", "4", "--replica-assignment", "1,1,7")


@story()
def found_by_id_and_pattern(sh: Shell) -> None:
    """Described by topic id and by pattern; filters that hold for no partition of a healthy
    broker."""
    one, other = sh.topic("one"), sh.topic("other", 2, max_message_bytes="999")
    sh.run(TOPICS, "--describe", "--topic-id", _base64(topic_id(sh.session, one)))
    sh.run(TOPICS, "--describe", "--topic-id", "AAAAAAAAAAAAAAAAAAAAHg")
    sh.run(TOPICS, "--describe", "--topic", sh.name("o.*"), shuffled=True)
    sh.run(TOPICS, "--list", "--topic", sh.name(".*"))
    sh.run(TOPICS, "--describe", "--topics-with-overrides", "--topic", other)
    for about in (
        "--under-replicated-partitions",
        "--unavailable-partitions",
        "--under-min-isr-partitions",
        "--at-min-isr-partitions",
    ):
        sh.run(TOPICS, "--describe", about, "--topic", one)


@story()
def deleted_by_pattern(sh: Shell) -> None:
    """One command deletes what matches, and nothing else."""
    gone, stays = [sh.topic("gone.a"), sh.topic("gone.b")], sh.topic("stays")
    sh.run(TOPICS, "--delete", "--topic", sh.name("gone.*"))
    for name in gone:
        sh.topic_has(name, None)
    sh.run(TOPICS, "--list", only=sh.session.nonce)
    sh.topic_has(stays, 1)


@story()
def internal_topics(sh: Shell) -> None:
    """They are listed unless excluded, and cannot be made."""
    sh.run(TOPICS, "--list", only="__consumer_offsets")
    sh.run(TOPICS, "--list", "--exclude-internal", only="__consumer_offsets")
    sh.run(TOPICS, "--create", "--topic", "__consumer_offsets")


@story()
def options_that_do_not_go_together(sh: Shell) -> None:
    """Refused by the tool itself, before it asks anybody."""
    sh.run(TOPICS, "--create")
    sh.run(TOPICS, "--create", "--topic", "a", "--partitions", "1", "--replica-assignment", "1")
    sh.run(TOPICS, "--list", "--describe")


@story(process=True)
def as_a_process(sh: Shell) -> None:
    """The tool as its script runs it: a process of its own."""
    name = sh.name("process")
    sh.run(TOPICS, "--create", "--topic", name, "--partitions", "2")
    sh.topic_has(name, 2)
    sh.run(TOPICS, "--describe", "--topic", name)
    sh.run(TOPICS, "--delete", "--topic", sh.name("missing"))


def _base64(topic_id: str) -> str:
    from base64 import urlsafe_b64encode

    return urlsafe_b64encode(bytes.fromhex(topic_id)).decode().rstrip("=")
