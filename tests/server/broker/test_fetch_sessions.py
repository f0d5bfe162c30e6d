"""Fetch sessions (KIP-227), answer by answer as a 4.4.0 broker gave them; eviction with a small
cache."""

from __future__ import annotations

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.server.fetching.sessions import EVICTION_MS
from coordinator.wire.messages.fetch import FetchPartition, FetchResponse
from coordinator.wire.messages.topics import DeleteTopicsRequest
from tests.server.broker.data import DataDriver, fetch_request, sizes, wanted


@pytest.fixture
def driver() -> DataDriver:
    driver = DataDriver()
    for index in (0, 0, 0, 1, 2):
        driver.produce(index=index)
    return driver


class Session:
    """A consumer's session: sends what changed, with the next epoch."""

    def __init__(self, driver: DataDriver, *partitions: FetchPartition, version: int = 12) -> None:
        self.driver = driver
        self.version = version
        self.epoch = 0
        self.id = 0
        self.first = self.ask(*partitions)
        self.id = self.first.session_id

    def ask(
        self, *partitions: FetchPartition, forget: tuple[int, ...] = (), epoch: int | None = None
    ) -> FetchResponse:
        request = fetch_request(
            *partitions,
            wait=0,
            session=(self.id, self.epoch if epoch is None else epoch),
            forget=forget,
            topic_id=self.driver.t.id,
        )
        answer = self.driver.fetch(request, self.version)
        if epoch is None and not answer.error_code:
            self.epoch += 1
        return answer


@pytest.mark.parametrize("version", [7, 12, 13, 18])
def test_a_session_lives(driver: DataDriver, version: int) -> None:
    session = Session(driver, wanted(0), wanted(1), wanted(2), version=version)
    assert session.id > 0
    assert sizes(session.first) == [(0, 0, 837), (1, 0, 279), (2, 0, 279)]
    again = session.ask()
    assert (again.session_id, sizes(again)) == (session.id, [(0, 0, 837), (1, 0, 279), (2, 0, 279)])
    assert sizes(session.ask(wanted(0, 6), wanted(1, 2))) == [(2, 0, 279)]
    assert sizes(session.ask(wanted(2, 2))) == []
    driver.produce(index=1)
    assert sizes(session.ask()) == [(1, 0, 279)]
    assert sizes(session.ask(wanted(1, 4))) == []
    assert sizes(session.ask(forget=(0, 2))) == []
    driver.produce(index=2)
    assert sizes(session.ask()) == []
    assert sizes(session.ask(wanted(9))) == [(9, 3, 0)]
    assert sizes(session.ask()) == [(9, 3, 0)]
    ended = session.ask(forget=(1, 9))
    assert (ended.error_code, ended.session_id, ended.responses) == (0, 0, [])
    assert session.ask().error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_new_ends_and_starts_are_told_without_records(driver: DataDriver) -> None:
    session = Session(driver, wanted(0, 6))
    assert sizes(session.ask()) == []
    driver.produce()
    assert sizes(session.ask(wanted(0, 6, max_bytes=0))) == [(0, 0, 279)]
    assert sizes(session.ask(wanted(0, 8))) == []
    driver.t.partitions[0].log.delete_records(3)
    assert sizes(session.ask()) == [(0, 0, 0)]
    assert sizes(session.ask()) == []


def test_wrong_ids_and_epochs(driver: DataDriver) -> None:
    session = Session(driver, wanted(0, 6))
    assert session.ask(epoch=4) == FetchResponse(error_code=ErrorCode.INVALID_FETCH_SESSION_EPOCH)
    session.id += 1
    assert session.ask(epoch=1) == FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    session.id -= 1
    assert session.ask().error_code == 0
    assert (
        driver.fetch(fetch_request(wanted(), session=(0, 5))).error_code
        == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    )


def test_names_and_ids_do_not_mix(driver: DataDriver) -> None:
    """KIP-516."""
    session = Session(driver, wanted(0, 6))
    session.version = 13
    assert session.ask() == FetchResponse(error_code=ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
    session.version = 12
    assert session.ask().error_code == 0


@pytest.mark.parametrize("epoch", [0, -1])
def test_a_full_fetch_ends_the_session_it_names(driver: DataDriver, epoch: int) -> None:
    session = Session(driver, wanted(0))
    answer = driver.fetch(fetch_request(wanted(0), session=(session.id, epoch)))
    assert sizes(answer) == [(0, 0, 837)]
    assert (answer.session_id != 0) == (epoch == 0)
    assert answer.session_id != session.id
    assert session.ask(epoch=1).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_a_session_that_forgets_all_answers_once_more_without_a_session(driver: DataDriver) -> None:
    session = Session(driver, wanted(0))
    last = session.ask(wanted(0), wanted(1, 1), forget=(0, 1))
    assert (last.session_id, sizes(last)) == (0, [(0, 0, 837), (1, 0, 279)])


def test_a_session_of_nothing_yet(driver: DataDriver) -> None:
    session = Session(driver)
    assert session.id > 0
    assert sizes(session.ask(wanted(0))) == [(0, 0, 837)]


def test_errors_stay_until_they_are_gone(driver: DataDriver) -> None:
    session = Session(driver, wanted(0, 8))
    assert sizes(session.first) == [(0, 1, 0)]
    assert sizes(session.ask()) == [(0, 1, 0)]
    driver.produce()
    assert sizes(session.ask()) == [(0, 0, 0)]
    assert sizes(session.ask()) == []


def test_partitions_with_records_go_to_the_end(driver: DataDriver) -> None:
    """So that none starves the others."""
    session = Session(driver, wanted(0), wanted(1), wanted(2))
    request = fetch_request(session=(session.id, 1), max_bytes=1)
    assert sizes(driver.fetch(request)) == [(0, 0, 279)]
    request.session_epoch = 2
    assert sizes(driver.fetch(request)) == [(1, 0, 279)]
    request.session_epoch = 3
    assert sizes(driver.fetch(request)) == [(2, 0, 279)]
    request.session_epoch = 4
    assert sizes(driver.fetch(request)) == [(0, 0, 279)]


def test_partitions_unknown_at_first_stay_behind_those_unknown_later(driver: DataDriver) -> None:
    session = Session(driver, wanted(9), wanted(1), wanted(0))
    assert sizes(session.first) == [(1, 0, 279), (0, 0, 837), (9, 3, 0)]
    driver.client_.ask(DeleteTopicsRequest(topic_names=["t"], timeout_ms=1_000), 3)
    answer = driver.fetch(fetch_request(session=(session.id, 1), wait=0))
    assert sizes(answer) == [(1, 3, 0), (0, 3, 0), (9, 3, 0)]


def test_nothing_may_come_behind_a_topic_without_name_and_id(driver: DataDriver) -> None:
    """-1 for all; the session goes on, and its next epoch is due."""
    session = Session(driver, wanted(0, 6), version=17)
    nameless = fetch_request(wanted(0), session=(session.id, 1), wait=0)
    assert sizes(driver.fetch(nameless, 17)) == [(0, ErrorCode.UNKNOWN_TOPIC_ID, 0)]
    two = fetch_request(wanted(1), session=(session.id, 2), wait=0)
    failed = FetchResponse(error_code=ErrorCode.UNKNOWN_SERVER_ERROR, session_id=session.id)
    assert driver.fetch(two, 17) == failed
    forgets = fetch_request(session=(session.id, 3), wait=0, forget=(1,))
    assert sizes(driver.fetch(forgets, 17)) == [(0, ErrorCode.UNKNOWN_TOPIC_ID, 0)]


def test_a_deleted_topic_keeps_its_name_in_a_session_of_ids(driver: DataDriver) -> None:
    """Error 3, where a request without a session gets 100; recreated under the same name: 103."""
    driver.topic("other")
    topic_id = driver.broker.cluster.topics["other"].id
    answer = driver.fetch(fetch_request(wanted(), topic_id=topic_id, session=(0, 0), wait=0), 13)
    driver.client_.ask(DeleteTopicsRequest(topic_names=["other"], timeout_ms=1_000), 3)
    assert sizes(driver.fetch(fetch_request(session=(answer.session_id, 1)), 13)) == [(0, 3, 0)]
    driver.topic("other")
    assert sizes(driver.fetch(fetch_request(session=(answer.session_id, 2)), 13)) == [
        (0, ErrorCode.INCONSISTENT_TOPIC_ID, 0)
    ]


def test_an_incremental_fetch_waits_with_its_session(driver: DataDriver) -> None:
    session = Session(driver, wanted(0, 6), wanted(1, 2))
    waiting = driver.client()
    waiting.send(fetch_request(session=(session.id, 1)), 12)
    assert waiting.answers() == []
    driver.produce(index=1)
    assert sizes(driver.fetched(waiting)) == [(1, 0, 279)]


def test_a_session_that_went_on_meanwhile(driver: DataDriver) -> None:
    """Two connections with one session: the one that waited is told its epoch is over."""
    session = Session(driver, wanted(0, 6))
    waiting = driver.client()
    waiting.send(fetch_request(session=(session.id, 1)), 12)
    assert driver.fetch(fetch_request(session=(session.id, 2), wait=0)).error_code == 0
    driver.pass_time(500)
    late = driver.fetched(waiting)
    assert (late.error_code, late.session_id, late.responses) == (
        ErrorCode.INVALID_FETCH_SESSION_EPOCH,
        session.id,
        [],
    )


def test_a_full_cache_refuses_until_sessions_are_stale() -> None:
    """max.incremental.fetch.session.cache.slots: session id 0 is a refusal that every client
    understands."""
    driver = DataDriver({"max.incremental.fetch.session.cache.slots": "2"})
    first, second = Session(driver, wanted(0)), Session(driver, wanted(0), wanted(1))
    assert Session(driver, wanted(0), wanted(1), wanted(2)).id == 0
    driver.now = EVICTION_MS
    assert second.ask().error_code == 0
    assert Session(driver, wanted(0)).id == 0
    driver.now = EVICTION_MS + 1
    third = Session(driver, wanted(0))  # the first is stale
    assert third.id != 0
    assert first.ask(epoch=1).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert second.ask().error_code == 0  # from now on old enough to give way
    assert Session(driver, wanted(0), wanted(1)).id == 0
    larger = Session(driver, wanted(0), wanted(1), wanted(2))
    assert larger.id != 0
    assert second.ask(epoch=3).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert len(driver.broker.services.fetch_sessions) == 2


def test_no_slots_no_sessions() -> None:
    driver = DataDriver({"max.incremental.fetch.session.cache.slots": "0"})
    session = Session(driver, wanted(0))
    assert session.id == 0
    assert sizes(session.first) == [(0, 0, 0)]


def test_epochs_wrap() -> None:
    driver = DataDriver()
    session = Session(driver, wanted(0))
    driver.broker.services.fetch_sessions._sessions[session.id].epoch = 0x7FFFFFFF
    assert session.ask(epoch=0x7FFFFFFF).error_code == 0
    assert session.ask(epoch=1).error_code == 0


@pytest.mark.parametrize("session_id", [-268_435_455, 2_147_483_640, 0x7FFFFFFF])
@pytest.mark.parametrize("epoch", [-1, 0, 1])
def test_ids_that_belong_into_no_shard_fail_the_request(
    driver: DataDriver, session_id: int, epoch: int
) -> None:
    request = fetch_request(wanted(0), wait=0, session=(session_id, epoch), topic_id=driver.t.id)
    answer = driver.fetch(request, 12)
    assert (answer.error_code, answer.session_id, sizes(answer)) == (
        ErrorCode.UNKNOWN_SERVER_ERROR,
        session_id,
        [(0, -1, 0)],
    )
    assert driver.fetch(request, 13).responses == []
    assert sizes(driver.fetch(request, 6)) == [(0, 0, 837)], "before sessions there were none"
    inside = fetch_request(wanted(0), wait=0, session=(-268_435_454, 1))
    assert driver.fetch(inside, 12).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
