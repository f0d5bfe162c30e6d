"""Event logs in Kafka topics and Spark's own connector: the same lines, the same tables, the same
alerts.

The broker is the emulator and, where one can be had, a real Kafka (REAL_BROKER and
REQUIRE_REAL_BROKER as for `make integration`). `make spark-kafka` fetches the connector and runs
these tests; elsewhere those that need it are skipped.
"""

from __future__ import annotations

import asyncio
import os
import zlib
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from coordinator import Emulator
from coordinator.cli import main
from coordinator.kit.emulator.log_publisher import LogPublisher
from coordinator.lab.pipeline.spark.folders import LANDED, manifest_of
from coordinator.lab.pipeline.spark.kafka import Topic, kafka_settings, land, parse_topic
from coordinator.lab.pipeline.spark.live import Board, Follower
from coordinator.lab.pipeline.spark.session import PipelineError
from coordinator.lab.pipeline.spark.tables import make_tables
from integration_tests.targets import NoBroker, new_broker, real_broker_kind
from integration_tests.wire.make_topic import create_topic
from tests.lab.pipeline.kit import simulated

from .test_live import LIMITS, awaited, in_files, plain

needs_connector = pytest.mark.skipif(
    os.environ.get("SPARK_KAFKA") != "1", reason="`make spark-kafka` runs it"
)


@pytest.fixture(scope="module", params=["emulator", "real"])
def kafka(request: pytest.FixtureRequest) -> Iterator[str]:
    """A broker."""
    if request.param == "emulator":
        with Emulator() as emulator:
            yield emulator.bootstrap_servers
        return
    try:
        real = new_broker(real_broker_kind(), {})
    except NoBroker as error:
        if os.environ.get("REQUIRE_REAL_BROKER", "") not in ("", "0"):
            pytest.fail(f"REQUIRE_REAL_BROKER is set: {error}", pytrace=False)
        pytest.skip(str(error))
    try:
        yield real.bootstrap_servers
    finally:
        real.stop()


@pytest.fixture
def topic(request: pytest.FixtureRequest, kafka: str) -> str:
    """A topic of this test's own, with nothing in it, as `kafka://HOST:PORT/TOPIC`."""
    name = f"events-{zlib.crc32(request.node.name.encode()):08x}"
    create_topic(kafka, name, 1)
    return f"kafka://{kafka}/{name}"


def publish(path: Path, topic: str) -> None:
    name = parse_topic(topic)

    async def work() -> None:
        publisher = LogPublisher(str(path), name.bootstrap, name.topic)
        publisher.start()
        await publisher.caught_up()
        assert await publisher.stop()

    asyncio.run(work())


@needs_connector
def test_what_several_emulators_publish_to_one_topic_becomes_the_tables_of_their_logs(
    spark: Any, tmp_path: Path, topic: str
) -> None:
    texts = [simulated("crash_loop", seed) for seed in (1, 2)]
    mixed = [
        line
        for pair in zip_longest(*(text.splitlines() for text in texts))
        for line in pair
        if line is not None
    ]
    mixed[40:40] = mixed[20:40]  # a publisher had to begin again
    mixed.insert(60, "no line of a log")
    (tmp_path / "mixed.jsonl").write_text("\n".join(mixed) + "\n")
    with pytest.raises(PipelineError, match="there are no records in this topic"):
        land(spark, topic, tmp_path / "empty")
    publish(tmp_path / "mixed.jsonl", topic)
    made = make_tables(spark, [topic], tmp_path / "out")
    landed = [path.read_text() for path in (tmp_path / "out" / LANDED).iterdir()]
    assert sorted(landed) == sorted([*texts, "no line of a log\n"])
    whole = sum(text.count("\n") for text in texts)
    assert (made.counts.runs, made.counts.lines, made.counts.events, made.counts.quarantined) == (
        2,
        whole + 1,
        whole,
        1,
    )
    assert manifest_of(tmp_path / "out")["events"] == whole


@needs_connector
def test_what_sparks_connector_writes_is_read_back(spark: Any, tmp_path: Path, topic: str) -> None:
    """Its producer is Java's, idempotent."""
    text, name = simulated("crash_loop", 3), parse_topic(topic)
    lines = spark.createDataFrame([(line,) for line in text.splitlines()], "value string").coalesce(
        1
    )
    lines.write.format("kafka").options(
        **{"kafka.bootstrap.servers": name.bootstrap, "topic": name.topic}
    ).save()
    made = make_tables(spark, [topic], tmp_path / "out")
    assert [path.read_text() for path in (tmp_path / "out" / LANDED).iterdir()] == [text]
    assert (made.counts.runs, made.counts.events) == (1, text.count("\n"))


@needs_connector
def test_a_topic_is_followed_like_a_file(spark: Any, tmp_path: Path, topic: str) -> None:
    text = simulated("crash_loop", 2)
    (tmp_path / "run.jsonl").write_text(text)
    board = Board(tmp_path / "out", lambda alert: None)
    follower = Follower(spark, topic, board, tmp_path / "checkpoint", LIMITS)
    try:
        publish(tmp_path / "run.jsonl", topic)
        awaited(follower, lambda: board.lines == text.count("\n"))
    finally:
        follower.stop()
    assert sorted(in_files(tmp_path / "out")) == sorted(plain(text)) != []


def test_names_of_topics() -> None:
    assert parse_topic("kafka://a:9092,b:9093/my.events") == Topic("a:9092,b:9093", "my.events")
    for wrong in ("kafka://a/events", "kafka://a:9092", "kafka://a:9092/", "kafka://a:9092/x/y"):
        with pytest.raises(PipelineError, match="kafka://HOST:PORT/TOPIC"):
            parse_topic(wrong)


def test_without_the_connector_it_is_said_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SPARK_KAFKA_JARS", str(tmp_path))
    assert main(["tables", "kafka://127.0.0.1:9092/events", "--out", str(tmp_path / "out")]) == 2
    assert "make spark-kafka" in capsys.readouterr().err
    assert main(["live", "kafka://nowhere", "--out", str(tmp_path / "live")]) == 2
    assert "kafka://HOST:PORT/TOPIC" in capsys.readouterr().err
    assert kafka_settings(["run.jsonl"]) == {}
