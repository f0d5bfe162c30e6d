"""Plays a scenario under virtual time with a learner's actions: the engine of the page, in a
browser's worker or in a server.

The same scenario, seed, settings and actions give the same log, byte for byte, on every Python.
A fork is the same script with one more action, so its log is the same up to that action.
`request` is the entry point: JSON in, JSON out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Final

from coordinator.base.version import __version__
from coordinator.events import EventLog, LogError
from coordinator.events.reader import read_lines

from ..simulator.environment import EPOCH_MS
from ..simulator.files.model import Scenario
from ..simulator.files.reading import ScenarioError
from ..simulator.files.scenario import read_scenario
from ..simulator.run import run_scenario
from .acting import ActionError, Plain, plan
from .actions import with_action
from .cluster_logs import LogsError, told
from .completing import keys
from .differing import compared
from .exports.as_file import scenario_file
from .exports.as_pytest import as_test
from .exports.copying import CopyError
from .following import Follower
from .offers import offers
from .picture import Picture
from .quiz import NothingToAskError, questions

MOST_ACTIONS: Final = 50
MOST_LOG_LINES: Final = 300_000
"""A longer log does not fit into a page; `coordinator watch` shows it."""


def play(
    text: str,
    name: str,
    seed: int,
    settings: Sequence[str] = (),
    actions: Sequence[Plain] = (),
    script: Sequence[Plain] = (),
) -> list[str]:
    """Play a scenario and return the lines of its event log. `script`: a lesson's own actions,
    before a learner's. Raises ScenarioError, ActionError."""
    scenario, done = changed(text, name, settings, actions, script)
    log = EventLog(seed=seed, epoch_ms=EPOCH_MS, kafka_version=scenario.release.number)
    run_scenario(scenario, seed, log, lambda world: plan(world, scenario, done))
    return log.lines


def changed(
    text: str,
    name: str,
    settings: Sequence[str] = (),
    actions: Sequence[Plain] = (),
    script: Sequence[Plain] = (),
) -> tuple[Scenario, Sequence[Plain]]:
    """Return the scenario as it is played, and all actions. Raises ScenarioError, ActionError."""
    scenario = read_scenario(text, name, tuple(settings))
    if len(actions) > MOST_ACTIONS:
        raise ActionError(f"{len(actions)} actions: at most {MOST_ACTIONS}")
    done = (*script, *actions)
    for action in done:
        scenario = with_action(scenario, action)
    return scenario, done


def picture_of(lines: Sequence[str], name: str = "log") -> Picture:
    """Return a picture of a log's lines of text. Raises LogError."""
    return Picture(
        read_lines((line if line.endswith("\n") else line + "\n" for line in lines), name)
    )


def run_as_test(
    seed: int,
    text: str,
    name: str,
    settings: Sequence[str] = (),
    actions: Sequence[Plain] = (),
    script: Sequence[Plain] = (),
) -> Plain:
    """Return a run as a test; see `as_test`. Raises ScenarioError, ActionError."""
    made = scenario_file(text, name, settings, actions, script)
    lines = play(text, name, seed, settings, actions, script)
    return as_test(read_scenario(made["text"], name), lines, made["left_out"])


# -- what the worker calls

_opened: dict[str, Picture] = {}
_followed: dict[str, Follower] = {}


def request(text: str) -> str:
    """Carry out one request and return the answer, both as JSON. Operations: `play` a scenario
    (with `beside`: also the differences, in sentences), `open` a log's text, `follow` a log's
    file, `read` the next slice of it, `steps` (further steps of a log opened under a name),
    `copy` (a group of it as a scenario), `quiz` (questions about it, or about one group), `logs`
    (diagnose files of another cluster), `as_file` (a run as a scenario file), `as_test` (a run
    as a pytest test), `keys` (of scenario files)."""
    asked = json.loads(text)
    try:
        done = _OPERATIONS[asked["op"]](asked)
        if isinstance(done, bytes):
            return f'{{"ok":{done.decode("ascii")}}}'
        answer: Plain = {"ok": done}
    except (ScenarioError, ActionError, CopyError, LogError, NothingToAskError, LogsError) as error:
        answer = {"error": str(error)}
    return json.dumps(answer, separators=(",", ":"))


def _play(asked: Plain) -> Plain:
    """Play a scenario; with `beside`, also return the differences from the run that it is
    compared with."""
    lines, picture = _played(asked)
    _opened[asked.get("as", "main")] = picture
    answer: Plain = {"picture": picture.plain(), "offers": offers(changed(*_run_of(asked))[0])}
    if "beside" in asked:
        _, before = _played({**asked, "settings": (), "actions": (), **asked["beside"]})
        more = [each for each in asked.get("actions", ()) if each not in asked["beside"]["actions"]]
        window = asked.get("window_ms")
        answer["changed"] = compared(
            before.plain(), answer["picture"], more, None if window is None else tuple(window)
        )
    if asked.get("log"):
        answer["log"] = "\n".join(lines) + "\n"
    return answer


Run = tuple[str, str, Sequence[str], Sequence[Plain], Sequence[Plain]]
"""Text, name, settings, actions, script."""


def _run_of(asked: Plain) -> Run:
    settings, actions, script = (asked.get(name, ()) for name in ("settings", "actions", "script"))
    return asked["scenario"], asked.get("name", "scenario"), settings, actions, script


def _played(asked: Plain) -> tuple[list[str], Picture]:
    text, name, settings, actions, script = _run_of(asked)
    lines = play(text, name, asked["seed"], settings, actions, script)
    return lines, picture_of(lines)


def _open(asked: Plain) -> Plain:
    lines = asked["text"].splitlines(keepends=True)
    if len(lines) > MOST_LOG_LINES:
        raise ActionError(
            f"this log has {len(lines)} lines, more than a page holds ({MOST_LOG_LINES}): run `coordinator watch LOG` for it"
        )
    picture = _opened[asked.get("as", "main")] = Picture(
        read_lines(lines, asked.get("name", "log"))
    )
    return {"picture": picture.plain()}


def _follow(asked: Plain) -> bytes:
    """Open a log's file and read its first slice."""
    follower = Follower(asked["path"], called=asked["name"], grows=False)
    _followed[asked.get("as", "main")] = follower
    return _seen(asked, follower)


def _read(asked: Plain) -> Plain | bytes:
    """Read the next slice. A picture is made only from time to time; otherwise the answer is the
    progress."""
    follower = _followed[asked.get("as", "main")]
    version = follower.version
    follower.poll()
    if follower.version == version:
        return {"reading": follower.reading()}
    return _seen(asked, follower)


def _seen(asked: Plain, follower: Follower) -> bytes:
    _opened[asked.get("as", "main")] = follower.picture
    return follower.plain()


def _steps(asked: Plain) -> Plain:
    return {"steps": _opened[asked.get("as", "main")].steps(asked["begin"], asked["end"])}


def _copy(asked: Plain) -> Plain:
    return _opened[asked.get("as", "main")].fold.copier.copy(asked["group"])._asdict()


def _as_file(asked: Plain) -> Plain:
    return scenario_file(*_run_of(asked))


def _as_test(asked: Plain) -> Plain:
    return run_as_test(asked["seed"], *_run_of(asked))


def _quiz(asked: Plain) -> Plain:
    return {"questions": questions(_opened[asked.get("as", "main")].fold, asked.get("group"))}


def _logs(asked: Plain) -> Plain:
    return told(asked["files"])


_OPERATIONS: Final[dict[str, Callable[[Plain], Plain | bytes]]] = {
    "play": _play,
    "open": _open,
    "follow": _follow,
    "read": _read,
    "steps": _steps,
    "copy": _copy,
    "quiz": _quiz,
    "logs": _logs,
    "as_file": _as_file,
    "as_test": _as_test,
    "keys": lambda asked: keys(),
    "version": lambda asked: {"version": __version__},
}
