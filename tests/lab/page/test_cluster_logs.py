"""What the page is given of logs of somebody else's cluster."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coordinator.lab.page.cluster_logs import MOST_CHARACTERS, LogsError, told
from coordinator.lab.page.engine import request

STORY = Path(__file__).parents[2] / "clusters" / "stories" / "join-leave-expire-scala"


def files() -> list[dict[str, str]]:
    return [{"name": path.name, "text": path.read_text()} for path in sorted(STORY.glob("*.log"))]


def test_the_frame_has_its_lines_and_sentences() -> None:
    answer = told(files())
    group = answer["frame"]["groups"]["orders"]
    assert [one["cause"] for one in group["rebalances"]][-1] == "expired"
    assert answer["causes"]["orders"][-1] == "the session of orders-3 ended without a heartbeat"
    quotes = {(file, line): text for file, line, text in answer["quotes"]}
    for one in group["rebalances"]:
        for evidence in one["evidence"]:
            assert quotes[evidence["file"], evidence["line"]]


def test_the_engine_answers_with_a_sentence_where_nothing_is_understood() -> None:
    asked = {"op": "logs", "files": [{"name": "x", "text": "GET / 200\n"}]}
    assert "Nothing in this is understood" in json.loads(request(json.dumps(asked)))["error"]
    with pytest.raises(LogsError, match="coordinator diagnose"):
        told([{"name": "x", "text": "x" * (MOST_CHARACTERS + 1)}])
