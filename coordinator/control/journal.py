"""The journal: requests of clients and their answers as typed records, to be looked at and asserted on.

    journal = kafka.journal()
    ...
    journal.verify("OffsetCommit", group="billing", at_most=3)

It begins when it is first asked for and keeps the latest `most` requests. Once it had to let one go it does not judge any more: what was
not looked at is not all right. Which requests are meant is said in the words of faults (`faults.Selector`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from ..broker.call import Call, Encoded
from ..errors import ErrorCode
from ..wire.messages import API_KEYS, response_type
from .faults import FaultError, Selector
from .matching import selects
from .own_requests import ControlError
from .running import Runner
from .surroundings import BrokerSurroundings

if TYPE_CHECKING:
    from ..broker.core import Broker
    from ..wire.schema import Message, Request

MOST = 10_000
_SHOWN = 5
_NEIGHBOURS = 2


class Exchange:
    """One request of a client, and its answer as it left: None while there is none, and for one that was lost or cut off."""

    __slots__ = ("_answer", "_call", "answered_ms", "broker", "number")

    def __init__(self, number: int, broker: int, call: Call) -> None:
        self.number = number
        self.broker = broker
        self.answered_ms: int | None = None
        self._call = call
        self._answer: Message | Encoded | None = None

    @property
    def api(self) -> str:
        """Kafka's name of the API."""
        return API_KEYS[self._call.message.api_key]

    @property
    def version(self) -> int:
        """The version of the API."""
        return self._call.version

    @property
    def client_id(self) -> str:
        """Who asked."""
        return self._call.client_id

    @property
    def at_ms(self) -> int:
        """When it came, since the emulator's zero."""
        return self._call.now

    @property
    def request(self) -> Request:
        """The request. Not to be changed."""
        return self._call.message

    @property
    def answer(self) -> Message | None:
        """The answer. Not to be changed."""
        if isinstance(self._answer, Encoded):
            self._answer = response_type(self._call.message.api_key).decode(self._call.version, self._answer.body)
        return self._answer

    @property
    def error(self) -> str | None:
        """Kafka's name of the error of the whole answer, if it has one."""
        code = getattr(self.answer, "error_code", 0)
        return ErrorCode(code).name if code else None

    def __str__(self) -> str:
        said = f"{self.number}: at {self.at_ms} ms {self.client_id or 'a client without id'} sent {self.request}"
        if self._answer is None:
            return f"{said}, not answered"
        return f"{said}, answered {self.error or 'without error'} after {(self.answered_ms or 0) - self.at_ms} ms"


class _Onlooker:
    """An interceptor of one broker that has no verdict."""

    def __init__(self, records: Records, broker: Broker) -> None:
        self.broker = broker
        self.around = BrokerSurroundings(broker)
        self._records = records
        self._open: dict[int, Exchange] = {}

    def __call__(self, call: Call) -> None:
        if len(self._open) > self._records.most:
            self._open.clear()
        self._open[call.token] = self._records.add(self.broker.node_id, call)

    def saw_answer(self, call: Call, response: Message | Encoded, now: int) -> None:
        """The answer of a request is about to leave."""
        exchange = self._open.pop(call.token, None)
        if exchange is not None:
            exchange._answer, exchange.answered_ms = response, now


class Records:
    """The latest requests of an emulator, of all brokers. Called between two requests."""

    def __init__(self, brokers: Callable[[], list[Broker]], most: int) -> None:
        if type(most) is not int or most < 1:
            raise ControlError(f"most: {most!r}; a whole number from 1 on")
        self.most = most
        self.dropped = 0
        self.kept: deque[Exchange] = deque(maxlen=most)
        self._count = 0
        self._brokers = brokers
        self._onlookers = [_Onlooker(self, broker) for broker in brokers()]
        for onlooker in self._onlookers:
            onlooker.broker.interceptors.insert(0, onlooker)

    def add(self, broker: int, call: Call) -> Exchange:
        """A request came."""
        self.dropped += len(self.kept) == self.most
        self._count += 1
        exchange = Exchange(self._count, broker, call)
        self.kept.append(exchange)
        return exchange

    def chosen(self, selector: Selector) -> list[Exchange]:
        """Those that a selector means."""
        around = {onlooker.broker.node_id: onlooker.around for onlooker in self._onlookers}
        return [
            each for each in self.kept
            if selects(selector, each.api, each._call, each.broker, around[each.broker]) is not None
        ]  # fmt: skip

    def unseen(self) -> str:
        """Why it cannot judge; "" if it can."""
        if self.dropped:
            return f"{self.dropped} requests were let go, as only {self.most} are kept: journal(most=...) keeps more"
        watched = [onlooker.broker for onlooker in self._onlookers]
        anew = [str(broker.node_id) for broker in self._brokers() if not any(broker is each for each in watched)]
        return f"broker {', '.join(anew)} was started anew, and was not watched since" if anew else ""

    def clear(self) -> None:
        """Forget what was."""
        self.kept.clear()
        self.dropped = 0


class Journal:
    """The journal in the hands of a test. `which`: the words of `faults.Selector` but for `phase`, which was not looked at."""

    def __init__(self, records: Records, run: Runner) -> None:
        self._records = records
        self._run = run

    @property
    def most(self) -> int:
        """How many requests it keeps, the latest."""
        return self._records.most

    @property
    def dropped(self) -> int:
        """How many requests it had to let go."""
        return self._records.dropped

    def requests(self, api: str | None = None, /, **which: Any) -> list[Exchange]:
        """Requests that came, in their order."""
        selector = _selector(api, which)
        return self._run(lambda: self._records.chosen(selector))

    def clear(self) -> None:
        """Forget what was."""
        self._run(self._records.clear)

    def verify(
        self, api: str | None = None, /, *, exactly: int | None = None, at_least: int | None = None, at_most: int | None = None,
        **which: Any,
    ) -> list[Exchange]:
        """So many of these requests came; returns them. Raises AssertionError: the offending ones and those around, or the near misses.

        It raises one, too, if the journal overflowed, or a broker was not watched: that is not judged.
        """
        if exactly is None and at_least is None and at_most is None:
            raise ControlError("verify what? Give exactly, at_least or at_most")
        selector = _selector(api, which)
        wanted = " and ".join(
            f"{word} {count}" for word, count in (("exactly", exactly), ("at least", at_least), ("at most", at_most)) if count is not None)

        def judged() -> list[Exchange]:
            unseen = self._records.unseen()
            if unseen:
                raise AssertionError(f"{selector}: {wanted}: not judged: {unseen}")
            found = self._records.chosen(selector)
            count = len(found)
            most = min(limit for limit in (exactly, at_most, count) if limit is not None)
            if count > most:
                raise AssertionError(f"{selector}: {count} came, not {wanted}{self._around(found[most])}")
            if count < max(limit for limit in (exactly, at_least, 0) if limit is not None):
                raise AssertionError(f"{selector}: {count} came, not {wanted}{self._near(selector)}")
            return found

        return self._run(judged)

    def _around(self, offending: Exchange) -> str:
        kept = list(self._records.kept)
        at = kept.index(offending)
        near = kept[max(at - _NEIGHBOURS, 0) : at + _NEIGHBOURS + 1]
        return "".join(f"\n {'>' if each is offending else ' '} {each}" for each in near)

    def _near(self, selector: Selector) -> str:
        """Requests that lack one word of what was asked."""
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
            raise FaultError(f"{name!r} is no word of the journal: there are {', '.join(known)}")
    return Selector(api=api, **which)


def words_of(api: str | None, which: dict[str, Any]) -> dict[str, Any]:
    """The words that are given, checked, as plain values: for a journal elsewhere. Raises FaultError."""
    selector = _selector(api, which)
    given = {entry.name: getattr(selector, entry.name) for entry in fields(selector)}
    return {name: value for name, value in given.items() if value is not None}
