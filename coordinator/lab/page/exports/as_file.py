"""A run of the page as a scenario file: `coordinator simulate FILE` plays the same run from the
same seed.

A learner's actions become churn, faults and members of the file. An action that no file can
express is named in an error. Uses scenario files alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from coordinator.verbs.brokers import CreatePartitions, MoveCoordinator, ReassignPartition
from coordinator.verbs.members import CutMember, PauseMember

from ...simulator.files.model import members_of
from ...simulator.files.reading import raw_of, set_value
from ...simulator.files.scenario import read_scenario
from ...simulator.files.toml_text import to_toml
from ..acting import MORE_PARTITIONS

Plain = dict[str, Any]
_NEVER: Final = "8784h"


def scenario_file(
    text: str,
    name: str,
    settings: Sequence[str] = (),
    actions: Sequence[Plain] = (),
    script: Sequence[Plain] = (),
) -> Plain:
    """Return the file's `text`, and `left_out`: the kinds of actions that only the page has.
    Raises ScenarioError."""
    raw, places = raw_of(text, name)
    for setting in settings:
        set_value(raw, setting, places)
    left_out: list[str] = []
    for action in (*script, *actions):
        tell = _TABLES.get(action["kind"])
        if tell is None:
            left_out.append(action["kind"])
            continue
        table, rows = tell(raw, action)
        raw[table] = [*raw.get(table, ()), rows]
    made = to_toml(raw)
    read_scenario(made, name)
    return {"text": made, "left_out": list(dict.fromkeys(left_out))}


def _ms(value: int) -> str:
    return f"{value}ms"


def _ends(how: str) -> Callable[[Plain, Plain], tuple[str, Plain]]:
    def tell(raw: Plain, action: Plain) -> tuple[str, Plain]:
        down = _ms(action["down_ms"]) if "down_ms" in action else _NEVER
        return "churn", {
            "kind": "restart",
            "members": action["member"],
            "at": _ms(action["at_ms"]),
            "times": 1,
            "down": down,
            "how": how,
        }

    return tell


def _stall(raw: Plain, action: Plain) -> tuple[str, Plain]:
    lasts = _ms(action.get("lasts_ms", 10_000))
    row = {"kind": "stall", "members": action["member"], "at": _ms(action["at_ms"]), "times": 1}
    return "churn", {**row, "lasts": lasts}


def _verb(verb: str, default_ms: int) -> Callable[[Plain, Plain], tuple[str, Plain]]:
    def tell(raw: Plain, action: Plain) -> tuple[str, Plain]:
        return "faults", {
            "verb": verb,
            "member": action["member"],
            **({"direction": action["direction"]} if "direction" in action else {}),
            "at": _ms(action["at_ms"]),
            "lasts": _ms(action.get("lasts_ms", default_ms)),
        }

    return tell


def _request(fault: str, api: str, default_ms: int) -> Callable[[Plain, Plain], tuple[str, Plain]]:
    def tell(raw: Plain, action: Plain) -> tuple[str, Plain]:
        own = api or action.get("api") or _heartbeat_of(raw, action["member"])
        row = {"action": fault, "client_id": action["member"], "api": own, "times": 1}
        long = {"duration_ms": action.get("lasts_ms", default_ms)} if default_ms else {}
        return "faults", {**row, "may_miss": True, **long, "at": _ms(action["at_ms"])}

    return tell


def _like(raw: Plain, member: str | None) -> Plain:
    """Return the kind of members that the action's member belongs to; the first kind if it names
    no member."""
    if member is None:
        return dict(raw["members"][0])
    kinds = {kind.name: kind for kind in read_scenario(to_toml(raw), "scenario").kinds}
    (row,) = [row for row in raw["members"] if member in members_of(kinds[row["name"]])]
    return dict(row)


def _heartbeat_of(raw: Plain, member: str) -> str:
    return _HEARTBEATS.get(_like(raw, member).get("protocol", "classic"), "Heartbeat")


_HEARTBEATS: Final = {"consumer": "ConsumerGroupHeartbeat", "share": "ShareGroupHeartbeat"}


def _join(raw: Plain, action: Plain) -> tuple[str, Plain]:
    return "members", _one_more(raw, _like(raw, None), "new", action)


def _twin(raw: Plain, action: Plain) -> tuple[str, Plain]:
    like = _like(raw, action["member"])
    config = {**like.get("config", {}), "group.instance.id": action["member"]}
    return "members", _one_more(raw, {**like, "static": False, "config": config}, "twin", action)


def _one_more(raw: Plain, like: Plain, name: str, action: Plain) -> Plain:
    while name in [row["name"] for row in raw["members"]]:
        name += "a"
    return {**like, "name": name, "count": 1, "start": _ms(action["at_ms"])}


def _move(raw: Plain, action: Plain) -> tuple[str, Plain]:
    first = raw["members"][0]
    row = {"verb": MoveCoordinator.__name__, "group": first.get("group", first["name"])}
    return "faults", {**row, "to": action.get("to", 2), "at": _ms(action["at_ms"])}


def _reassign(raw: Plain, action: Plain) -> tuple[str, Plain]:
    row = {"verb": ReassignPartition.__name__, "topic": next(iter(raw["topics"]))}
    replicas = list(action.get("replicas", ()))
    where = {"partition": action.get("partition", 0), "replicas": replicas}
    return "faults", {**row, **where, "at": _ms(action["at_ms"])}


def _add_partitions(raw: Plain, action: Plain) -> tuple[str, Plain]:
    topic, most = next(iter(raw["topics"].items()))
    before = [row["partitions"] for row in raw.get("faults", ()) if row.get("verb") == _GROW]
    there = max([most, *before])
    row = {"verb": _GROW, "topic": topic, "partitions": there + action.get("more", MORE_PARTITIONS)}
    return "faults", {**row, "at": _ms(action["at_ms"])}


_GROW: Final = CreatePartitions.__name__
_TABLES: Final[dict[str, Callable[[Plain, Plain], tuple[str, Plain]]]] = {
    "close": _ends("close"),
    "kill": _ends("crash"),
    "freeze": _verb(PauseMember.__name__, 20_000),
    "stall": _stall,
    "slow_assignor": _request("delay", "SyncGroup", 3_000),
    "lose_answer": _request("lose_answer", "", 0),
    "cut": _verb(CutMember.__name__, 20_000),
    "twin": _twin,
    "join": _join,
    "move_coordinator": _move,
    "reassign": _reassign,
    "add_partitions": _add_partitions,
}
"""The form of each action in a file: the table, and its row."""
