"""What is made of the stored logs is what was made of them when the outputs were stored (see
`tests/frozen`), and its tables say what the plain counts of `tests/recount.py` do."""

from __future__ import annotations

import pytest

from tests.frozen.outputs import OUTPUTS, Lines
from tests.frozen.store import KEPT, differences, names, stored_log
from tests.test_recount import counted, of_tables

pytestmark = pytest.mark.unmeasured

_SHOWN = 40


@pytest.fixture(scope="module")
def log(request: pytest.FixtureRequest) -> Lines:
    """A stored log, whose tables its tests share."""
    return Lines(stored_log(request.param))


@pytest.mark.parametrize("log", names(), indirect=True, scope="module")
def test_tables_say_the_plain_counts(log: Lines) -> None:
    assert of_tables(log) == counted(log.lines)


@pytest.mark.parametrize("log", names(), indirect=True, scope="module")
def test_outputs_are_as_stored(log: Lines, request: pytest.FixtureRequest) -> None:
    name = request.node.callspec.params["log"]
    found = differences(name, log)
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
