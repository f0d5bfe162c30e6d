"""A broker all of whose answers are late: requests are handled as they come, and each answer leaves
so much later.

It is one interceptor, asked before the others, whose verdicts it keeps: a fault still fails, holds
or drops what it selects, and what is answered then is late, too. A connection waits with its
request. While no answer is to be late it is not installed, and requests pay nothing for it. Does not
depend on sockets and clocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..interceptors import Answer, Close, Drop, Handle, Hold, Late, Outgoing, Verdict, consult

if TYPE_CHECKING:
    from coordinator.wire.schema import Message

    from ..interceptors import Interceptors
    from ..requests.call import Call, Encoded


class SlowAnswers:
    """Makes the answers of one broker late, all by the same time."""

    def __init__(self, interceptors: Interceptors, late_ms: int) -> None:
        self._all = interceptors
        self._late_ms = late_ms
        interceptors.insert(0, self)

    def end(self) -> None:
        """Answers are late no more, but for those that are on their way."""
        self._all.remove(self)

    def __call__(self, call: Call) -> Verdict:
        """The others' outcome, with its answer late."""
        asked = self._all.asked[call.message.api_key]
        verdict = consult(asked[asked.index(self) + 1 :], call)
        late_ms = self._late_by(call)
        return _late(late_ms, call, verdict) if late_ms else verdict

    def _late_by(self, call: Call) -> int:
        """By how much the answer to a request is late."""
        return self._late_ms


class Capacity(SlowAnswers):
    """One broker that handles so many requests a second: each waits in line for those before it, so
    that its answer is as late."""

    def __init__(self, interceptors: Interceptors, requests_per_second: int) -> None:
        super().__init__(interceptors, 0)
        self._takes_us = 1_000_000 // requests_per_second
        self._free_at_us = 0

    def _late_by(self, call: Call) -> int:
        now_us = call.now * 1000
        self._free_at_us = max(self._free_at_us, now_us) + self._takes_us
        return (self._free_at_us - now_us) // 1000


def _late(late_ms: int, call: Call, verdict: Verdict) -> Verdict:
    match verdict:
        case None:
            return Handle(call.message, lambda answer: _answer(late_ms, answer))
        case Answer():
            return Hold(late_ms, verdict)
        case Hold(duration_ms, then):
            return Hold(duration_ms, _late(late_ms, call, then))
        case Handle(_, after):
            return verdict._replace(after=lambda answer: _outgoing(late_ms, after(answer)))
        case _:
            return verdict


def _answer(late_ms: int, answer: Message | Encoded | None) -> Outgoing:
    assert answer is not None
    return Late(late_ms, answer)


def _outgoing(late_ms: int, outgoing: Outgoing) -> Outgoing:
    match outgoing:
        case Late(duration_ms, response):
            return Late(duration_ms + late_ms, response)
        case Drop() | Close():
            return outgoing
        case _:
            return Late(late_ms, outgoing)
