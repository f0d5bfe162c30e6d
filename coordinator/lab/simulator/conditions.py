"""States that a scenario can wait for: the lag of a group, its number of members, a member that is
not ready, or whose application does not poll.

Has the words and their meaning. A state is checked once a second; a member is ready while it has
its part of an assignment. Events of the log that a scenario can wait for are in `triggers.py`.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final, NamedTuple

LOOK_MS: Final = 1000
"""Interval at which states are checked, in ms."""
MOST: Final = 100_000_000_000
_UNIT_MS: Final = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}


class Kind(Enum):
    """The value that a condition checks."""

    LAG_ABOVE = "lag above"
    LAG_BELOW = "lag below"
    MEMBERS_ABOVE = "members above"
    MEMBERS_BELOW = "members below"
    NOT_READY = "not ready for"
    NOT_POLLING = "not polling for"

    __hash__ = object.__hash__


OF_MEMBERS: Final = frozenset({Kind.NOT_READY, Kind.NOT_POLLING})
"""States of single members, which last for some time; the others are states of a group."""
OF_LAG: Final = frozenset({Kind.LAG_ABOVE, Kind.LAG_BELOW})
PATTERN: Final = (
    r"(lag|members) (above|below) [0-9]{1,12}|not (ready|polling) for [0-9]{1,9}(ms|s|m|h)"
)
EXAMPLES: Final = "'lag above 1000', 'members below 3', 'not ready for 30s', 'not polling for 30s'"
_WORDS: Final = re.compile(r"(.+) ([0-9]+)(ms|s|m|h)?")


class Condition(NamedTuple):
    """A state. `amount`: records, members or milliseconds."""

    kind: Kind
    amount: int


def condition(when: str) -> Condition | None:
    """Return the state that the words of `when` mean, or None if they mean an event."""
    if re.fullmatch(PATTERN, when) is None:
        return None
    found = _WORDS.fullmatch(when)
    assert found is not None
    return Condition(Kind(found[1]), int(found[2]) * _UNIT_MS.get(found[3] or "ms", 1))
