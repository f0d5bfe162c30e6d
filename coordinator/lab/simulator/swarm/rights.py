"""Users and rights in random scenarios: in one of four each kind of member and producer is a user,
and rights are deleted or denied while members join and leave.

The draws are separate: the rest of a scenario does not depend on them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from ..chance import Draws

_ON: Final = ("topic *", "group *", "transactional_id *", "cluster")
_DENIALS: Final = (
    "Read group *",
    "Describe group *",
    "Read topic *",
    "Describe topic *",
    "Write topic *",
    "Write transactional_id *",
    "IdempotentWrite cluster",
    "Read topic or prefixed",
    "All group app",
)
_TABLES: Final = ("[[members]]", "[[producers]]")


def added(lines: list[str], seed: int, busy_s: int) -> list[str]:
    """Add users and their rights to one scenario of four; return the lines."""
    draws = Draws(seed, "swarm", "rights")
    if draws.between(0, 3):
        return lines
    users = [
        name.removeprefix("name = ").strip('"')
        for table, name in pairwise(lines)
        if table in _TABLES
    ]
    acls = ", ".join(f'"User:{user} may All {on}"' for user in users for on in _ON)
    found: list[str] = []
    for before, line in zip(["", *lines], lines, strict=False):
        if line in _TABLES and "[security]" not in found:
            found += ["[security]", f"acls = [{acls}]"]
        found.append(line)
        if before in _TABLES:
            found.append(line.replace("name = ", "user = "))
    for _ in range(draws.between(1, 3)):
        found += _fault(draws, busy_s, draws.choice(users))
    return found


def _fault(draws: Draws, busy_s: int, user: str) -> list[str]:
    verb, acl = draws.choice(
        (
            ("RevokeAcls", f"User:{user} may All {draws.choice(_ON)}"),
            ("GrantAcls", f"User:{user} may not {draws.choice(_DENIALS)}"),
        )
    )
    return [
        "[[faults]]",
        f'verb = "{verb}"',
        f'acls = "{acl}"',
        f'at = "{draws.between(5, busy_s // 2)}s"',
        f'lasts = ["1s", "{draws.between(1, busy_s // 2)}s"]',
    ]
