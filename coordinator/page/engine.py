"""Playing a scenario under virtual time, with what a learner did to it: the engine that the page
runs, in a browser's worker or here.

The same scenario, seed, settings and actions give the same log, byte for byte, on every Python. A
fork is the same script run again with one action more, so its log is the same up to that action.
`request` is what a worker calls: JSON in, JSON out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from ..control import cluster as verbs
from ..control import faults
from ..event_log import EventLog, LogError
from ..event_log.reader import read_lines
from ..simulator.environment import EPOCH_MS
from ..simulator.files.reading import ScenarioError
from ..simulator.files.scenario import FaultPlan, MemberKind, Scenario, members_of, read_scenario
from ..simulator.files.schema import TABLES, Key, duration_ms
from ..simulator.run import run_scenario
from ..version import __version__
from .acting import ActionError, Plain, in_world, plan, reassignment
from .as_file import scenario_file
from .copying import CopyError
from .diagnosing import NothingToAskError, questions
from .differing import compared
from .picture import Picture

MOST_ACTIONS: Final = 50
MOST_LOG_LINES: Final = 300_000
"""A longer log does not fit into a page; `coordinator watch` shows it."""
_NEVER_MS: Final = 1 << 40


def play(
    text: str,
    name: str,
    seed: int,
    settings: Sequence[str] = (),
    actions: Sequence[Plain] = (),
    script: Sequence[Plain] = (),
) -> list[str]:
    """The lines of the event log. `script`: what a lesson does by itself, before a learner's
    actions.

    Raises ScenarioError, ActionError.
    """
    scenario = read_scenario(text, name, tuple(settings))
    if len(actions) > MOST_ACTIONS:
        raise ActionError(f"{len(actions)} actions: at most {MOST_ACTIONS}")
    actions = (*script, *actions)
    for action in actions:
        scenario = _with(scenario, action)
    log = EventLog(seed=seed, epoch_ms=EPOCH_MS, kafka_version=scenario.release.number)
    run_scenario(scenario, seed, log, lambda world: plan(world, scenario, actions))
    return log.lines


def picture_of(lines: Sequence[str], name: str = "log") -> Picture:
    """A picture of a log's lines of text. Raises LogError."""
    return Picture(
        read_lines((line if line.endswith("\n") else line + "\n" for line in lines), name)
    )


# -- what a learner does


def _with(scenario: Scenario, action: Plain) -> Scenario:
    """The scenario with one action more."""
    kind, at_ms = action.get("kind"), action.get("at_ms")
    if type(at_ms) is not int or not 0 <= at_ms <= scenario.duration_ms:
        raise ActionError(
            f"at_ms {at_ms!r}: a whole number from 0 to {scenario.duration_ms}, the end of the scenario"
        )
    known = [each for group in scenario.members for each in members_of(group)]
    tell = ACTIONS.get(str(kind))
    if tell is None:
        raise ActionError(f"{kind!r} is no action: they are {', '.join(ACTIONS)}")
    member = action.get("member")
    if kind not in WITHOUT_MEMBER and member not in known:
        raise ActionError(f"{kind}: there is no member {member!r}; there are {', '.join(known)}")
    try:
        return tell(scenario, action, at_ms)
    except (faults.FaultError, TypeError, ValueError) as error:
        raise ActionError(f"{kind}: {error}") from None


def _lasts(action: Plain, default: int) -> int:
    value = action.get("lasts_ms", default)
    if type(value) is not int or not 0 < value < 1 << 31:
        raise ActionError(f"lasts_ms {value!r}: whole milliseconds, more than 0")
    return value


def _ends(how: str) -> Callable[[Scenario, Plain, int], Scenario]:
    def tell(scenario: Scenario, action: Plain, at_ms: int) -> Scenario:
        return _churn(
            scenario,
            {
                "kind": "restart",
                "members": action["member"],
                "at": at_ms,
                "every": 0,
                "times": 1,
                "how": how,
                "down": action.get("down_ms", _NEVER_MS),
            },
        )

    return tell


def _churn(scenario: Scenario, churn: Plain) -> Scenario:
    return replace(scenario, churn=(*scenario.churn, {**_USUAL, **churn}))


def _usual(key: Key) -> object:
    return (
        duration_ms(key.default)
        if key.kind == "duration" and key.default is not None
        else key.default
    )


_USUAL: Final = {name: _usual(key) for name, key in TABLES["churn"].keys.items()}
"""What a piece of churn has in a file that does not say it."""


def _stall(scenario: Scenario, action: Plain, at_ms: int) -> Scenario:
    lasts = _lasts(action, 10_000)
    return _churn(
        scenario,
        {
            "kind": "stall",
            "members": action["member"],
            "at": at_ms,
            "every": 0,
            "times": 1,
            "lasts": lasts,
        },
    )


def _fault(scenario: Scenario, plan: FaultPlan) -> Scenario:
    return replace(scenario, faults=(*scenario.faults, plan))


def _freeze(scenario: Scenario, action: Plain, at_ms: int) -> Scenario:
    return _fault(
        scenario,
        FaultPlan(
            at_ms, _lasts(action, 20_000), member_verb=("PauseMember", {"member": action["member"]})
        ),
    )


def _cut(scenario: Scenario, action: Plain, at_ms: int) -> Scenario:
    fields = {"member": action["member"], "direction": action.get("direction", "both")}
    return _fault(
        scenario, FaultPlan(at_ms, _lasts(action, 20_000), member_verb=("CutMember", fields))
    )


def _lose_answer(scenario: Scenario, action: Plain, at_ms: int) -> Scenario:
    fault = faults.from_plain(
        {
            "action": "lose_answer",
            "client_id": action["member"],
            "api": action.get("api", _heartbeat_of(scenario, action["member"])),
            "times": 1,
            "may_miss": True,
        }
    )
    return _fault(scenario, FaultPlan(at_ms, None, request=fault))


def _heartbeat_of(scenario: Scenario, member: str) -> str:
    """The name of the heartbeats that a member sends."""
    (kind,) = [kind for kind in scenario.members if member in members_of(kind)]
    consumer = kind.properties.get("group.protocol") == "consumer"
    return "ConsumerGroupHeartbeat" if consumer else "Heartbeat"


def _slow_assignor(scenario: Scenario, action: Plain, at_ms: int) -> Scenario:
    fault = faults.from_plain(
        {
            "action": "delay",
            "client_id": action["member"],
            "api": "SyncGroup",
            "times": 1,
            "may_miss": True,
            "duration_ms": _lasts(action, 3_000),
        }
    )
    return _fault(scenario, FaultPlan(at_ms, None, request=fault))


def _join(scenario: Scenario, action: Plain, at_ms: int) -> Scenario:
    like = scenario.members[0]
    return _one_more(scenario, like, "new", at_ms, dict(like.properties), static=like.static)


def _twin(scenario: Scenario, action: Plain, at_ms: int) -> Scenario:
    member = action["member"]
    like = next(kind for kind in scenario.members if member in members_of(kind))
    if not like.static:
        raise ActionError(
            f"{member} is dynamic; only a static member's group.instance.id can be used twice"
        )
    return _one_more(
        scenario,
        like,
        "twin",
        at_ms,
        {**like.properties, "group.instance.id": member},
        static=False,
    )


def _one_more(
    scenario: Scenario,
    like: MemberKind,
    name: str,
    at_ms: int,
    properties: dict[str, str],
    *,
    static: bool,
) -> Scenario:
    taken = {kind.name for kind in scenario.members}
    while name in taken:
        name += "a"
    kind = replace(
        like,
        name=name,
        count=1,
        static=static,
        start_ms=(at_ms, at_ms),
        properties=properties,
    )
    return replace(scenario, members=(*scenario.members, kind))


def _move_coordinator(scenario: Scenario, action: Plain, at_ms: int) -> Scenario:
    if scenario.brokers < 2:
        raise ActionError("the scenario has one broker; the coordinator can move among two or more")
    to = action.get("to", 2)
    if type(to) is not int or not 1 <= to <= scenario.brokers:
        raise ActionError(f"to {to!r}: a broker from 1 to {scenario.brokers}")
    verb = verbs.MoveCoordinator(scenario.members[0].group, to)
    return _fault(scenario, FaultPlan(at_ms, None, verb=verb))


def _reassign(scenario: Scenario, action: Plain, at_ms: int) -> Scenario:
    return _fault(scenario, FaultPlan(at_ms, None, verb=reassignment(scenario, action)))


ACTIONS: Final[dict[str, Callable[[Scenario, Plain, int], Scenario]]] = {
    "close": _ends("close"),
    "kill": _ends("crash"),
    "freeze": _freeze,
    "stall": _stall,
    "slow_assignor": _slow_assignor,
    "lose_answer": _lose_answer,
    "cut": _cut,
    "twin": _twin,
    "join": _join,
    "move_coordinator": _move_coordinator,
    "add_partitions": in_world,
    "reassign": _reassign,
    "commit": in_world,
}
"""What can be done at an instant. `member` says to whom, `lasts_ms` how long, `down_ms` after how
long a member starts again."""
WITHOUT_MEMBER: Final = frozenset({"join", "move_coordinator", "add_partitions", "reassign"})


# -- what the worker calls

_opened: dict[str, Picture] = {}


def request(text: str) -> str:
    """Carry out one request: `play` (with `beside`: what changed, in sentences), `open` (a log's
    text), `steps` (further steps of what was opened last under a name), `copy` (a group of that as
    a scenario), `diagnose` (questions about a group of that), `as_file` (a run as a scenario
    file)."""
    asked = json.loads(text)
    try:
        answer: Plain = {"ok": _OPERATIONS[asked["op"]](asked)}
    except (ScenarioError, ActionError, CopyError, LogError, NothingToAskError) as error:
        answer = {"error": str(error)}
    return json.dumps(answer, separators=(",", ":"))


def _play(asked: Plain) -> Plain:
    """A run; `beside`: what was otherwise in the run that it is compared with."""
    lines, picture = _played(asked)
    _opened[asked.get("as", "main")] = picture
    answer: Plain = {"picture": picture.plain()}
    if "beside" in asked:
        _, before = _played({**asked, "settings": (), "actions": (), **asked["beside"]})
        more = [each for each in asked.get("actions", ()) if each not in asked["beside"]["actions"]]
        answer["changed"] = compared(before.plain(), answer["picture"], more)
    if asked.get("log"):
        answer["log"] = "\n".join(lines) + "\n"
    return answer


def _played(asked: Plain) -> tuple[list[str], Picture]:
    settings, actions, script = (asked.get(name, ()) for name in ("settings", "actions", "script"))
    name = asked.get("name", "scenario")
    lines = play(asked["scenario"], name, asked["seed"], settings, actions, script)
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


def _steps(asked: Plain) -> Plain:
    return {"steps": _opened[asked.get("as", "main")].steps(asked["begin"], asked["end"])}


def _copy(asked: Plain) -> Plain:
    return _opened[asked.get("as", "main")].fold.copier.copy(asked["group"])._asdict()


def _as_file(asked: Plain) -> Plain:
    settings, actions, script = (asked.get(name, ()) for name in ("settings", "actions", "script"))
    return scenario_file(
        asked["scenario"], asked.get("name", "scenario"), settings, actions, script
    )


def _diagnose(asked: Plain) -> Plain:
    return {"questions": questions(_opened[asked.get("as", "main")].fold, asked["group"])}


_OPERATIONS: Final[dict[str, Callable[[Plain], Plain]]] = {
    "play": _play,
    "open": _open,
    "steps": _steps,
    "copy": _copy,
    "diagnose": _diagnose,
    "as_file": _as_file,
    "version": lambda asked: {"version": __version__},
}
