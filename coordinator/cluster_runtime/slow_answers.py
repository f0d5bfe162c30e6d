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
    from ..broker.call import Call, Encoded
    from ..interceptors import Interceptors
    from ..wire.schema import Message


class SlowAnswers:
    """Makes the answers of one broker late."""

    def __init__(self, interceptors: Interceptors, late_ms: int) -> None:
        self._all = interceptors
        self._late_ms = late_ms
        interceptors.insert(0, self)

    def end(self) -> None:
        """Answers are late no more, but for those that are on their way."""
        self._all.remove(self)

    def __call__(self, call: Call) -> Verdict:
        """What the others say, with its answer late."""
        asked = self._all.asked[call.message.api_key]
        return self._late(call, consult(asked[asked.index(self) + 1 :], call))

    def _late(self, call: Call, verdict: Verdict) -> Verdict:
        match verdict:
            case None:
                return Handle(call.message, self._answer)
            case Answer():
                return Hold(self._late_ms, verdict)
            case Hold(duration_ms, then):
                return Hold(duration_ms, self._late(call, then))
            case Handle(message, after):
                return Handle(message, lambda answer: self._outgoing(after(answer)))
            case _:
                return verdict

    def _answer(self, answer: Message | Encoded | None) -> Outgoing:
        assert answer is not None
        return Late(self._late_ms, answer)

    def _outgoing(self, outgoing: Outgoing) -> Outgoing:
        match outgoing:
            case Late(duration_ms, response):
                return Late(duration_ms + self._late_ms, response)
            case Drop() | Close():
                return outgoing
            case _:
                return Late(self._late_ms, outgoing)
