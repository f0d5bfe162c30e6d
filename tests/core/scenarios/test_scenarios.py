"""Stories one can read: each .txt beside this file is played against the coordinator, and must come
out as it is written.

A story's header says what it proves, with rule ids. Then blocks follow: commands, a line `----`,
what came of them. After a change: `python -m tests.core.scenarios.test_scenarios --rewrite [name ...]`,
read the diff, commit what you understand.

    config delay=3000 max-size=2        the coordinator's settings (before anything else)
    a join [v=9] [id=..] [instance=..] [protocols=range:meta,sticky] [type=consumer] [session=45000] [rebalance=300000]
    a sync [b=share ...]                assignments by client name or member id; also id= gen= instance= v= type= protocol=
    a heartbeat | a leave [id/instance ...] | a commit orders:0=5 [gen=..] | a fetch [orders:0 ...]
    stable a b [options of join]        the whole way from joining to a Stable group, a leading, without a word
    advance 3000                        time passes; every deadline on the way is served
    describe | list [state ...] | delete | unload | begin-load | load | failing 3

`group=h` before any of these names another group than g. A client uses the id and generation it was
told last; `id=-` is no id. What came of it: answers (`a: ...`, with their instant if time passed),
then the group, if it changed.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from coordinator.base.errors import ErrorCode
from tests.core.groups.callers import Call
from tests.core.groups.kit import World

HERE = Path(__file__).parent
NAMES = {
    "delay": "initial_rebalance_delay_ms",
    "max-size": "max_size",
    "retention": "offsets_retention_ms",
}


class Story:
    """One world and the words for it."""

    def __init__(self) -> None:
        self.world = World(initial_rebalance_delay_ms=3_000)
        self.shown: dict[str, str] = {}
        self.told: list[Call] = []

    def tell(self, line: str) -> list[str]:
        """Carry out one command and say what came of it."""
        words, options = [], {}
        for word in line.split():
            key, eq, value = word.partition("=")
            if eq and ":" not in key:
                options[key] = value
            else:
                words.append(word)
        group = self.world.group_id
        self.world.group_id = options.pop("group", group)
        before = self.world.now
        said = list(self._command(words, options, line) or ())
        said += self._answers(before)
        said += self._groups()
        self.world.group_id = group
        return said or ["nothing changes"]

    def _command(
        self, words: list[str], options: dict[str, str], line: str
    ) -> Iterator[str] | None:
        verb = words[0] if len(words) == 1 or words[0] in WORLD else words[1]
        if words[0] in WORLD:
            return WORLD[words[0]](self, words[1:], options)
        assert verb in CLIENT, f"what is this? {line}"
        return CLIENT[verb](self, words[0], words[2:], options)

    def _answers(self, before: int) -> Iterator[str]:
        answered = sorted(
            (call for call in self.world.calls if call.at is not None),
            key=lambda call: call.at or 0,
        )
        for call in answered:
            if call not in self.told:
                self.told.append(call)
                text = show(call)
                if text:
                    yield f"{call.client}: {text}" + (f" @{call.at}" if call.at != before else "")

    def _groups(self) -> Iterator[str]:
        now = {group_id: state(self.world, group_id) for group_id in self.world.coordinator.groups}
        for group_id in sorted(now.keys() | self.shown.keys()):
            if now.get(group_id) != self.shown.get(group_id):
                yield f"{group_id} = {now.get(group_id, 'gone')}"
        self.shown = now

    # -- commands

    def config(self, words: list[str], options: dict[str, str]) -> None:
        for key, value in options.items():
            setattr(self.world.config, NAMES[key], int(value))

    def advance(self, words: list[str], options: dict[str, str]) -> None:
        self.world.advance(int(words[0]))

    def describe(self, words: list[str], options: dict[str, str]) -> Iterator[str]:
        row = self.world.describe()
        yield f"{row.group_id} is described as {row.group_state}, type {row.protocol_type!r}, protocol {row.protocol_data!r}"
        for m in row.members:
            yield f"  {m.member_id} metadata {m.member_metadata!r} assignment {m.member_assignment!r}"

    def list(self, words: list[str], options: dict[str, str]) -> Iterator[str]:
        yield (
            ", ".join(f"{group} {state}" for group, state in self.world.list(words).items())
            or "no groups"
        )

    def delete(self, words: list[str], options: dict[str, str]) -> Iterator[str]:
        for group, error in self.world.delete(*words).items():
            yield f"delete {group}: {code(error)}"

    def unload(self, words: list[str], options: dict[str, str]) -> None:
        self.world.unload()

    def begin_load(self, words: list[str], options: dict[str, str]) -> None:
        self.world.begin_load()

    def load(self, words: list[str], options: dict[str, str]) -> None:
        self.world.finish_load()

    def failing(self, words: list[str], options: dict[str, str]) -> None:
        self.world.config.append_error = ErrorCode(int(words[0]))

    def stable(self, words: list[str], options: dict[str, str]) -> None:
        self.world.stable(*words, **joining(options))
        self.told += [call for call in self.world.calls if call.at is not None]

    def join(self, client: str, words: list[str], options: dict[str, str]) -> Iterator[str]:
        yield from parked(self.world.join(client, **joining(options)))

    def sync(self, client: str, words: list[str], options: dict[str, str]) -> Iterator[str]:
        given: dict[str, Any] = identity(options)
        for key, name in (("type", "kind"), ("protocol", "protocol")):
            if key in options:
                value = options.pop(key)
                given[name] = None if value == "null" else value
        if "v" in options:
            given["version"] = int(options.pop("v"))
        shares = {who: share.encode() for who, share in options.items()}
        yield from parked(self.world.sync(client, shares, **given))

    def heartbeat(self, client: str, words: list[str], options: dict[str, str]) -> None:
        self.world.heartbeat(client, **identity(options), **nothing_else(options))

    def leave(self, client: str, words: list[str], options: dict[str, str]) -> None:
        version = int(options.pop("v", 5))
        who = []
        for word in words:
            name, slash, instance = word.partition("/")
            who.append((self.world.id(name), instance if slash else None))
        self.world.leave(client, *who, version=version, **nothing_else(options))

    def commit(self, client: str, words: list[str], options: dict[str, str]) -> None:
        offsets = {}
        for word in words:
            place, _, offset = word.partition("=")
            topic, _, partition = place.partition(":")
            offsets[topic, int(partition)] = int(offset)
        version = int(options.pop("v", 9))
        self.world.commit(
            client, offsets, version=version, **identity(options), **nothing_else(options)
        )

    def fetch(self, client: str, words: list[str], options: dict[str, str]) -> Iterator[str]:
        asked = [word.partition(":") for word in words]
        found = self.world.fetch(
            [(topic, int(partition)) for topic, _, partition in asked] if asked else None
        )
        yield (
            ", ".join(
                f"{topic}:{partition} {offset}" for (topic, partition), offset in found.items()
            )
            or "no offsets"
        )


WORLD: dict[str, Callable[..., Iterator[str] | None]] = {
    "config": Story.config,
    "stable": Story.stable,
    "advance": Story.advance,
    "describe": Story.describe,
    "list": Story.list,
    "delete": Story.delete,
    "unload": Story.unload,
    "begin-load": Story.begin_load,
    "load": Story.load,
    "failing": Story.failing,
}
CLIENT: dict[str, Callable[..., Iterator[str] | None]] = {
    "join": Story.join,
    "sync": Story.sync,
    "heartbeat": Story.heartbeat,
    "leave": Story.leave,
    "commit": Story.commit,
    "fetch": Story.fetch,
}


def identity(options: dict[str, str]) -> dict[str, Any]:
    """Take id=, gen= and instance= out of the options."""
    given: dict[str, Any] = {}
    for key, name in (("id", "member_id"), ("instance", "instance")):
        if key in options:
            value = options.pop(key)
            given[name] = ("" if key == "id" else None) if value == "-" else value
    if "gen" in options:
        given["generation"] = int(options.pop("gen"))
    return given


def joining(options: dict[str, str]) -> dict[str, Any]:
    """The options of a JoinGroup."""
    given: dict[str, Any] = identity(options)
    if "protocols" in options:
        pairs = [offer.partition(":") for offer in options.pop("protocols").split(",") if offer]
        given["protocols"] = [(name, metadata.encode()) for name, _, metadata in pairs]
    for key, name in (("session", "session_ms"), ("rebalance", "rebalance_ms"), ("v", "version")):
        if key in options:
            given[name] = int(options.pop(key))
    if "type" in options:
        given["kind"] = options.pop("type")
    return given | nothing_else(options)


def nothing_else(options: dict[str, str]) -> dict[str, Any]:
    """All options must have been understood."""
    assert not options, f"what are these? {options}"
    return {}


def parked(call: Call) -> Iterator[str]:
    """Say so, if the request waits."""
    if call.parked:
        yield f"{call.client}: parked"


def code(error: int) -> str:
    """An error as people know it."""
    return f"{error} {ErrorCode(error).name}" if error else "ok"


def show(call: Call) -> str:
    """An answer in a few words; "" for what the command has told already."""
    reply = call.reply
    match type(reply).__name__:
        case "JoinGroupResponse" if reply.error_code:
            told = f", id {reply.member_id}" if reply.member_id else ""
            return (
                code(reply.error_code)
                + told
                + (f", generation {reply.generation_id}" if reply.generation_id != -1 else "")
            )
        case "JoinGroupResponse":
            text = f"joined as {reply.member_id}, generation {reply.generation_id}, {reply.protocol_name}, leader {reply.leader}"
            if reply.members:
                text += ", members " + " ".join(shown_member(m) for m in reply.members)
            return text + (", skip the assignment" if reply.skip_assignment else "")
        case "SyncGroupResponse":
            return (
                code(reply.error_code)
                if reply.error_code
                else f"assigned {reply.assignment.decode()!r}"
            )
        case "HeartbeatResponse":
            return code(reply.error_code)
        case "LeaveGroupResponse":
            rows = [
                f"{m.member_id}/{m.group_instance_id or ''} {code(m.error_code)}"
                for m in reply.members
            ]
            return code(reply.error_code) + "".join(f"; {row}" for row in rows)
        case "OffsetCommitResponse":
            return "; ".join(
                f"{t.name}:{p.partition_index} {code(p.error_code)}"
                for t in reply.topics
                for p in t.partitions
            )
    return ""


def shown_member(member: Any) -> str:
    """One row of the leader's list."""
    return f"{member.member_id}[{member.metadata.decode()}]"


def state(world: World, group_id: str) -> str:
    """A group in one line: * leads, (join) and (sync) wait, (owes) has not synced yet."""
    group = world.coordinator.groups[group_id].membership
    marks = {True: " (join)", False: ""}
    members = []
    for m in group:
        text = (
            m.member_id
            + "*" * (m.member_id == group.leader)
            + marks[m.awaiting_join]
            + " (sync)" * m.awaiting_sync
        )
        members.append(text + " (owes)" * (m.member_id in group.pending_sync))
    parts = [f"{group.state} generation {group.generation}", ", ".join(members)]
    parts += ["pending " + ", ".join(group.pending)] if group.pending else []
    parts += [f"until {group.join_deadline}"] if group.join_deadline is not None else []
    parts += [f"sync until {group.sync_deadline}"] if group.sync_deadline is not None else []
    return "; ".join(part for part in parts if part)


def play(text: str) -> str:
    """The story with what really came of each block."""
    story, out = Story(), []
    for block in text.strip("\n").split("\n\n"):
        lines = block.split("\n")
        commands = lines[: lines.index("----")] if "----" in lines else lines
        out += commands
        doable = [line for line in commands if line and not line.startswith("#")]
        told = []
        for line in doable:
            said = story.tell(line)
            if not line.startswith("config"):
                told += [f"> {line}", *said] if len(doable) > 1 else said
        out += ["----", *told, ""] if told else [""]
    return "\n".join(out[:-1]) + "\n"


STORIES = sorted(HERE.glob("*.txt"))


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_story(path: Path) -> None:
    """What the header of the file says; see there for the rule ids."""
    written = path.read_text()
    assert written.startswith("# "), "a story begins by saying what it proves"
    played = play(written)
    diff = difflib.unified_diff(
        written.splitlines(), played.splitlines(), "written", "played", lineterm=""
    )
    assert played == written, "\n".join(diff)


def test_a_changed_outcome_is_noticed() -> None:
    """The judge judges: a story with one digit changed does not come out as written."""
    text = (HERE / "tr1_two_consumers.txt").read_text()
    assert play(text) == text
    wrong = text.replace("generation 1", "generation 2")
    assert play(wrong) != wrong


def main() -> None:
    """Rewrite the stories named, or all."""
    if "--rewrite" not in sys.argv:
        sys.exit(__doc__)
    names = {name for name in sys.argv[1:] if name != "--rewrite"}
    for path in STORIES:
        if not names or path.stem in names:
            text = path.read_text()
            played = play(text)
            if played != text:
                path.write_text(played)
                print("rewrote", path.name)


if __name__ == "__main__":
    main()
