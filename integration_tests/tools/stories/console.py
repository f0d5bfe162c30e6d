"""kafka-console-producer and kafka-console-consumer: lines in, records, lines out."""

from __future__ import annotations

from integration_tests.tools.registry import story
from integration_tests.tools.shell import Shell

PRODUCER, CONSUMER, GROUPS = (
    "kafka-console-producer",
    "kafka-console-consumer",
    "kafka-consumer-groups",
)
ALL = ("--from-beginning", "--timeout-ms", "15000")


@story()
def lines_in_and_out(sh: Shell) -> None:
    """From the beginning, so many; each line its own record."""
    name = sh.topic("t")
    sh.run(PRODUCER, "--topic", name, given="one\ntwo\n\nfour\nünf\n")
    sh.run(CONSUMER, "--topic", name, *ALL, "--max-messages", "5")
    sh.run(CONSUMER, "--topic", name, *ALL, "--max-messages", "2")


@story()
def keys_and_headers(sh: Shell) -> None:
    """Written with separators, shown with all that a record has."""
    name = sh.topic("t")
    sh.run(
        PRODUCER,
        "--topic",
        name,
        "--reader-property",
        "parse.key=true",
        "--reader-property",
        "key.separator=:",
        given="k1:v1\nk2:v2\n:empty\n",
    )
    sh.run(
        PRODUCER,
        "--topic",
        name,
        "--reader-property",
        "parse.headers=true",
        "--reader-property",
        "parse.key=true",
        "--reader-property",
        "key.separator=|",
        "--reader-property",
        "headers.delimiter=#",
        given="h1:a,h2:b#k3|v3\n",
    )
    shown = [
        word
        for what in (
            "print.key=true",
            "print.headers=true",
            "print.offset=true",
            "print.partition=true",
            "key.separator=/",
        )
        for word in ("--formatter-property", what)
    ]
    sh.run(CONSUMER, "--topic", name, *ALL, "--max-messages", "4", *shown)
    sh.run(
        CONSUMER,
        "--topic",
        sh.topic("past", records=1),
        *ALL,
        "--max-messages",
        "1",
        "--formatter-property",
        "print.timestamp=true",
        "--formatter-property",
        "print.value=false",
    )


@story()
def a_line_that_cannot_be_parsed(sh: Shell) -> None:
    """Without its separator the producer gives up, and what came before is written."""
    name = sh.topic("t")
    sh.run(
        PRODUCER,
        "--topic",
        name,
        "--reader-property",
        "parse.key=true",
        "--sync",
        given="a\tb\nc\n",
    )
    sh.run(
        CONSUMER,
        "--topic",
        name,
        *ALL,
        "--max-messages",
        "1",
        "--formatter-property",
        "print.key=true",
    )


@story()
def one_partition_from_an_offset(sh: Shell) -> None:
    """By number, from the beginning, and from the end, where nothing is."""
    name = sh.topic("t", 2, records=5)
    at = ("--topic", name, "--timeout-ms", "15000", "--max-messages")
    sh.run(CONSUMER, *at, "2", "--partition", "1", "--offset", "3")
    sh.run(CONSUMER, *at, "5", "--partition", "0", "--offset", "earliest")
    sh.run(
        CONSUMER, "--topic", name, "--partition", "0", "--offset", "latest", "--timeout-ms", "300"
    )
    sh.run(CONSUMER, *at, "5", "--partition", "0", "--from-beginning")


@story()
def with_a_group(sh: Shell) -> None:
    """The second reader of the group goes on where the first ended; the group says so."""
    name, group = sh.topic("t", records=4), sh.name("g")
    for _ in range(2):
        sh.run(CONSUMER, "--topic", name, "--group", group, *ALL, "--max-messages", "2")
        sh.run(GROUPS, "--describe", "--group", group)
    sh.run(CONSUMER, "--topic", name, "--group", group, "--from-beginning", "--timeout-ms", "300")
    sh.run(GROUPS, "--describe", "--group", group, "--state")


@story()
def compressed(sh: Shell) -> None:
    """In each codec, read back by Java's own."""
    name = sh.topic("t")
    codecs = ("gzip", "snappy", "lz4", "zstd")
    for codec in codecs:
        sh.run(
            PRODUCER, "--topic", name, "--compression-codec", codec, given=f"{codec} {'x' * 50}\n"
        )
    sh.run(CONSUMER, "--topic", name, *ALL, "--max-messages", str(len(codecs)))


@story()
def acknowledged_or_not(sh: Shell) -> None:
    """acks 0, 1, all; several lines in one request."""
    name = sh.topic("t")
    for acks in ("0", "1", "all"):
        sh.run(
            PRODUCER,
            "--topic",
            name,
            "--command-property",
            f"acks={acks}",
            "--command-property",
            "enable.idempotence=false",
            given=f"{acks} a\n{acks} b\n",
        )
    sh.run(CONSUMER, "--topic", name, *ALL, "--max-messages", "6")


@story()
def a_pattern_of_topics(sh: Shell) -> None:
    """--include: all topics that match."""
    for label in ("a", "b"):
        sh.topic(f"many.{label}", records=2)
    sh.run(CONSUMER, "--include", sh.name("many.*"), *ALL, "--max-messages", "4", shuffled=True)


@story()
def topics_that_are_not_there(sh: Shell) -> None:
    """The producer makes one by writing to it; a name that cannot be is refused."""
    name = sh.name("fresh")
    sh.run(PRODUCER, "--topic", name, given="first\n")
    sh.run(CONSUMER, "--topic", name, *ALL, "--max-messages", "1")
    sh.run(PRODUCER, "--topic", sh.name("a b"), given="never\n")
    sh.run(CONSUMER, "--topic", sh.name("a b"), *ALL)


@story()
def options_that_do_not_go_together(sh: Shell) -> None:
    """Refused by the tools themselves."""
    sh.run(CONSUMER)
    sh.run(CONSUMER, "--topic", "t", "--offset", "3")
    sh.run(CONSUMER, "--topic", "t", "--partition", "0", "--offset", "nonsense")
    sh.run(CONSUMER, "--topic", "t", "--partition", "0", "--group", "g")
    sh.run(PRODUCER)


@story(process=True)
def as_processes(sh: Shell) -> None:
    """Producer and consumer as their scripts run them."""
    name = sh.topic("t")
    sh.run(PRODUCER, "--topic", name, given="one\ntwo\n")
    sh.run(CONSUMER, "--topic", name, "--group", sh.name("g"), *ALL, "--max-messages", "2")
