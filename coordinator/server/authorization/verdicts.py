"""Verdict of authorization on a request that is refused wholly or in part, and the combination of
several checks' refusals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from coordinator.base.slices import Slices
    from coordinator.wire.schema import Message, Request

    from ..requests.call import Encoded
    from .asking import Asker

Decide = Callable[["Asker"], "Slices[Verdict | None]"]
"""The verdict on a request of some API."""
Complete = Callable[[Any], "Slices[Any]"]
"""Makes the whole answer of the handler's, in slices; it is given None where the handler was asked
nothing."""


class Verdict(NamedTuple):
    """Outcome of the checks. `message`: the request that the handler gets, or None to send `answer`
    without it. `complete`: builds the final answer from the handler's. `close`: the reason to
    close the connection afterwards, or "". `sees`: predicate of the topics that the answer
    shows, None: all.
    """

    message: Request | None
    answer: Message | Encoded | None = None
    complete: Complete | None = None
    close: str = ""
    sees: Callable[[str], bool] | None = None


def refused(answer: Message | Encoded) -> Verdict:
    """Return the verdict that sends this answer and calls no handler."""
    return Verdict(None, answer)


def in_turn(completes: Sequence[Complete], answer: Any) -> Slices[Any]:
    """Apply the completions of several checks to an answer, the last one first."""
    for complete in reversed(completes):
        answer = yield from complete(answer)
    return answer
