"""What the command line says of options it does not know, and of its commands."""

from __future__ import annotations

import pytest

from coordinator.cli import COMMANDS, main


@pytest.mark.parametrize(
    ("argv", "usage"),
    [
        (["serve", "--nope"], "usage: coordinator serve "),
        (["demo", "--nope"], "usage: coordinator demo "),
        (["explain", "run.jsonl", "--nope"], "usage: coordinator explain "),
        (["health", "--nope"], "usage: coordinator health "),
        (["wire", "decode", "--nope"], "usage: coordinator wire decode "),
        (["peers", "--bootstrap", "h:1", "--group", "g", "--nope"], "usage: coordinator peers "),
        (["--nope"], "usage: coordinator "),
    ],
)
def test_an_unknown_option_shows_the_usage_of_its_command(
    argv: list[str], usage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(argv)
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert told.startswith(usage)
    assert "unrecognized arguments: --nope" in told


@pytest.mark.parametrize("command", COMMANDS)
def test_help_says_what_a_command_does(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    described = capsys.readouterr().out.split("\n\n")[1]
    verbs = {
        "Ask",
        "Decode",
        "Find",
        "Follow",
        "Look",
        "Make",
        "Move",
        "Put",
        "Run",
        "Tell",
        "Turn",
        "Does",
    }
    assert described[0].isupper() and described.split()[0] in verbs


def test_help_of_serve_groups_options_by_what_they_are_about(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    sections = capsys.readouterr().out.split("\n\n")
    (security,) = [section for section in sections if section.startswith("security:")]
    assert "--acl SENTENCE" in security
    assert "--topic" not in security
    (rest,) = [section for section in sections if section.startswith("options:")]
    assert "--help" in rest
    assert rest.count("  --") == 0


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("ctl group wait billing --members two", "argument --members: 'two': give a whole number"),
        ("ctl advance soon", "argument seconds: 'soon': give a number"),
    ],
)
def test_what_is_no_number_is_told_what_would_be_right(
    capsys: pytest.CaptureFixture[str], command: str, told: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(command.split())
    assert ended.value.code == 2
    assert told in capsys.readouterr().err
