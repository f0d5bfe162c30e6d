"""The verdict on a request that may not, or not wholly, be done; and how refusals of several checks
are put together."""

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
    """`message`: what the handler is asked, None: nothing, and `answer` is sent. `complete`: what is
    made of the handler's answer. `close`: why the connection is closed afterwards, "": it is not.
    `sees`: of which topics the answer will tell, None: of all."""

    message: Request | None
    answer: Message | Encoded | None = None
    complete: Complete | None = None
    close: str = ""
    sees: Callable[[str], bool] | None = None


def refused(answer: Message | Encoded) -> Verdict:
    """Nothing is done."""
    return Verdict(None, answer)


def in_turn(completes: Sequence[Complete], answer: Any) -> Slices[Any]:
    """Several checks' outcome for an answer, the last one first."""
    for complete in reversed(completes):
        answer = yield from complete(answer)
    return answer
