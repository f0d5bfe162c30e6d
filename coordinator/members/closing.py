"""Progress of a close: commits first, then the member leaves, then it ends, no later than the
deadline.
"""

from __future__ import annotations

from . import offsets
from .faults import MemberFault
from .participant import Participant


class Closing:
    """Progress of a close. `leave`: True lets a static member leave for good too, False sends no
    leave at all (KIP-1092); None as configured.
    """

    __slots__ = ("committing", "deadline", "ended", "fault", "leave", "leaving")

    def __init__(self, deadline: int, leave: bool | None) -> None:
        self.deadline = deadline
        self.leave = leave
        self.committing = False
        self.leaving = False
        self.ended = False
        self.fault: MemberFault | None = None


def committed(m: Participant, closing: Closing, now: int) -> bool:
    """Return whether all commits are answered, the last auto-commit included."""
    if not closing.committing:
        closing.committing = True
        if (
            m.prepare_commit is not None
            # the one before a rebalance, if it is to be repeated, would come after the last one,
            # with less
        ):
            offsets.end(m, m.prepare_commit, None)
        offsets.commit_for_own_sake(m, closing.deadline, now)
    offsets.push(m, now)
    return not m.commits
