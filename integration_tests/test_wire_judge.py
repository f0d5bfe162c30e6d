"""The judge of the scenarios is judged: planted bugs are found, and a broker that hangs is a
difference, never a stuck run."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread

import pytest

from coordinator import Emulator
from coordinator.server.interceptors import Answer, Drop, Verdict
from coordinator.server.requests.call import Call
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from integration_tests.test_wire import RECORDED, judge, judge_plays, judge_record
from integration_tests.wire.codec import TableCodec
from integration_tests.wire.compare import difference
from integration_tests.wire.people import Member
from integration_tests.wire.recorder import Scenario, Session, Step, complete, play
from integration_tests.wire.registry import PROFILES, all_scenarios
from integration_tests.wire.together import Part, play_together

STORY = "sync_heartbeat.heartbeat_in_every_version_and_state"
RECORD = RECORDED[STORY]


def played(address: str, **limits: float) -> list[Step]:
    """The story at an address, under its record's mark."""
    return play(all_scenarios()[STORY], address, TableCodec(), RECORD.nonce, **limits)


def test_an_honest_emulator_passes() -> None:
    with Emulator(config=PROFILES["plain"]) as good:
        judge(STORY, RECORD.steps, played(good.bootstrap_servers))


def test_another_error_code_is_found() -> None:
    def unknown_member_is_another(call: Call) -> Verdict:
        wrong = isinstance(call.message, HeartbeatRequest) and call.message.member_id == "ghost"
        return Answer(HeartbeatResponse(error_code=22)) if wrong else None

    with Emulator() as bad:
        bad.broker.interceptors.append(unknown_member_is_another)
        steps = played(bad.bootstrap_servers)
    with pytest.raises(
        pytest.fail.Exception, match=r'(?s)Kafka .*"error_code": 25.*we .*"error_code": 22'
    ):
        judge(STORY, RECORD.steps, steps)


@pytest.mark.parametrize("where", [0, len(RECORD.steps) // 2, len(RECORD.steps) - 1])
def test_any_changed_missing_or_added_step_is_found(where: int) -> None:
    steps = RECORD.steps
    changed, missing, added = list(steps), list(steps), list(steps)
    changed[where] = {**steps[where], "fields": {"error_code": 99}}
    del missing[where]
    added.insert(where, {"link": "a", "silent": True})
    assert difference(steps, list(steps)) is None
    for other in (changed, missing, added):
        assert difference(steps, other) is not None
        with pytest.raises(pytest.fail.Exception):
            judge(STORY, steps, other)


def test_a_play_alone_decides_what_differs_beside_others() -> None:
    """A difference that stays is found; one that is gone is named, never forgotten."""
    right, wrong = RECORD.steps, RECORD.steps[:-1]
    again: list[str] = []
    judge_plays(STORY, lambda: (right, right), lambda: (right, wrong), again)
    assert again == []
    judge_plays(STORY, lambda: (right, wrong), lambda: (right, right), again)
    assert again == [STORY]
    with pytest.raises(pytest.fail.Exception, match="Kafka"):
        judge_plays(STORY, lambda: (right, wrong), lambda: (right, wrong), again)
    assert again == [STORY]


def test_a_record_that_no_broker_repeats_is_stale() -> None:
    right, wrong = RECORDED[STORY].steps, RECORDED[STORY].steps[:-1]
    judge_record(STORY, lambda: right, lambda: wrong)
    judge_record(STORY, lambda: wrong, lambda: right)
    with pytest.raises(pytest.fail.Exception, match="the record is stale"):
        judge_record(STORY, lambda: wrong, lambda: wrong)


def test_an_answer_that_never_comes_is_a_difference() -> None:
    """The whole scenario is cut at its time limit, and its transcript says after which step."""

    def never(call: Call) -> Verdict:
        return Drop() if isinstance(call.message, HeartbeatRequest) else None

    with Emulator() as bad:
        bad.broker.interceptors.append(never)
        steps = played(bad.bootstrap_servers, limit_s=0.4)
    assert steps[-1] == {"link": "all", "hung": f"after step {len(steps) - 1}"}
    assert not complete(steps)
    with pytest.raises(pytest.fail.Exception, match=r"we .*hung.*after step"):
        judge(STORY, RECORD.steps, steps)


@contextmanager
def listener(serve: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that does to each connection what `serve` does, on a thread each."""
    threads: list[Thread] = []

    def accept() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            threads.append(Thread(target=attend, args=(connection,)))
            threads[-1].start()

    def attend(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            serve(connection)

    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        threads.append(Thread(target=accept))
        threads[0].start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join()


def says_nothing(connection: socket.socket) -> None:
    """Takes every byte and answers none."""
    while connection.recv(1 << 16):
        pass


def drips(connection: socket.socket) -> None:
    """Announces a long answer and sends it byte by byte, for ever."""
    connection.sendall(b"\x00\x10\x00\x00")
    while True:
        time.sleep(0.02)
        connection.sendall(b"\x00")


def reads_nothing(connection: socket.socket) -> None:
    """Leaves what is sent to it in the socket's buffers."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    time.sleep(1)


def asks(s: Session) -> None:
    """One heartbeat."""
    Member(s, "a", s.name("g")).heartbeat()


def floods(s: Session) -> None:
    """More bytes than buffers hold."""
    s.connect().send_bytes(bytes(1 << 26), "64 MiB")


def waits(s: Session) -> None:
    """Lets more time pass than it has."""
    s.wait(3_600_000)


@pytest.mark.parametrize(
    ("serve", "story"),
    [(says_nothing, asks), (drips, asks), (reads_nothing, floods), (says_nothing, waits)],
)
def test_no_wait_outlasts_the_time_limit(
    serve: Callable[[socket.socket], None], story: Callable[[Session], None]
) -> None:
    with listener(serve) as address:
        steps = play(Scenario("planted.hang", story), address, TableCodec(), "nonce", limit_s=0.4)
    assert steps[-1] == {"link": "all", "hung": f"after step {len(steps) - 1}"}


def test_nobody_listening_is_a_step_not_an_exception() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    steps = play(Scenario("planted.gone", asks), address, TableCodec(), "nonce")
    assert steps[-1]["failed"].startswith("ConnectionRefusedError")
    assert not complete(steps)


def test_lonely_scenarios_are_played_when_nothing_else_is() -> None:
    """Together, at most as many as allowed; alone means alone."""
    under_way: list[str] = []
    crowd: dict[str, list[str]] = {}

    def story(label: str) -> Callable[[Session], None]:
        def tell(s: Session) -> None:
            under_way.append(label)
            crowd[label] = list(under_way)
            s.wait(20)
            under_way.remove(label)

        return tell

    scenarios = [
        Scenario(f"s{i}", story(f"s{i}"), alone=i % 3 == 0, lasts_s=i % 2) for i in range(12)
    ]
    futures = play_together(
        [Part(scenario, "127.0.0.1:1", "n") for scenario in scenarios], at_once=2
    )
    assert [future.result() for future in futures.values()] == [[]] * len(scenarios)
    assert all(crowd[s.name] == [s.name] for s in scenarios if s.alone)
    assert len(crowd) == len(scenarios)
