"""Files that extend others, parameters, and triggers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from coordinator.cli import main
from coordinator.events import EventLog
from coordinator.lab.simulator.files.composing import merged, with_parameters
from coordinator.lab.simulator.files.reading import ScenarioError
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario

BASE = """
duration = "2m"
[parameters]
count = 2
topic = "t"
[topics]
t = 4
[[members]]
name = "app"
count = "$count"
topics = "$topic"
config = { "client.rack" = "${topic}-rack", "session.timeout.ms" = 10000 }
"""


def lines_of(text: str, *settings: str) -> list[dict[str, Any]]:
    log = EventLog(seed=1)
    run_scenario(read_scenario(text, "s.toml", settings), 1, log)
    return list(log.events())


def test_tables_merge_by_key_and_members_by_name() -> None:
    base = {
        "topics": {"t": 1, "u": 2},
        "members": [{"name": "a", "count": 1, "config": {"x": 1}}],
        "churn": [{"kind": "scale"}],
    }
    own = {
        "topics": {"t": 3},
        "members": [{"name": "b"}, {"name": "a", "config": {"y": 2}}],
        "churn": [{"kind": "stall"}],
    }
    assert merged(base, own) == {
        "topics": {"t": 3, "u": 2},
        "members": [{"name": "a", "count": 1, "config": {"x": 1, "y": 2}}, {"name": "b"}],
        "churn": [{"kind": "scale"}, {"kind": "stall"}],
    }
    assert base["topics"] == {"t": 1, "u": 2}


def test_parameters_stand_for_values_and_within_texts() -> None:
    raw = {"parameters": {"n": 3, "t": "x"}, "a": ["$n", "${n}${t}", "$5"], "b": {"c": "$t"}}
    assert with_parameters({**raw, "a": raw["a"][:2]}) == {
        "parameters": {"n": 3, "t": "x"},
        "a": [3, "3x"],
        "b": {"c": "x"},
    }


def test_a_parameter_is_set_from_outside() -> None:
    scenario = read_scenario(BASE, "s.toml", ("parameters.count=5",))
    assert scenario.members[0].count == 5
    assert scenario.members[0].config("app-1").rack == "t-rack"


@pytest.mark.parametrize(
    ("text", "settings", "right"),
    [
        (
            BASE.replace("$count", "$cuont"),
            (),
            "$cuont: there is no such parameter: did you mean count?",
        ),
        (BASE, ("parameters.size=1",), "there is no such parameter; [parameters] has count, topic"),
        ('extends = "poisson_chrun"', (), "did you mean poisson_churn?"),
        ("extends = 3", (), "line 1: extends = 3: give a file beside this one"),
        (
            BASE + '[[faults]]\nverb = "PauseMember"\nmember = "app-1"\nseen = 2\nof = "app"\n',
            (),
            "need when",
        ),
        (
            BASE + '[[faults]]\nverb = "PauseMember"\nmember = "app-1"\nwhen = "comit"\n',
            (),
            "one of join phase",
        ),
        (
            BASE + '[[faults]]\nverb = "PauseMember"\nmember = "app-1"\nwhen = "join"\nat = "3s"\n',
            (),
            "either at or when",
        ),
        (
            BASE
            + '[[faults]]\nverb = "PauseMember"\nmember = "app-1"\nrepeats = 2\nlasts = "70s"\n',
            (),
            "needs a lasts shorter than every",
        ),
        (
            BASE + '[[churn]]\nkind = "waves"\nmembers = "app"\nlow = 3\nto = 3\n',
            (),
            "is to be below to",
        ),
        (
            BASE + '[[churn]]\nkind = "rolling"\nmembers = "app"\nbecomes = "ap"\n',
            (),
            "becomes = 'ap': one of app",
        ),
        (BASE.replace("config", 'commit = "batch"\nconfig'), (), "needs consumes = true"),
        (BASE + '[[producers]]\nname = "p"\ntopics = "u"\n', (), "which [topics] does not name"),
        (BASE + '[[producers]]\nname = "app"\ntopics = "t"\n', (), "the same name"),
    ],
)
def test_the_error_says_what_would_be_right(
    text: str, settings: tuple[str, ...], right: str
) -> None:
    with pytest.raises(ScenarioError) as error:
        read_scenario(text, "s.toml", settings)
    assert right in str(error.value)


def test_a_file_extends_another_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "base.toml").write_text(BASE + "# more\n")
    (tmp_path / "own.toml").write_text('extends = "base.toml"\n[parameters]\ncount = 3\n')
    assert main(["simulate", str(tmp_path / "own.toml")]) == 0
    assert "3 members at the end" in capsys.readouterr().out
    (tmp_path / "bad.toml").write_text(
        'extends = "base.toml"\n[[members]]\nname = "app"\nassinor = "range"\n'
    )
    assert main(["simulate", str(tmp_path / "bad.toml")]) == 2
    assert "bad.toml, line 4: assinor is no key" in capsys.readouterr().err
    (tmp_path / "loop.toml").write_text('extends = "loop.toml"\n')
    assert main(["simulate", str(tmp_path / "loop.toml")]) == 2
    assert "circle" in capsys.readouterr().err
    (tmp_path / "gone.toml").write_text('extends = "nowhere.toml"\n')
    assert main(["simulate", str(tmp_path / "gone.toml")]) == 2
    assert "nowhere.toml'" in capsys.readouterr().err


def test_a_wrong_line_of_the_base_is_named_as_the_bases(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "base.toml").write_text('duration = "2m"\nlesson = 3\n')
    (tmp_path / "own.toml").write_text('extends = "base.toml"\n[topics]\nt = 1\n')
    assert main(["simulate", str(tmp_path / "own.toml")]) == 2
    assert "base.toml, line 2: lesson = 3" in capsys.readouterr().err


def test_churn_waits_for_what_it_is_triggered_by() -> None:
    text = (
        BASE
        + '[[churn]]\nkind = "restart"\nmembers = "app-2"\nwhen = "commit"\nof = "app-1"\nseen = 3\nlater = "2s"\nhow = "crash"\n'
    )
    lines = lines_of(text)
    commits = [
        line
        for line in lines
        if line["type"] == "OffsetsCommitted" and line["member"].startswith("app-1-")
    ]
    [crash] = [line for line in lines if line["type"] == "MemberCrashed"]
    assert crash["at_ms"] == commits[2]["at_ms"] + 2000


def test_a_fault_that_comes_again_lasts_at_least_its_shortest() -> None:
    text = (
        BASE
        + '[[faults]]\nverb = "PauseMember"\nmember = "app-1"\nat = "10s"\nevery = "20s"\nrepeats = 4\nlasts = ["3s", "8s"]\n'
    )
    lines = lines_of(text)
    begun = [line["at_ms"] for line in lines if line["type"] == "PauseMember"]
    ended = [line["at_ms"] for line in lines if line["type"] == "MemberResumed"]
    assert begun == [10_000, 30_000, 50_000, 70_000]
    lasted = [end - begin for begin, end in zip(begun, ended, strict=True)]
    assert all(3_000 <= each <= 8_000 for each in lasted)
    assert len(set(lasted)) > 1
