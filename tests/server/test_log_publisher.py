"""Publishing the event log: every line once and in order, whatever the broker answers; nothing is
dropped, and it comes to an end."""

from __future__ import annotations

from pathlib import Path

import pytest

from coordinator import Emulator
from coordinator.kit.emulator.log_publisher import CLIENT_ID, MOST_LINE_BYTES, LogPublisher, Tail
from coordinator.kit.emulator.session import own_routes
from coordinator.members.live.bootstrap import AddressError
from coordinator.members.record_batches import read_batches


def published(kafka: Emulator, topic: str = "events") -> list[bytes]:
    """The records of a topic's first partition."""
    log = kafka.broker.cluster.topics[topic].partitions[0].log
    return [
        record.value or b""
        for batch in read_batches(log.read(0, 1 << 30))
        for record in batch.records
    ]


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines()


def test_a_tail_gives_whole_lines_only(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"first\nsecond\nthi")
    tail = Tail(str(log), 6)
    assert tail.take() == [(6, 13, b"second")] and tail.take() == []
    with log.open("ab") as file:
        file.write(b"rd\n" + b"x" * 100 + b"\n")
    assert [line.text for line in tail.take(4)] == [
        b"third"
    ]  # longer than what is read at once, but whole
    assert [line.text for line in tail.take(4)] == [b"x" * 100]
    assert tail.offset == log.stat().st_size and tail.take() == []


async def test_an_emulator_publishes_its_own_log_and_comes_to_an_end(tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"
    async with Emulator({"orders": 2, "events": 1}, log=log) as kafka:
        publisher = LogPublisher(str(log), kafka.bootstrap_servers, "events")
        publisher.start()
        async with kafka.peer("billing", ["orders"]) as peer:
            await peer.stable()
        await publisher.caught_up()
        before = lines(log)
        assert (
            published(kafka) == before and len(before) > 10 and publisher.published == len(before)
        )
        assert await publisher.stop()
        assert lines(log) == before  # publishing has added nothing to what it publishes
    assert publisher.ended is None and publisher.waiting == 0


async def test_refusals_and_lost_connections_change_neither_order_nor_number(
    tmp_path: Path,
) -> None:
    log = tmp_path / "run.jsonl"
    log.write_bytes(b"".join(b'{"seq":%d}\n' % number for number in range(3000)))
    async with Emulator({"events": 1}) as kafka:
        kafka.fail("Produce", "NOT_LEADER_OR_FOLLOWER", times=1)
        kafka.disconnect("Produce", after=True, times=1)
        kafka.fail("InitProducerId", "COORDINATOR_LOAD_IN_PROGRESS", times=1)
        publisher = LogPublisher(str(log), kafka.bootstrap_servers, "events", most_lines=100)
        publisher.start()
        await publisher.caught_up()
        assert published(kafka) == lines(log) and publisher.published == 3000
        assert await publisher.stop()


async def test_lines_about_the_publisher_and_lines_that_are_too_long_stay_in_the_file(
    tmp_path: Path,
) -> None:
    log = tmp_path / "run.jsonl"
    ours = b'{"seq":1,"client":"%s"}' % CLIENT_ID.encode()
    told: list[str] = []
    too_long = b'{"text":"' + b"x" * MOST_LINE_BYTES + b'"}'
    log.write_bytes(
        b"\n".join([b'{"seq":0}', ours, too_long, b'{"seq":3,"quoted":' + ours + b"}", b""])
    )
    async with Emulator({"events": 1}) as kafka:
        publisher = LogPublisher(str(log), kafka.bootstrap_servers, "events", tell=told.append)
        publisher.start()
        await publisher.caught_up()
        assert [text[:8] for text in published(kafka)] == [b'{"seq":0', b'{"seq":3']
        assert publisher.left_out == 1 and "too long" in told[0]
        await publisher.stop()


async def test_a_broker_that_keeps_refusing_ends_it_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coordinator.kit.emulator.log_publisher._MOST_TRIES", 1)
    log = tmp_path / "run.jsonl"
    log.write_bytes(b'{"seq":0}\n')
    told: list[str] = []
    async with Emulator({"events": 1}) as kafka:
        kafka.fail("Produce", "TOPIC_AUTHORIZATION_FAILED")
        publisher = LogPublisher(str(log), kafka.bootstrap_servers, "events", tell=told.append)
        publisher.start()
        await publisher.caught_up()
        assert publisher.ended is not None and "TOPIC_AUTHORIZATION_FAILED" in publisher.ended
        assert "has ended" in told[-1] and published(kafka) == []
        assert not await publisher.stop()


async def test_a_topic_that_is_not_there_is_made_where_brokers_make_topics(tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"
    log.write_bytes(b'{"seq":0}\n')
    async with Emulator(auto_create_topics=True) as kafka:
        publisher = LogPublisher(
            str(log),
            "other:1",
            "events",
            routes={("other", 1): next(iter(own_routes(kafka.servers).values()))},
        )
        publisher.start()
        await publisher.caught_up()
        assert published(kafka) == [b'{"seq":0}']
        await publisher.stop()


async def test_nobody_there_loses_nothing(tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"
    log.write_bytes(b'{"seq":0}\n' * 10)
    publisher = LogPublisher(str(log), "127.0.0.1:1", "events", most_lines=3)
    publisher.start()
    assert not await publisher.stop(silence_s=0.05)
    assert publisher.published == 0
    with pytest.raises(AddressError, match="host:port"):
        LogPublisher(str(log), "nowhere", "events")
