"""kafka-console-share-consumer: records of a share group as lines, each accepted, released or rejected
(KIP-932)."""

from __future__ import annotations

from integration_tests.tools.registry import story
from integration_tests.tools.shell import Shell

CONSUMER, CONFIGS, GROUPS = (
    "kafka-console-share-consumer",
    "kafka-configs",
    "kafka-share-groups",
)
_SHOWN = [
    word
    for what in ("print.offset=true", "print.delivery=true")
    for word in ("--formatter-property", what)
]
_PATIENT = ("--timeout-ms", "15000")


def _group(sh: Shell, label: str) -> str:
    """A group that reads from the start."""
    group = sh.name(label)
    entity = ("--entity-type", "groups", "--entity-name", group)
    done = sh.quietly(
        CONFIGS, "--alter", *entity, "--add-config", "share.auto.offset.reset=earliest"
    )
    assert not done.status, done.errors
    return group


@story()
def accepted(sh: Shell) -> None:
    """So many records; what the tool did not show, the next one is given."""
    name, group = sh.topic("t", records=5), _group(sh, "g")
    of = ("--topic", name, "--group", group, *_PATIENT)
    sh.run(CONSUMER, *of, "--max-messages", "2")
    sh.run(CONSUMER, *of, "--max-messages", "3", *_SHOWN)
    sh.run(GROUPS, "--describe", "--group", group, "--state")


@story()
def released_and_rejected(sh: Shell) -> None:
    """Released records come again, rejected ones do not."""
    name, group = sh.topic("t", records=3), _group(sh, "g")
    of = ("--topic", name, "--group", group, *_PATIENT)
    sh.run(CONSUMER, *of, "--max-messages", "3", "--release", *_SHOWN)
    sh.run(CONSUMER, *of, "--max-messages", "2", "--reject", *_SHOWN)
    sh.run(CONSUMER, *of, "--max-messages", "1", *_SHOWN)


@story()
def options_that_do_not_go_together(sh: Shell) -> None:
    """The tool refuses them by itself."""
    sh.run(CONSUMER)
    sh.run(CONSUMER, "--topic", "t", "--reject", "--release")
    sh.run(CONSUMER, "--topic", "t", "--max-messages", "x")
