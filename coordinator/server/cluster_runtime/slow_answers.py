"""Delay of all answers of a broker: requests are handled as they arrive, and each answer is sent
later.

It is an interceptor that runs before the others and keeps their verdicts: a fault still fails,
holds or drops the requests it selects, and an answer it gives is delayed too. The connection
waits with its request. While there is no delay it is not installed. Does not depend on sockets
or clocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..interceptors import Answer, Close, Drop, Handle, Hold, Late, Outgoing, Verdict, consult

if TYPE_CHECKING:
    from coordinator.wire.schema import Message

    from ..interceptors import Interceptors
    from ..requests.call import Call, Encoded


class SlowAnswers:
    """Interceptor that delays all answers of one broker by `late_ms`."""

    def __init__(self, interceptors: Interceptors, late_ms: int) -> None:
        self._all = interceptors
        self._late_ms = late_ms
        interceptors.insert(0, self)

    def end(self) -> None:
        """Uninstall the delay; answers that are already delayed stay so."""
        self._all.remove(self)

    def __call__(self, call: Call) -> Verdict:
        """Return the other interceptors' verdict with its answer delayed."""
        asked = self._all.asked[call.message.api_key]
        verdict = consult(asked[asked.index(self) + 1 :], call)
        late_ms = self._late_by(call)
        return _late(late_ms, call, verdict) if late_ms else verdict

    def _late_by(self, call: Call) -> int:
        """Return the delay of the answer to a request in ms."""
        return self._late_ms


class Capacity(SlowAnswers):
    """Interceptor that lets a broker handle a limited number of requests per second: requests
    queue, and their answers are delayed accordingly.
    """

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
