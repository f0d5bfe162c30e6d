"""Conditions of a share group as data: how many records must be in which state.

This module owns the fields and their checks. It does not wait: the caller asks again whenever
something has happened.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from coordinator.base.counting import how_many

from ..arguments import MOST
from ..views.share_records import ShareSnapshot
from .expectations import ExpectationError

_WORDS = {
    "available": "available",
    "acquired": "acquired",
    "acknowledged": "acknowledged",
    "archived": "archived",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareExpectation:
    """A condition of one share group. Fields that are None do not matter; all others must hold at
    the same instant.

    `state`: of the group. `members`, `available`, `acquired`, `acknowledged`, `archived`:
    exact numbers. `delivery_count`: a record in flight was delivered at least this often. `lag`: the
    highest lag.
    """

    state: str | None = None
    members: int | None = None
    available: int | None = None
    acquired: int | None = None
    acknowledged: int | None = None
    archived: int | None = None
    delivery_count: int | None = None
    lag: int | None = None

    def __post_init__(self) -> None:
        if self.state not in (None, "Stable", "Empty", "Dead"):
            raise ExpectationError(
                f"state: {self.state!r}; a share group is Stable, Empty, or Dead (if it does not exist)"
            )
        for entry in fields(self):
            value: object = getattr(self, entry.name)
            if entry.name == "state" or value is None:
                continue
            if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST:
                raise ExpectationError(f"{entry.name}: {value!r}; a whole number from 0 on")

    @property
    def is_empty(self) -> bool:
        """Return True if the expectation has no condition."""
        return all(getattr(self, entry.name) is None for entry in fields(self))

    def unmet(self, seen: ShareSnapshot) -> tuple[str, ...]:
        """Return what the group still lacks, as phrases."""
        missing: list[str] = []
        if self.state is not None and seen.group_state != self.state:
            missing.append(f"the state is {seen.group_state}, not {self.state}")
        if self.members is not None and seen.members != self.members:
            missing.append(
                f"it has {seen.members} member{'' if seen.members == 1 else 's'}, not {self.members}"
            )
        for name, text in _WORDS.items():
            wanted, found = getattr(self, name), getattr(seen, name)
            if wanted is not None and found != wanted:
                missing.append(f"{how_many(found, 'record', 'are')} {text}, not {wanted}")
        if self.delivery_count is not None and seen.most_deliveries < self.delivery_count:
            missing.append(
                f"no record was delivered {how_many(self.delivery_count, 'time')}: {seen.most_deliveries} is the most"
            )
        if self.lag is not None and (seen.lag > self.lag or not seen.starts):
            missing.append(
                f"it is {how_many(seen.lag, 'record')} behind"
                if seen.starts
                else "it reads no partition yet"
            )
        return tuple(missing)

    def __str__(self) -> str:
        return ", ".join(
            f"{entry.name}={getattr(self, entry.name)!r}"
            for entry in fields(self)
            if getattr(self, entry.name) is not None
        )
