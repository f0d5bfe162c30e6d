"""Logs that somebody made up or damaged: reading, replaying and explaining them gives LogError or
output, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator.base.printable import printable, shortened
from coordinator.cli import main
from coordinator.core.groups.config import GroupConfig
from coordinator.core.transactions.config import TransactionConfig
from coordinator.events import LogError
from coordinator.events.reader import read_lines
from coordinator.history.explain.output import as_plain, as_text, timeline_of
from coordinator.server.replay.one_broker import replayed_groups, replayed_transactions
from tests.events.kit import a_long_story

GOLDEN = Path(__file__).parent.parent / "vectors" / "event_log" / "long_story.jsonl"
MEMBER = (
    ',"member":"m","extends_delay":false,"group_instance_id":null,"client_id":"c","client_host":"h",'
    '"session_timeout_ms":1,"rebalance_timeout_ms":1,"protocol_type":"consumer","leader":"m"%s'
)
HEADER = (
    '{"seq":0,"at_ms":0,"run":"r","stream":"run","type":"RunStarted","cause":null,"format":1}\n'
)
LINE = '{"seq":1,"at_ms":0,"run":"r","stream":"group","type":"%s","cause":null,"group":"g"%s}\n'


def explain(texts: list[str], *, details: bool = False) -> str:
    """What explain prints. Raises LogError."""
    timeline = timeline_of(read_lines(texts), details=details)
    json.dumps(as_plain(timeline, timeline.groups.values()))
    return "\n".join(as_text(timeline, timeline.groups.values()))


def replay(texts: list[str]) -> str:
    """Replay both coordinators. Raises LogError."""
    replayed_groups(read_lines(texts), GroupConfig(), 1 << 40)
    replayed_transactions(read_lines(texts), TransactionConfig(), lambda: 1)
    return ""


USES: tuple[Callable[[list[str]], str], ...] = (
    explain,
    lambda texts: explain(texts, details=True),
    replay,
)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            LINE % ("X", ',"x":' + "[" * 100_000 + "]" * 100_000),
            "line 2: not JSON (more than 32 levels of nesting)",
        ),
        (
            LINE % ("X", ',"x":' + '{"x":' * 40 + "1" + "}" * 40),
            "line 2: not JSON (more than 32 levels of nesting)",
        ),
        (LINE % ("X", ',"x":' + "9" * 5000), "line 2: not JSON (a whole number of 5000 digits"),
        (
            LINE % ("X", ',"x":18446744073709551616'),
            "line 2: not JSON (a whole number of 20 digits",
        ),
        (LINE % ("X", ',"x":1e999'), "line 2: not JSON (a number that is out of bounds)"),
        (LINE % ("X", ',"x":NaN'), "line 2: not JSON (NaN is no number)"),
        (LINE % ("X", ',"x":-Infinity'), "line 2: not JSON (-Infinity is no number)"),
        (
            (LINE % ("X", "")).replace('"at_ms":0', '"at_ms":' + "1" * 400),
            "line 2: not JSON (a whole number of 400 digits",
        ),
        (
            LINE % ("GroupCreated", ',"by":7'),
            'line 2: "by": 7 where a string should be: no GroupCreated',
        ),
        (
            LINE % ("RebalanceStarted", ',"delay_ms":"long"'),
            "line 2: \"delay_ms\": 'long' where an integer or null should be",
        ),
        (
            LINE % ("MemberJoined", MEMBER % ',"protocols":[{"name":"range","metadata":"zz"}]'),
            "line 2: seq 1: \"protocols\": 'zz' is not a string of hex digits",
        ),
        (
            (LINE % ("X", "")).replace('"X"', '"X\\u001b[2J"').replace('"seq":1', '"seq":0'),
            "line 2: seq 0 after 0",
        ),
        (
            (LINE % ("X", ',"member":{}')).replace('"X"', '"X\\u001b[2J"'),
            r"no X\x1b[2J as docs/event_log.md has it",
        ),
    ],
)
def test_a_hostile_line_is_refused_with_its_number(text: str, complaint: str) -> None:
    with pytest.raises(LogError) as refused:
        explain([HEADER, text])
    assert complaint in str(refused.value)
    assert str(refused.value).isprintable()


def test_an_event_that_does_not_follow_is_refused_with_its_line() -> None:
    lines = [HEADER, *(json.dumps(line) + "\n" for line in STORY[1:])]
    first = next(at for at, line in enumerate(STORY) if line["type"] == "MemberSynced")
    joined = [at for at, line in enumerate(STORY) if line["type"] == "MemberJoined" and at < first]
    for at in reversed(joined):
        del lines[at]
    with pytest.raises(
        LogError, match=r"line \d+: seq \d+: \w+ does not follow from the lines before it"
    ):
        replayed_groups(read_lines(lines), GroupConfig(), 1 << 40)


def test_what_is_within_bounds_is_kept() -> None:
    deep = "[" * 30 + "]" * 30
    bounds = ',"y":9223372036854775807,"z":-9223372036854775808,"w":1e99,"s":"[[[{{{{NaN"'
    (_, line) = read_lines([HEADER, LINE % ("X", f',"x":{deep}{bounds}')])
    assert (line.extra["y"], line.extra["z"], line.extra["w"]) == ((1 << 63) - 1, -(1 << 63), 1e99)


def test_the_types_of_fields_agree_with_the_events() -> None:
    """What is derived from the events' own types passes; a value of another type does not."""
    for line in a_long_story().log_file.read():
        assert line.type.holds(line.plain) or line.type.complaint(line.plain) == "", line
        for key in line.type.expected:
            if line.type.expected[key][0] is None or key not in line.plain:
                continue
            for other in ({"odd": 1}, 1.5):
                if type(other) is not line.type.expected[key][0]:
                    wrong = {**line.plain, key: other}
                    assert not line.type.holds(wrong), (line, key)
                    assert f'"{key}": ' in line.type.complaint(wrong), (line, key)


def some_text() -> st.SearchStrategy[str]:
    return st.text(st.characters(min_codepoint=0, max_codepoint=0x2FFF), max_size=12)


KEYS = st.sampled_from(["topic", "partition", "member_id"])
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 70), 1 << 70)
    | st.floats()
    | some_text()
    | st.sampled_from(["g", "00", "a-b", "5 ms"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(some_text() | KEYS, inner, max_size=3)
    ),
    max_leaves=6,
)


def _changed(draw: st.DrawFn, line: dict[str, Any]) -> dict[str, Any]:
    """A line with one of its fields, at whatever depth, changed, taken away or doubled under
    another name."""
    spots = list(_spots(line))
    holder, key = draw(st.sampled_from(spots))
    match draw(st.integers(0, 3)):
        case 0 if isinstance(holder, dict):
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[draw(st.sampled_from([*line, "x"]))] = holder[key]
        case _:
            holder[key] = draw(VALUES)
    return line


def _spots(value: Any) -> Iterator[tuple[Any, Any]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(pairs):
        yield value, key
        if isinstance(inner, dict | list):
            yield from _spots(inner)


STORY = [json.loads(text) for text in GOLDEN.read_text().splitlines()]


@st.composite
def mutated_logs(draw: st.DrawFn) -> list[str]:
    lines = [json.loads(json.dumps(line)) for line in STORY]
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        match draw(st.integers(0, 5)):
            case 0:
                del lines[at]
            case 1:
                lines[at], lines[-1] = lines[-1], lines[at]
            case _:
                lines[at] = _changed(draw, lines[at])
        if not lines:
            break
    texts = [json.dumps(line) + "\n" for line in lines]
    if draw(st.booleans()) and texts:
        at = draw(st.integers(0, len(texts) - 1))
        cut = draw(st.integers(0, len(texts[at])))
        texts[at] = texts[at][:cut] + draw(some_text()) + texts[at][cut + draw(st.integers(0, 3)) :]
    return texts


@settings(max_examples=200, deadline=None, database=None, derandomize=True)
@given(mutated_logs())
def test_a_mutated_log_gives_output_or_a_log_error(texts: list[str]) -> None:
    for use in USES:
        try:
            shown = use(texts)
        except LogError as error:
            shown = str(error)
        assert all(row.isprintable() for row in shown.split("\n"))


def test_what_a_client_may_choose_never_reaches_a_terminal_raw(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ids, names, reasons and errors of the long story with control characters in all of them."""
    poison = "\x1b[2J\x07\r\n\u202e\ud800\x9b"

    def poisoned(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: poisoned(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [poisoned(inner, key) for inner in value]
        free = key not in (
            "stream",
            "type",
            "metadata",
            "subscription",
            "assignment",
            "state",
            "product",
            "detail",
            "protocol_type",
        )
        return value[:3] + poison + value[3:] if isinstance(value, str) and free else value

    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps(poisoned(line)) + "\n" for line in STORY))
    assert main(["explain", str(path)]) == 0
    out = capsys.readouterr().out
    assert all(row.isprintable() for row in out.split("\n"))
    assert "g" + printable(poison) in out
    assert main(["explain", str(path), "--group", "x" + poison]) == 2
    assert all(row.isprintable() for row in capsys.readouterr().err.split("\n"))


def test_printable_escapes_what_a_terminal_obeys_and_nothing_else() -> None:
    assert printable("a\x1b\n\u202eü€\ud800\x9b") == r"a\x1b\n\u202eü€\ud800\x9b"
    assert printable(5) == "5"
    assert shortened("x" * 400, 10) == "x" * 10 + "..."
    assert shortened("abc\n", 10) == r"abc\n"


def test_a_long_chain_of_causes_is_walked_in_linear_time() -> None:
    """Every rebalance has the one before as its cause: the work is counted, not the time."""

    def steps(count: int) -> int:
        walked = 0

        class Counting(dict[int, Any]):
            def __getitem__(self, seq: int) -> Any:
                nonlocal walked
                walked += 1
                return super().__getitem__(seq)

        texts = [HEADER]
        for seq in range(1, count):
            line = json.loads(
                LINE
                % (
                    "RebalanceStarted",
                    ',"reason":"r","delay_ms":null,"deadline_ms":1,"delay_remaining_ms":0,"generation":1',
                )
            )
            texts.append(json.dumps(line | {"seq": seq, "cause": seq - 1}) + "\n")
        from coordinator.history.world.world import World

        world = World()
        timeline = world.timeline
        timeline.lines._lines = Counting()
        for line in read_lines(texts):
            world.see(line)
        list(as_text(timeline, timeline.groups.values()))
        as_plain(timeline, timeline.groups.values())
        return walked

    assert steps(2000) <= 3 * steps(1000)
