"""The stage on which a story is played: members of one client library, topics, and the transcript
of what members saw.

A story says what members do and waits for what must come of it before it goes on. The transcript
has the steps of each member (`member`). Names of topics stand without the run's mark. Waiting is
always for an event, with a limit; a story that waits in vain ends with an entry that says for what.
Nothing is judged here.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from integration_tests.clients.agents_running import AgentError, Agents, Line
from integration_tests.clients.member import Member, Stuck
from integration_tests.clients.variants import Variant
from integration_tests.wire.codec import TableCodec
from integration_tests.wire.people import await_topic, topic
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Session, Stop, new_nonce

PROFILE: Final = "consumer"
"""The broker configuration that stories want."""
PATIENCE_S: Final = 120.0
"""The limit of every wait: far beyond what anything takes on a busy machine. Nothing is compared
with it."""
QUIET_S: Final = 0.3
"""A group is settled when nothing was heard for so long, if all its members were called equally
often since it last was."""
LONG_QUIET_S: Final = 1.2
"""If they were not: some libraries do not call a listener with nothing to say, and some members
were away."""
QUIET_POLLS: Final = 2
"""And each of its members has gone through so many polls."""
_LOOK_S: Final = 0.05
_CLOSE_S: Final = 10.0

Transcript = dict[str, Any]
"""The steps of each member by its name; `stuck`, a text, if the story did not come to its end."""

SHORT_SESSION_MS: Final = 6_000
"""A session, or a poll interval, whose end a story waits for: Kafka's least, since a busy machine
may hold a member up for seconds."""

DEFAULTS: Final[Mapping[str, Any]] = {
    "session.timeout.ms": 30_000,
    "heartbeat.interval.ms": 250,
    "max.poll.interval.ms": 60_000,
    "auto.offset.reset": "earliest",
    "enable.auto.commit": False,
    "metadata.max.age.ms": 60_000,
}
"""What members are configured with unless their story says otherwise."""

CODEC: Final = TableCodec()


class Cast:
    """All that a story needs: members of one variant, topics and records, and waits. Names are the
    run's own."""

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

    # -- names
    # ------------------------------------------------------------------------------------------------------

    def plain(self, name: str) -> str:
        """A name without the run's mark."""
        return name.replace(f"-{self.nonce}", "")

    def label(self, topic: str, partition: int, *values: Any) -> str:
        """A partition, and what belongs to it, as the transcript shows it."""
        return f"{self.plain(topic)}/{partition}" + "".join(
            f"={'none' if value is None else value}" for value in values
        )

    def labels(self, entries: Iterable[Iterable[Any]]) -> str:
        """Many of them."""
        return " ".join(self.label(*entry) for entry in entries) or "-"

    # -- topics and records
    # -----------------------------------------------------------------------------------------

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
        self._session.stage().ask_quietly(
            "CreatePartitions", 3, topics=new, timeout_ms=5_000, validate_only=False
        )
        await_topic(self._session.stage(), topic, partitions)
        self._topics[topic] = partitions

    def produce(self, topic: str, values: Mapping[int, str], at_ms: int | None = None) -> None:
        """Produce with the variant's own producer: a record for every letter; time stamps a second
        apart from `at_ms`."""
        records = [
            [topic, partition, letter, None if at_ms is None else at_ms + 1000 * i]
            for partition, letters in values.items()
            for i, letter in enumerate(letters)
        ]
        replies: list[Line] = []

        def heard(line: Line) -> None:
            with self.changed:
                replies.append(line)
                self.changed.notify_all()

        self._agents.shared(self.variant.library).send(
            "produce", heard, bootstrap=self._address, records=records
        )
        self.wait(lambda: bool(replies), "records to be produced")
        if "error" in replies[0]:
            raise Stuck(f"producing failed: {replies[0]['error']}")

    # -- members
    # ----------------------------------------------------------------------------------------------------

    def member(self, name: str, *, own_process: bool = False, **config: Any) -> Member:
        """A consumer that does nothing yet. Its name is its client id; `config` is as Kafka names
        it, `_` for `.`."""
        library = self.variant.library
        member = Member(
            self,
            name,
            self._agents.own(library) if own_process else self._agents.shared(library),
            own_process,
        )
        self.members.append(member)
        given = {key.replace("_", "."): value for key, value in config.items()}
        member.create(
            {
                **DEFAULTS,
                "bootstrap.servers": self._address,
                "group.id": self.group,
                "client.id": name.lower(),
                "partition.assignment.strategy": self.variant.assignor,
                **given,
            }
        )
        return member

    # -- what is awaited
    # --------------------------------------------------------------------------------------------

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
        """Wait until the broker says that the group is in one of these states, with so many
        members."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            group = self.described()
            if group["group_state"] in states and members in (None, len(group["members"])):
                return
            if time.monotonic() > deadline:
                raise Stuck(
                    f"the group to be {' or '.join(states)}; it is {group['group_state']} with {len(group['members'])} members"
                )
            time.sleep(_LOOK_S)

    def until_committed(self, topic: str, partition: int, offset: int) -> None:
        """Wait until the broker has this offset committed."""
        deadline = time.monotonic() + PATIENCE_S
        asked = [
            {"group_id": self.group, "topics": [{"name": topic, "partition_indexes": [partition]}]}
        ]
        while True:
            answer = self._session.stage().ask_quietly(
                "OffsetFetch", 8, groups=asked, require_stable=False
            )
            if answer["groups"][0]["topics"][0]["partitions"][0]["committed_offset"] == offset:
                return
            if time.monotonic() > deadline:
                raise Stuck(f"{self.label(topic, partition)} to be committed at {offset}")
            time.sleep(_LOOK_S)

    def remove_members(self) -> None:
        """Put every member out of the group, as an administrator may."""
        members = [
            {"member_id": member["member_id"], "reason": "put out"}
            for member in self.described()["members"]
        ]
        self._session.stage().ask_quietly("LeaveGroup", 5, group_id=self.group, members=members)

    def settled(self, *members: Member) -> None:
        """Wait until these members and no others share all partitions of their topics, the group is
        stable, and all is quiet."""
        deadline = time.monotonic() + PATIENCE_S
        what = f"{', '.join(member.name for member in members)} to settle"
        while True:
            try:
                self.wait(lambda: self._shared(members), what, max(deadline - time.monotonic(), 0))
            except Stuck:
                raise Stuck(f"{what}; {self._seen(members)}") from None
            missing_s = self._missing_quiet_s(members)
            heard = [member.heard_at for member in members]
            if missing_s <= 0:
                self._polled(members)
            group = self.described()
            quiet = missing_s <= 0 and heard == [member.heard_at for member in members]
            if quiet and group["group_state"] == "Stable" and len(group["members"]) == len(members):
                for member in members:
                    member.assigned_calls_settled = member.assigned_calls
                return
            if time.monotonic() > deadline:
                raise Stuck(f"{what}; {self._seen(members)}")
            time.sleep(max(missing_s, _LOOK_S))

    def _seen(self, members: Iterable[Member]) -> str:
        """What there is instead: the group as the broker has it, and what members own."""
        group = self.described()
        owned = ", ".join(
            f"{member.name} owns {self.labels(sorted(member.owned))}" for member in members
        )
        return f"the group is {group['group_state']} with {len(group['members'])} members (error {group['error_code']}); {owned}"

    def _polled(self, members: Iterable[Member]) -> None:
        """Each member has gone on polling: quiet on a busy machine may be a member that has not
        come to its next poll."""
        for _ in range(QUIET_POLLS):
            for awaited in [member.send("subscription", step=False) for member in members]:
                awaited()

    def _missing_quiet_s(self, members: Iterable[Member]) -> float:
        """How much longer it must be quiet, in seconds. In a cooperative rebalance the last call of
        some has nothing in it."""
        with self.changed:
            calls = {member.assigned_calls - member.assigned_calls_settled for member in members}
            heard_at = max(member.heard_at for member in members)
        return heard_at + (QUIET_S if len(calls) == 1 else LONG_QUIET_S) - time.monotonic()

    def until_seen(self, letters: str) -> None:
        """Wait until somebody has consumed each of these records."""

        def seen() -> bool:
            return set(letters) <= {
                value
                for member in self.members
                for values in member.records.values()
                for value in values
            }

        self.wait(seen, f"{letters} to be consumed")

    def _shared(self, members: Iterable[Member]) -> bool:
        """Does each partition that somebody wants have one owner, and everybody something?"""
        wanted = {
            (name, i)
            for member in members
            for name in member.topics
            for i in range(self._topics[name])
        }
        owned = [partition for member in members for partition in member.owned]
        return (
            len(owned) == len(wanted)
            and set(owned) == wanted
            and all(member.owned for member in members)
        )

    # -- the end
    # ----------------------------------------------------------------------------------------------------

    def transcript(self) -> Transcript:
        """What each member saw until now; nothing is added afterwards."""
        with self.changed:
            self.open = False
            return {member.name: list(member.steps) for member in self.members}

    def leave(self) -> None:
        """Close everybody who is still there, unseen, and the processes that were a member's
        own."""
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
            self._session.stage().ask_quietly(
                "DeleteTopics", 4, topic_names=list(self._topics), timeout_ms=5_000
            )
        except (Stop, OSError):
            pass  # the broker is gone, or hung up before


def play(
    story: Callable[[Cast], None], variant: Variant, address: str, agents: Agents
) -> Transcript:
    """A story's transcript. One cut short has a last entry, `stuck`, which says what did not
    come."""
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
