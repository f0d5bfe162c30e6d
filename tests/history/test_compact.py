"""Lines as they are kept: the same, with equal texts shared."""

from __future__ import annotations

from coordinator.event_log.reader import read_lines
from coordinator.history.compact import compact
from tests.shipped import log_text

LINES = log_text("rolling_deploy_static").splitlines(keepends=True)


def test_a_line_stays_as_it_is_and_shares_its_texts() -> None:
    seen: dict[str, str] = {}
    for line in read_lines(LINES, "log"):
        kept = compact(line)
        assert kept == line and list(kept) == list(line)
        texts = [*kept, *(value for value in kept.values() if isinstance(value, str))]
        texts += [key for row in kept.get("protocols", ()) for key in row]
        for text in texts:
            assert len(text) > 120 or seen.setdefault(text, text) is text
    assert len(seen) > 50
