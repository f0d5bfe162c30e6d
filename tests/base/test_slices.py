"""Work in slices."""

from __future__ import annotations

import pytest

from coordinator.base.slices import Slices, after_first, whole


def steps(count: int, seen: list[int]) -> Slices[str]:
    """Work that stops so often, and notes the instants at which it goes on."""
    for _ in range(count):
        now = yield
        seen.append(now)
    return "done"


@pytest.mark.parametrize("count", [1, 2, 5])
def test_work_that_has_stopped_once_goes_on_as_if_nobody_had_looked(count: int) -> None:
    plain: list[int] = []
    assert whole(steps(count, plain), 7) == "done"
    seen: list[int] = []
    work = steps(count, seen)
    next(work)
    assert whole(after_first(work), 7) == "done"
    assert seen == plain == [7] * count
