"""What a scenario says twice, or says although nothing could come of it, is refused with its file,
line, key, and what would be right."""

from __future__ import annotations

from pathlib import Path

import pytest

from coordinator.cli import main
from coordinator.simulator.files.scenario import read_scenario

from .test_reading import GOOD, refused

PRODUCER = '[[producers]]\nname = "p"\ntopics = "orders"\n'
MEMBER = '[[members]]\nname = "m"\ntopics = "orders"\n'
FAULT = "[[faults]]\n"


@pytest.mark.parametrize(
    ("part", "told"),
    [
        (
            f'{PRODUCER}[[churn]]\nkind = "restart"\nmembers = "p"\nbecomes = "app"',
            "line 21: churn restart: becomes = 'app': p are producers",
        ),
        (
            f'{MEMBER}count = 0\n[[churn]]\nkind = "stall"\nmembers = "m"',
            "line 21: churn stall of members m: none of them starts",
        ),
        (
            '[[churn]]\nkind = "poisson"\nmembers = "app"\narrivals_per_hour = 9\nat = "9s"\nuntil = "9s"',
            "line 20: churn poisson: until = 9000 ms",
        ),
        (
            f'{PRODUCER}{FAULT}action = "observe"\nwhen = "join"\nof = "p-1"',
            "line 21: when = 'join', of = 'p-1': that is a producer",
        ),
        (f'{FAULT}action = "observe"\nseen = 5', "line 17: seen = 5: of, seen and later need when"),
        (
            f'{FAULT}action = "observe"\nwhen = "join"\nat = "5s"',
            "line 18: either at or when; later says how long after 'join'",
        ),
        (
            f'{FAULT}action = "delay"\nduration_ms = -1',
            "line 17: duration_ms: -1 is no length of time",
        ),
        (
            f'{FAULT}action = "observe"\ngeneration = -5',
            "line 17: generation: -5; they count from 0",
        ),
        (
            f'{FAULT}action = "observe"\ninstance_id = "app-1"',
            "line 17: fault observe: instance_id = 'app-1' is nobody's: a member",
        ),
        (
            f'{FAULT}action = "observe"\ntransactional_id = "app-1"',
            "line 17: fault observe: transactional_id = 'app-1' is nobody's",
        ),
        (
            f'{FAULT}verb = "MoveLeader"\ntopic = "orders"\npartition = 0\nto = 1',
            "line 19: MoveLeader: to = 1: there is no other broker",
        ),
        (
            f'{FAULT}verb = "SlowFollower"\nbroker = 1',
            "line 15: SlowFollower: nothing is slowed down: give delay_ms",
        ),
        (
            f'{FAULT}verb = "CreateTopic"\ntopic = "n"\n' * 2,
            "line 20: CreateTopic: topic n: another fault makes it",
        ),
        (
            f'{FAULT}verb = "CreatePartitions"\ntopic = "orders"\npartitions = 8\nrepeats = 2\nevery = "5s"',
            "line 19: fault CreatePartitions: no partition is taken away again: leave repeats out",
        ),
        (
            f'{MEMBER}assignor = "sticky"\nconfig = {{ "partition.assignment.strategy" = "range" }}',
            "line 19: members m: partition.assignment.strategy is not set in config beside assignor",
        ),
        (
            f'{MEMBER}consumes = true\nconfig = {{ "enable.auto.commit" = false }}',
            "line 19: members m: enable.auto.commit = false: commit",
        ),
        (
            f'{MEMBER}config = {{ "max.poll.records" = 5 }}',
            "line 18: members m: max.poll.records needs consumes = true",
        ),
        (
            f"{MEMBER}reads = 100000000001",
            "line 18: reads = 100000000001: give a whole number from 0 to 100000000000",
        ),
        (
            f"{MEMBER}count = 100000000000",
            "line 6: 100000000003 members and producers: a run has at most",
        ),
        (f'{MEMBER}start = "8785h"', "line 18: start = '8785h': give a duration"),
        (
            f'{PRODUCER}config = {{ "transactional.id" = "x" }}',
            "line 18: producers p: transactional.id is not set in config: trans",
        ),
        (
            PRODUCER.replace('"orders"', '["orders", "orders"]'),
            "line 17: producers p: orders is named twice: name it once",
        ),
        (
            MEMBER.replace('"orders"', '["orders", "orders"]'),
            "line 17: members m: orders is named twice: name it once",
        ),
        (
            f'{MEMBER}config = {{ "auto.commit.interval.ms" = 0 }}',
            "line 18: m: auto.commit.interval.ms = 0: it would be done again",
        ),
        (
            f'{MEMBER}config = {{ "metadata.max.age.ms" = 0 }}\n[links]\ndelay = "0ms"',
            "line 18: m: metadata.max.age.ms = 0: it would",
        ),
        (
            f'{PRODUCER}config = {{ "retry.backoff.ms" = 0 }}\n[links]\ndelay = 0',
            "line 18: p: retry.backoff.ms = 0: it would",
        ),
        (
            '[must]\njudges = ["one_leader", "one_leader"]',
            "line 16: must.judges: one_leader is named twice: name it once",
        ),
        (
            '[brokers.config]\n"group.consumer.assignors" = "none"',
            "line 16: group.consumer.assignors=none: uniform and range are built in",
        ),
        (
            f'[brokers.config]\n"group.coordinator.rebalance.protocols" = "classic"\n{MEMBER}protocol = "consumer"',
            'line 20: members m: protocol = "consumer": brokers do not serve it',
        ),
        (
            '[brokers.config]\n"offsets.topic.num.partitions" = 100001',
            "line 16: offsets.topic.num.partitions = 100001: at most 100000",
        ),
    ],
)
def test_what_contradicts_itself_or_does_nothing_is_refused(part: str, told: str) -> None:
    assert f"s.toml, {told}" in refused(f"{GOOD}\n{part}\n")


def test_topics_that_kafka_would_not_have_beside_each_other_are_refused() -> None:
    told = refused(GOOD.replace("orders = 4", 'orders = 4\n"a.b" = 1\na_b = 1'))
    assert told.startswith("s.toml, line 6: a_b and a.b differ only in dots and underscores")
    told = refused(GOOD.replace("orders = 4", "orders = 100000\nmore = 100000\nstill = 1"))
    assert told.startswith(
        "s.toml, line 3: 200001 partitions of all topics: a run has at most 200000"
    )


def test_what_only_looks_like_a_contradiction_is_taken() -> None:
    """A topic that lasts for a while is made again; identities that config and pipelines give are
    there; `fail` takes any error."""
    parts = (
        f'{FAULT}verb = "CreateTopic"\ntopic = "n"\nlasts = "5s"\n' * 2,
        f'{MEMBER}config = {{ "group.instance.id" = "mine" }}\n{FAULT}action = "observe"\ninstance_id = "mine"\n',
        f'{PRODUCER}transactional = true\n{FAULT}action = "observe"\ntransactional_id = "p-7"\n',
        f'{FAULT}action = "fail"\napi = "Fetch"\nerror = "NOT_COORDINATOR"\n',
        f'{FAULT}verb = "stopbroker"\nbroker = 1\nlasts = "5s"\n',
        f'{MEMBER}config = {{ "metadata.max.age.ms" = 0 }}\n',
        '[links]\ndelay = "0ms"\n',
        f'{MEMBER}consumes = true\ncommit = "batch"\nconfig = {{ "enable.auto.commit" = false }}\n',
    )
    assert [len(read_scenario(f"{GOOD}\n{part}", "s.toml").topics) for part in parts] == [1] * len(
        parts
    )


def test_what_a_run_left_out_is_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "s.toml"
    churn = '[[churn]]\nkind = "poisson"\nmembers = "app"\narrivals_per_hour = 60\n'
    file.write_text(
        f'{GOOD}\n{PRODUCER}start = "40s"\n{churn}{FAULT}verb = "StartBroker"\nbroker = 1\nat = "5s"\n'
    )
    assert main(["simulate", str(file)]) == 0
    churned, written, skipped = (
        line.replace(str(tmp_path), "") for line in capsys.readouterr().err.splitlines()
    )
    assert (
        churned
        == "note: /s.toml, line 19: churn poisson: nobody comes or goes in the last 2 minutes of a run: give until"
    )
    assert written.startswith("note: producers p write nothing: they stop at 30000 ms")
    assert skipped.startswith("note: at 5 s a fault was skipped: broker 1 is running")
