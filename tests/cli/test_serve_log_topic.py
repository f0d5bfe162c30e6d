"""`coordinator serve --log-topic`: another Kafka's topic has the whole log when the process has
ended, and its own topic what was there."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from coordinator import Emulator
from coordinator.cli import main
from coordinator.members.record_batches import read_batches

from .test_serve import serving


def test_another_kafka_has_the_whole_log_when_serve_has_ended(tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"
    log.write_bytes(
        b'{"seq":0,"at_ms":0,"run":"earlier","stream":"log","type":"RunStarted","cause":null,"format":1}\n'
    )
    earlier = len(log.read_bytes())
    with Emulator({"events": 1}) as kafka:
        options = (
            "--log-append",
            str(log),
            "--log-topic",
            "events",
            "--log-bootstrap",
            kafka.bootstrap_servers,
        )
        with serving("--seed", "7", "--topic", "orders:3", "--loop", "asyncio", *options) as (
            process,
            lines,
        ):
            assert f"event log: also in topic events of {kafka.bootstrap_servers}" in lines
            process.send_signal(signal.SIGTERM)
            assert process.wait(120) == 0
            assert process.stderr is not None and process.stderr.read() == ""
        raw = kafka.run(
            lambda: kafka.broker.cluster.topics["events"].partitions[0].log.read(0, 1 << 30)
        )
    values = [record.value or b"" for batch in read_batches(raw) for record in batch.records]
    assert values == log.read_bytes()[earlier:].splitlines() and b"CoordinatorStopped" in values[-1]


def test_its_own_topic_is_made_and_the_log_is_a_temporary_file_unless_one_is_named() -> None:
    with serving("--log-topic", "events", "--loop", "asyncio") as (process, lines):
        assert (
            "topics: events:1" in lines
            and "event log: also in topic events of this emulator" in lines
        )
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
        assert process.stderr is not None and process.stderr.read() == ""


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--log-bootstrap", "localhost:9092"], "--log-bootstrap: of which topic"),
        (["--log-topic", "no/name"], "--log-topic: Topic name is invalid"),
        (
            ["--log-topic", "events", "--log-bootstrap", "nowhere"],
            "--log-bootstrap: 'nowhere' is no address",
        ),
    ],
)
def test_options_that_cannot_be(
    capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    assert main(["serve", "--listen", "127.0.0.1:0", *options]) == 2
    assert said in capsys.readouterr().err
