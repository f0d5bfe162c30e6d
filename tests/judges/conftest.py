"""Every log that a test of this directory judges is judged by judges that are shown all lines, too:
what they look at is all they need."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from coordinator.judges import Panel, Verdict
from coordinator.judges.base import Line
from tests.judges.shown_all import shown_all


@pytest.fixture(autouse=True)
def judged_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    see: Callable[[Panel, Line], None] = Panel.see
    verdicts: Callable[..., Iterator[Verdict]] = Panel.verdicts
    twins: dict[
        int, tuple[Panel, Panel]
    ] = {}  # each beside the panel of its number, which so lives as long

    def see_both(panel: Panel, line: Line) -> None:
        if id(panel) not in twins:
            twin = Panel(
                [partial(shown_all, kind) for kind in panel._kinds],
                group=panel._group,
                streams=frozenset(panel._streams),
            )
            twins[id(panel)] = panel, twin
        see(panel, line)
        see(twins[id(panel)][1], line)

    def both_verdicts(
        panel: Panel, since: int = 0, streams: frozenset[str] = frozenset()
    ) -> list[Verdict]:
        found = list(verdicts(panel, since, streams))
        if id(panel) in twins:
            assert found == list(verdicts(twins[id(panel)][1], since, streams))
        return found

    monkeypatch.setattr(Panel, "see", see_both)
    monkeypatch.setattr(Panel, "verdicts", both_verdicts)
