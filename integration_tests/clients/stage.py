"""The stage on which a story is played: members of one client library, topics, and the transcript of what members saw.

A story says what members do and waits for what must come of it before it goes on; so a transcript depends on no race. Each
member's transcript has its *steps* (listener calls, results and errors of calls, in the order in which they happened) and
the values it consumed by partition. Names of topics stand without the run's mark. Waiting is always for an event, with a
deadline; a story that waits in vain ends with a step that says for what. Nothing is judged here.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from integration_tests.clients.agents_running import Agent, AgentError, Agents, Line
from integration_tests.clients.variants import Variant
from integration_tests.wire.codec import TableCodec
from integration_tests.wire.people import await_topic, topic
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Session, Stop, new_nonce

PROFILE: Final = "clients"
"""The broker configuration that stories want."""
PATIENCE_S: Final = 20.0
QUIET_S: Final = 0.3
"""A group is settled when nothing was heard for so long, if all its members were called equally often since it last was."""
LONG_QUIET_S: Final = 1.2
"""If they were not: some libraries do not call a listener with nothing to say, and some members were away."""
_LOOK_S: Final = 0.05
_CLOSE_S: Final = 10.0

Transcript = dict[str, Any]
Placed = tuple[str, int]

DEFAULTS: Final[Mapping[str, Any]] = {
    "session.timeout.ms": 12_000, "heartbeat.interval.ms": 250, "max.poll.interval.ms": 60_000, "auto.offset.reset": "earliest",
    "enable.auto.commit": False, "metadata.max.age.ms": 60_000,
}  # fmt: skip
"""What members are configured with unless their story says otherwise."""

CODEC: Final = TableCodec()


class Stuck(Exception):
    """What a story waits for does not come; the text says what."""


class Member:
    """A consumer on the stage. Every call returns when the client library has answered; results go into the transcript."""

    def __init__(self, cast: Cast, name: str, agent: Agent, own_process: bool) -> None:
        self.name = name
        self.steps: list[str] = []
        self.records: dict[str, list[str]] = {}
        self.owned: set[Placed] = set()
        self.topics: set[str] = set()
        self.agent = agent
        self.own_process = own_process
        self.here = True
        self.heard_at = 0.0
        self.assigned_calls = 0
        self.assigned_calls_settled = 0
        self._cast = cast
        self._label = f"{cast.nonce}.{name}"
        agent.join(self._label, self._event)

    # -- what is heard ----------------------------------------------------------------------------------------------

    def _event(self, line: Line) -> None:
        cast = self._cast
        with cast.changed:
            if not cast.open:
                return
            self.heard_at = time.monotonic()
            kind = line["event"]
            if kind == "records":
                for topic, partition, _, value in line["records"]:
                    self.records.setdefault(cast.label(topic, partition), []).append(value)
            elif kind == "agent gone":
                if self.here:
                    self.steps.append("its agent died")
            elif kind == "odd":
                self.steps.append(f"odd: {line['text'].splitlines()[0]}")
            else:
                self._called(kind, line)
            cast.changed.notify_all()

    def _called(self, kind: str, line: Line) -> None:
        if "partitions" in line:
            partitions = {(topic, partition) for topic, partition in line["partitions"]}
            self.assigned_calls += kind == "assigned"
            self.owned = self.owned | partitions if kind == "assigned" else self.owned - partitions
            self.steps.append(f"{kind} {self._cast.labels(line['partitions'])}")
        else:
            self.steps.append(f"{kind}: {line.get('error', 'ok')}")

    # -- what it is told --------------------------------------------------------------------------------------------

    def send(self, do: str, shown: str = "", *, step: bool = True, **what: Any) -> Callable[[], Any]:
        """Send a command; call the result to await its reply. `shown` stands before the result in the step."""
        replies: list[Line] = []

        def heard(line: Line) -> None:
            with self._cast.changed:
                replies.append(line)
                error = line.get("error", "its agent died" if "event" in line else "")
                if self._cast.open and (step or error):
                    self.steps.append(f"{shown or do}: {error or self._shown(line['result'])}")
                self._cast.changed.notify_all()

        self.agent.send(do, heard, member=self._label, **what)

        def awaited() -> Any:
            self._cast.wait(lambda: bool(replies), f"{self.name} to answer {shown or do}")
            return replies[0].get("result")

        return awaited

    def _shown(self, result: Any) -> str:
        if result is None:
            return "ok"
        if isinstance(result, list) and all(isinstance(entry, list) for entry in result):
            return self._cast.labels(result)
        return str([self._cast.plain(entry) if isinstance(entry, str) else entry for entry in result])

    def create(self, config: Mapping[str, Any]) -> None:
        """Make the consumer."""
        self.send("create", step=False, config=dict(config))()

    def subscribe(self, *topics: str, pattern: str = "", poll: bool = True, **options: str) -> Member:
        """Subscribe, and poll from now on."""
        self.topics = set(topics)
        self.send("subscribe", step=False, **({"pattern": pattern} if pattern else {"topics": list(topics)}), **options)()
        return self.poll() if poll else self

    def poll(self, on: bool = True) -> Member:
        """Poll all the time from now on, or no more."""
        self.send("poll", step=False, on=on)()
        return self

    def expects(self, *topics: str) -> Member:
        """Say which topics a pattern should have brought it."""
        self.topics = set(topics)
        return self

    def unsubscribe(self) -> None:
        """Unsubscribe: leaves the group."""
        self.send("unsubscribe")()
        self.topics = set()

    def assign(self, *partitions: Placed) -> Member:
        """Take partitions by hand."""
        self.send("assign", f"assign {self._cast.labels(partitions)}", partitions=partitions)()
        return self

    def ask(self, do: str, *partitions: Placed) -> Any:
        """Pause, resume, committed, position, beginning_offsets, end_offsets, seek_to_... of partitions; or what takes none: paused..."""
        if not partitions:
            return self.send(do)()
        return self.send(do, f"{do} {self._cast.labels(partitions)}", partitions=partitions)()

    def seek(self, partition: Placed, offset: int) -> None:
        """Go to an offset."""
        self.send("seek", f"seek {self._cast.label(*partition)} {offset}", partition=partition, offset=offset)()

    def commit(self, offsets: Mapping[Placed, int] | None = None) -> None:
        """Commit these offsets, or the positions, synchronously."""
        if offsets is None:
            self.send("commit")()
        else:
            entries = [[*partition, offset] for partition, offset in sorted(offsets.items())]
            self.send("commit", f"commit {self._cast.labels(entries)}", offsets=entries)()

    def offsets_for_times(self, times: Mapping[Placed, int]) -> None:
        """The first offsets at or after these times, in ms."""
        entries = [[*partition, at] for partition, at in sorted(times.items())]
        self.send("offsets_for_times", f"offsets_for_times {self._cast.labels(entries)}", times=entries)()

    def wakeup(self) -> None:
        """Interrupt the poll that is under way."""
        self.send("wakeup", step=False)()

    def close(self) -> None:
        """Close as an application would."""
        self.send("close")()
        self.here = False
        self.agent.leave(self._label)

    # -- its process ------------------------------------------------------------------------------------------------

    def crash(self) -> None:
        """kill -9 of its process."""
        assert self.own_process, f"{self.name} shares its process: make it with own_process=True"
        self.here = False
        self.agent.kill()
        self.owned = set()

    def freeze(self) -> None:
        """SIGSTOP of its process: no heartbeats, and it does not know."""
        assert self.own_process, f"{self.name} shares its process: make it with own_process=True"
        self.agent.freeze()

    def thaw(self) -> None:
        """SIGCONT."""
        self.agent.thaw()

    # -- what is awaited --------------------------------------------------------------------------------------------

    def until_consumed(self, count: int) -> Member:
        """Wait until it has consumed so many records in all."""
        self._cast.wait(lambda: sum(map(len, self.records.values())) >= count, f"{self.name} to have {count} records")
        return self

    def until_step(self, *beginnings: str) -> None:
        """Wait until one of its steps begins so."""
        self._cast.wait(lambda: any(step.startswith(beginnings) for step in self.steps), f"{self.name} to see {' or '.join(beginnings)}")

    def until_owns(self, *partitions: Placed) -> None:
        """Wait until it owns exactly these."""
        self._cast.wait(lambda: self.owned == set(partitions), f"{self.name} to own {self._cast.labels(sorted(partitions))}")

    def tally(self) -> None:
        """Put what it has consumed until now into its steps."""
        with self._cast.changed:
            self.steps.append("so far " + " ".join(f"{at}={''.join(values)}" for at, values in sorted(self.records.items())))


class Cast:
    """All that a story needs: members of one variant, topics and records, and waits. Names are the run's own."""

    def __init__(self, variant: Variant, address: str, agents: Agents) -> None:
        self.variant = variant
        self.nonce = new_nonce()
        self.group = f"group-{self.nonce}"
        self.members: list[Member] = []
        self.changed = threading.Condition()
        self.open = True
        self._address = address
        self._agents = agents
        self._session = Session(address, CODEC, self.nonce)
        self._topics: dict[str, int] = {}

    # -- names ------------------------------------------------------------------------------------------------------

    def plain(self, name: str) -> str:
        """A name without the run's mark."""
        return name.replace(f"-{self.nonce}", "")

    def label(self, topic: str, partition: int, *values: Any) -> str:
        """A partition, and what belongs to it, as the transcript shows it."""
        return f"{self.plain(topic)}/{partition}" + "".join(f"={'none' if value is None else value}" for value in values)

    def labels(self, entries: Iterable[Iterable[Any]]) -> str:
        """Many of them."""
        return " ".join(self.label(*entry) for entry in entries) or "-"

    # -- topics and records -----------------------------------------------------------------------------------------

    def topic(self, label: str = "orders", partitions: int = 4) -> str:
        """Make a topic; its name, once it is there."""
        name = topic(self._session, label, partitions)
        self._topics[name] = partitions
        return name

    def pattern(self, beginning: str) -> str:
        """A regular expression of this run's topics that begin so."""
        return f"^{beginning}.*-{self.nonce}$"

    def grow(self, topic: str, partitions: int) -> None:
        """Give a topic more partitions: so many in all."""
        new = [{"name": topic, "count": partitions, "assignments": None}]
        self._session.stage().ask_quietly("CreatePartitions", 3, topics=new, timeout_ms=5_000, validate_only=False)
        await_topic(self._session.stage(), topic, partitions)
        self._topics[topic] = partitions

    def produce(self, topic: str, values: Mapping[int, str], at_ms: int | None = None) -> None:
        """Produce with the variant's own producer: a record for every letter; time stamps a second apart from `at_ms`."""
        records = [
            [topic, partition, letter, None if at_ms is None else at_ms + 1000 * i]
            for partition, letters in values.items() for i, letter in enumerate(letters)
        ]  # fmt: skip
        replies: list[Line] = []

        def heard(line: Line) -> None:
            with self.changed:
                replies.append(line)
                self.changed.notify_all()

        self._agents.shared(self.variant.library).send("produce", heard, bootstrap=self._address, records=records)
        self.wait(lambda: bool(replies), "records to be produced")
        if "error" in replies[0]:
            raise Stuck(f"producing failed: {replies[0]['error']}")

    # -- members ----------------------------------------------------------------------------------------------------

    def member(self, name: str, *, own_process: bool = False, **config: Any) -> Member:
        """A consumer that does nothing yet. Its name is its client id; `config` is as Kafka names it, `_` for `.`."""
        library = self.variant.library
        member = Member(self, name, self._agents.own(library) if own_process else self._agents.shared(library), own_process)
        self.members.append(member)
        given = {key.replace("_", "."): value for key, value in config.items()}
        member.create(
            {**DEFAULTS, "bootstrap.servers": self._address, "group.id": self.group, "client.id": name.lower(),
                        "partition.assignment.strategy": self.variant.assignor, **given}
        )  # fmt: skip
        return member

    # -- what is awaited --------------------------------------------------------------------------------------------

    def wait(self, condition: Callable[[], bool], what: str, timeout_s: float = PATIENCE_S) -> None:
        """Wait for what members tell. Raises Stuck."""
        with self.changed:
            if not self.changed.wait_for(condition, timeout_s):
                raise Stuck(what)

    def described(self) -> Plain:
        """The group, as the broker describes it."""
        answer = self._session.stage().ask_quietly("DescribeGroups", 5, groups=[self.group])
        return dict(answer["groups"][0])

    def until_group(self, *states: str, members: int | None = None) -> None:
        """Wait until the broker says that the group is in one of these states, with so many members."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            group = self.described()
            if group["group_state"] in states and members in (None, len(group["members"])):
                return
            if time.monotonic() > deadline:
                raise Stuck(f"the group to be {' or '.join(states)}; it is {group['group_state']} with {len(group['members'])} members")
            time.sleep(_LOOK_S)

    def until_committed(self, topic: str, partition: int, offset: int) -> None:
        """Wait until the broker has this offset committed."""
        deadline = time.monotonic() + PATIENCE_S
        asked = [{"group_id": self.group, "topics": [{"name": topic, "partition_indexes": [partition]}]}]
        while True:
            answer = self._session.stage().ask_quietly("OffsetFetch", 8, groups=asked, require_stable=False)
            if answer["groups"][0]["topics"][0]["partitions"][0]["committed_offset"] == offset:
                return
            if time.monotonic() > deadline:
                raise Stuck(f"{self.label(topic, partition)} to be committed at {offset}")
            time.sleep(_LOOK_S)

    def remove_members(self) -> None:
        """Put every member out of the group, as an administrator may."""
        members = [{"member_id": member["member_id"], "reason": "put out"} for member in self.described()["members"]]
        self._session.stage().ask_quietly("LeaveGroup", 5, group_id=self.group, members=members)

    def settled(self, *members: Member) -> None:
        """Wait until these members and no others share all partitions of their topics, the group is stable, and all is quiet."""
        deadline = time.monotonic() + PATIENCE_S
        what = f"{', '.join(member.name for member in members)} to settle"
        while True:
            self.wait(lambda: self._shared(members), what, max(deadline - time.monotonic(), 0))
            missing_s = self._missing_quiet_s(members)
            group = self.described()
            if missing_s <= 0 and group["group_state"] == "Stable" and len(group["members"]) == len(members):
                for member in members:
                    member.assigned_calls_settled = member.assigned_calls
                return
            if time.monotonic() > deadline:
                raise Stuck(f"{what}; the group is {group['group_state']} with {len(group['members'])} members")
            time.sleep(max(missing_s, _LOOK_S))

    def _missing_quiet_s(self, members: Iterable[Member]) -> float:
        """How much longer it must be quiet, in seconds. In a cooperative rebalance the last call of some has nothing in it."""
        with self.changed:
            calls = {member.assigned_calls - member.assigned_calls_settled for member in members}
            heard_at = max(member.heard_at for member in members)
        return heard_at + (QUIET_S if len(calls) == 1 else LONG_QUIET_S) - time.monotonic()

    def until_seen(self, letters: str) -> None:
        """Wait until somebody has consumed each of these records."""

        def seen() -> bool:
            return set(letters) <= {value for member in self.members for values in member.records.values() for value in values}

        self.wait(seen, f"{letters} to be consumed")

    def _shared(self, members: Iterable[Member]) -> bool:
        """Does each partition that somebody wants have one owner, and everybody something?"""
        wanted = {(name, i) for member in members for name in member.topics for i in range(self._topics[name])}
        owned = [partition for member in members for partition in member.owned]
        return len(owned) == len(wanted) and set(owned) == wanted and all(member.owned for member in members)

    # -- the end ----------------------------------------------------------------------------------------------------

    def transcript(self) -> Transcript:
        """What each member saw until now; nothing is added afterwards."""
        with self.changed:
            self.open = False
            return {
                member.name: {"steps": list(member.steps), "records": {at: "".join(v) for at, v in sorted(member.records.items())}}
                for member in self.members
            }

    def leave(self) -> None:
        """Close everybody who is still there, unseen, and the processes that were a member's own."""
        waits = []
        for member in self.members:
            if member.here and not member.own_process:
                try:
                    waits.append(member.send("close", step=False))
                except AgentError:
                    continue
        deadline = time.monotonic() + _CLOSE_S
        for awaited in waits:
            try:
                awaited()
            except Stuck:
                pass
            if time.monotonic() > deadline:
                break
        for member in self.members:
            if member.own_process:
                self._agents.done(member.agent)
        self._remove_topics()
        self._session.close()

    def _remove_topics(self) -> None:
        """Leave the broker as light as it was: kafka-python asks for all topics there are."""
        try:
            self._session.stage().ask_quietly("DeleteTopics", 4, topic_names=list(self._topics), timeout_ms=5_000)
        except (Stop, OSError):
            pass  # the broker is gone, or hung up before


def play(story: Callable[[Cast], None], variant: Variant, address: str, agents: Agents) -> Transcript:
    """A story's transcript. One cut short has a last entry, `stuck`, which says what did not come."""
    cast = Cast(variant, address, agents)
    stuck = ""
    try:
        story(cast)
    except Stuck as what:
        stuck = f"it waited in vain for {what}"
    except Stop:
        stuck = "the broker hung up on the stage's own connection, or was silent"
    except AgentError as gone:
        stuck = str(gone)
    finally:
        transcript = cast.transcript()
        cast.leave()
    return transcript | ({"stuck": stuck} if stuck else {})
