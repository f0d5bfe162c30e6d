"""The journal: clients' requests and their responses as typed records, to look at and to assert on.

    journal = kafka.journal()
    ...
    journal.verify("OffsetCommit", group="billing", at_most=3)

It begins with the first call of `journal()` and keeps the latest `most` requests, as bytes until
somebody reads them. Secrets in them (passwords, keys, tokens) are left out. Once it has dropped
a request it refuses to judge, because the dropped one may be the wrong one. Requests are
selected as faults select them (`faults.Selector`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import fields, replace
from itertools import count
from typing import TYPE_CHECKING, Any

from coordinator.base.counting import how_many
from coordinator.base.errors import ErrorCode
from coordinator.base.keyword_errors import nearest_keywords
from coordinator.server.requests.call import Call
from coordinator.wire.framing import read_request_header
from coordinator.wire.messages import API_KEYS, request_type, response_type

from . import arguments
from .faults import FaultError, Selector
from .injection.broker_queries import BrokerSurroundings
from .injection.matching import selects
from .injection.selector_fields import check_carried
from .secrets import without_secrets
from .thread_calls import Runner

if TYPE_CHECKING:
    from coordinator.server.broker import Broker
    from coordinator.server.requests.call import Row
    from coordinator.wire.schema import Message, Request

MOST = 10_000
_MOST_KEPT = 100_000_000
_SHOWN = 5
_SLACK = 1_024  # answers of requests that came before those that are kept
_NEIGHBOURS = 2


class Exchange:
    """One request of a client and its response. The response is None while there is none, and if
    it was lost or cut off."""

    __slots__ = (
        "_answer",
        "_call",
        "_frame",
        "_key",
        "_read",
        "_token",
        "answered_ms",
        "at_ms",
        "broker",
        "client_id",
        "number",
        "version",
    )

    def __init__(self, number: int, broker: int, token: int, at_ms: int, frame: bytes) -> None:
        self.number = number
        self.broker = broker
        self.at_ms = at_ms
        """The instant at which the request arrived, in ms since the emulator's zero."""
        self.answered_ms: int | None = None
        self._key, self.version, _, self.client_id, _ = read_request_header(frame)
        self._token = token
        self._frame = frame
        self._call: Call | None = None
        self._answer: bytes | None = None
        self._read: Message | None = None

    @property
    def api(self) -> str:
        """Kafka's name of the API."""
        return API_KEYS[self._key]

    @property
    def _asked(self) -> Call:
        """The request as interceptors get it, without what only the broker knows (principal,
        host)."""
        if self._call is None:
            *_, at = read_request_header(self._frame)
            message = request_type(self._key).decode(self.version, self._frame, at)
            message = without_secrets(self._key, message)
            self._call = Call(
                message,
                self.version,
                self.client_id,
                "",
                self._token,
                self.at_ms,
                "",
                None,
                self.broker,
            )
        return self._call

    @property
    def request(self) -> Request:
        """The request. Do not change it."""
        return self._asked.message

    def _take_answer(self, body: bytes, now: int) -> None:
        """Note the response and the instant at which it was sent."""
        self._answer, self.answered_ms = body, now

    @property
    def answer(self) -> Message | None:
        """The response. Do not change it."""
        if self._read is None and self._answer is not None:
            read = response_type(self._key).decode(self.version, self._answer)
            self._read = without_secrets(self._key, read)
        return self._read

    @property
    def error(self) -> str | None:
        """Kafka's name of the error of the whole response, or None."""
        code = getattr(self.answer, "error_code", 0)
        return ErrorCode(code).name if code else None

    def __str__(self) -> str:
        said = f"{self.number}: at {self.at_ms} ms {self.client_id or 'a client without id'} sent {self.request}"
        if self._answer is None:
            return f"{said}, not answered"
        return f"{said}, answered {self.error or 'without error'} after {(self.answered_ms or 0) - self.at_ms} ms"


class Records:
    """The latest requests to all brokers of an emulator. Called between two requests.

    Until a test looks, a request is bytes on a broker's tape; a look turns them into exchanges.
    Tokens number the requests of all brokers from the beginning of the journal, so the number of
    requests that were dropped before the first look is known, too.
    """

    def __init__(self, brokers: Callable[[], list[Broker]], most: int) -> None:
        if type(most) is not int or not 1 <= most <= _MOST_KEPT:
            raise arguments.ArgumentError(
                f"most: {most!r}; a whole number from 1 on, at most {_MOST_KEPT}"
            )
        self.most = most
        self._kept: deque[Exchange] = deque(maxlen=most)
        self._open: dict[int, Exchange] = {}
        self._count = 0
        self._cleared = 0
        self._rows: deque[Row] = deque(maxlen=2 * most + _SLACK)
        self._brokers = brokers
        self._watched = [(broker, BrokerSurroundings(broker)) for broker in brokers()]
        self._before = max((broker.next_token() for broker, _ in self._watched), default=0)
        tokens = count(self._before + 1).__next__
        for broker, _ in self._watched:
            broker.next_token = tokens
            broker.tape = self._rows.append

    @property
    def kept(self) -> deque[Exchange]:
        """The latest requests, oldest first."""
        rows, waiting = self._rows, self._open
        while rows:
            row = rows.popleft()
            if len(row) == 4:
                token, broker, at_ms, frame = row
                self._count = token - self._before
                exchange = waiting[token] = Exchange(self._count, broker, token, at_ms, frame)
                self._kept.append(exchange)
            elif (answered := waiting.pop(row[0], None)) is not None:
                answered._take_answer(row[2], row[1])
        first = self._kept[0].number if self._kept else self._count + 1
        self._open = {
            key: exchange for key, exchange in waiting.items() if exchange.number >= first
        }
        return self._kept

    @property
    def dropped(self) -> int:
        """The number of requests that were dropped."""
        kept = self.kept
        return self._count - self._cleared - len(kept)

    def chosen(self, selector: Selector) -> list[Exchange]:
        """Return the exchanges that a selector selects."""
        around = {broker.node_id: each for broker, each in self._watched}
        return [
            each
            for each in self.kept
            if selector.api in (None, each.api)
            and selects(selector, each.api, each._asked, each.broker, around[each.broker])
            is not None
        ]

    def unseen(self) -> str:
        """Return the reason why the journal cannot judge, or "" if it can."""
        if self.dropped:
            return f"{how_many(self.dropped, 'request', 'were')} dropped, as only {self.most} are kept: journal(most=...) keeps more"
        anew = [
            str(broker.node_id)
            for broker in self._brokers()
            if not any(broker is each for each, _ in self._watched)
        ]
        return (
            f"broker {', '.join(anew)} was started again, and has not been watched since"
            if anew
            else ""
        )

    def clear(self) -> None:
        """Forget all requests so far."""
        self.kept.clear()
        self._open.clear()
        self._cleared = self._count


@nearest_keywords
class Journal:
    """The journal as a test holds it. `which`: the fields of `faults.Selector` except `phase`,
    which is not recorded."""

    def __init__(self, records: Records, run: Runner) -> None:
        self._records = records
        self._run = run

    @property
    def most(self) -> int:
        """The number of requests that the journal keeps, the latest ones."""
        return self._records.most

    @property
    def dropped(self) -> int:
        """The number of requests that the journal dropped, because it keeps only `most`."""
        return self._records.dropped

    def requests(self, api: str | None = None, /, **which: Any) -> list[Exchange]:
        """Return the selected requests, in the order of arrival."""
        selector = _selector(api, which)
        return self._run(lambda: self._records.chosen(selector))

    def clear(self) -> None:
        """Forget all requests so far."""
        self._run(self._records.clear)

    def verify(
        self,
        api: str | None = None,
        /,
        *,
        exactly: int | None = None,
        at_least: int | None = None,
        at_most: int | None = None,
        **which: Any,
    ) -> list[Exchange]:
        """Assert the number of selected requests; return them. Raises AssertionError, which
        shows the requests that contradict it, or the near misses. It also raises if the journal
        overflowed, or if a broker was not watched, because then it cannot judge."""
        if exactly is None and at_least is None and at_most is None:
            raise arguments.ArgumentError("verify what? Give exactly, at_least or at_most")
        for word, limit in (("exactly", exactly), ("at_least", at_least), ("at_most", at_most)):
            if limit is not None:
                arguments.counted(word, limit)
        if at_least is not None and at_most is not None and at_least > at_most:
            raise arguments.ArgumentError(
                f"at_least={at_least} and at_most={at_most}: no number satisfies both"
            )
        selector = _selector(api, which)
        wanted = " and ".join(
            f"{word} {limit}"
            for word, limit in (("exactly", exactly), ("at least", at_least), ("at most", at_most))
            if limit is not None
        )

        def judged() -> list[Exchange]:
            unseen = self._records.unseen()
            if unseen:
                raise AssertionError(f"{selector}: {wanted}: not judged: {unseen}")
            found = self._records.chosen(selector)
            came = len(found)
            most = min(limit for limit in (exactly, at_most, came) if limit is not None)
            if came > most:
                raise AssertionError(
                    f"{selector}: {came} came, not {wanted}{self._around(found[most])}"
                )
            if came < max(limit for limit in (exactly, at_least, 0) if limit is not None):
                raise AssertionError(f"{selector}: {came} came, not {wanted}{self._near(selector)}")
            return found

        return self._run(judged)

    def _around(self, offending: Exchange) -> str:
        kept = list(self._records.kept)
        at = kept.index(offending)
        near = kept[max(at - _NEIGHBOURS, 0) : at + _NEIGHBOURS + 1]
        return "".join(f"\n {'>' if each is offending else ' '} {each}" for each in near)

    def _near(self, selector: Selector) -> str:
        """Return requests that fit all fields of the selector but one, as text for a failed
        assertion."""
        rows = []
        for entry in fields(selector):
            value = getattr(selector, entry.name)
            if value is not None and (entry.name != "topic" or selector.partition is None):
                found = self._records.chosen(replace(selector, **{entry.name: None}))
                rows += [f"\n  not with {entry.name} {value}: {each}" for each in found[-_SHOWN:]]
        if rows:
            return "\nNearly:" + "".join(rows[:_SHOWN])
        apis = ", ".join(dict.fromkeys(each.api for each in self._records.kept)) or "nothing"
        return f"\nWhat came: {apis}"


def _selector(api: str | None, which: dict[str, Any]) -> Selector:
    known = [entry.name for entry in fields(Selector) if entry.name not in ("api", "phase")]
    for name in which:
        if name not in known:
            raise FaultError(f"{name!r} is no field of the journal: there are {', '.join(known)}")
    selector = Selector(api=api, **which)
    check_carried(selector)
    return selector


def words_of(api: str | None, which: dict[str, Any]) -> dict[str, Any]:
    """Return the given fields, checked, as plain values for a remote journal. Raises FaultError."""
    selector = _selector(api, which)
    given = {entry.name: getattr(selector, entry.name) for entry in fields(selector)}
    return {name: value for name, value in given.items() if value is not None}
