"""What is made of the stored logs is what was made of them when the outputs were stored (see
`tests/frozen`)."""

from __future__ import annotations

import pytest

from tests.frozen.outputs import OUTPUTS, Lines
from tests.frozen.store import KEPT, differences, names, stored_log

pytestmark = pytest.mark.unmeasured

_SHOWN = 40


@pytest.mark.parametrize("name", names())
def test_outputs_are_as_stored(name: str) -> None:
    found = differences(name, Lines(stored_log(name)))
    told = [
        row
        for output, rows in found.items()
        for row in (
            f"{output} of {name} differs; if that is meant: python -m tests.frozen {name}",
            *rows[:_SHOWN],
        )
    ]
    assert not found, "\n".join(told)


def test_nothing_is_stored_that_nobody_compares() -> None:
    there = {(path.parent.name, path.stem) for path in KEPT.glob("*/*.xz")}
    assert there == {(output, name) for output in OUTPUTS for name in names()}
