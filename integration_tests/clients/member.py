"""A member on the stage: a consumer of one client library, what it is told and what it says.

Owns a member's *steps*: the calls of its listener, the results of its calls and the values it
consumed, in the order in which they happened. Every wait is for an event, with a limit. Does not
depend on what a story is about, and judges nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from integration_tests.clients.agents_running import Agent, Line
from integration_tests.clients.normal import consumed

if TYPE_CHECKING:
    from integration_tests.clients.stage import Cast

Placed = tuple[str, int]
"""A topic's name and a partition's number."""


class Stuck(Exception):
    """What a story waits for does not come; the text says what."""


class Member:
    """A consumer on the stage. Every call returns when the client library has answered; results go
    into the transcript."""

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

    # -- what is heard
    # ----------------------------------------------------------------------------------------------

    def _event(self, line: Line) -> None:
        cast = self._cast
        with cast.changed:
            if not cast.open:
                return
            self.heard_at = time.monotonic()
            kind = line["event"]
            if kind == "records":
                for topic, partition, _, value in line["records"]:
                    label = cast.label(topic, partition)
                    self.steps.append(consumed(label, value))
                    self.records.setdefault(label, []).append(value)
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

    # -- what it is told
    # --------------------------------------------------------------------------------------------

    def send(
        self, do: str, shown: str = "", *, step: bool = True, **what: Any
    ) -> Callable[[], Any]:
        """Send a command; call the result to await its reply. `shown` stands before the result in
        the step."""
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
        return str(
            [self._cast.plain(entry) if isinstance(entry, str) else entry for entry in result]
        )

    def create(self, config: Mapping[str, Any]) -> None:
        """Make the consumer."""
        self.send("create", step=False, config=dict(config))()

    def subscribe(
        self, *topics: str, pattern: str = "", poll: bool = True, **options: str
    ) -> Member:
        """Subscribe, and poll from now on."""
        self.topics = set(topics)
        self.send(
            "subscribe",
            step=False,
            **({"pattern": pattern} if pattern else {"topics": list(topics)}),
            **options,
        )()
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
        """Unsubscribe: leaves the group, and owns nothing, whether its listener is called or
        not."""
        self.send("unsubscribe")()
        self.topics = set()
        self.owned = set()

    def assign(self, *partitions: Placed) -> Member:
        """Take partitions by hand."""
        self.send("assign", f"assign {self._cast.labels(partitions)}", partitions=partitions)()
        return self

    def ask(self, do: str, *partitions: Placed) -> Any:
        """Pause, resume, committed, position, beginning_offsets, end_offsets, seek_to_... of
        partitions; or what takes none: paused..."""
        if not partitions:
            return self.send(do)()
        return self.send(do, f"{do} {self._cast.labels(partitions)}", partitions=partitions)()

    def seek(self, partition: Placed, offset: int) -> None:
        """Go to an offset."""
        self.send(
            "seek",
            f"seek {self._cast.label(*partition)} {offset}",
            partition=partition,
            offset=offset,
        )()

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
        self.send(
            "offsets_for_times", f"offsets_for_times {self._cast.labels(entries)}", times=entries
        )()

    def wakeup(self) -> None:
        """Interrupt the poll that is under way."""
        self.send("wakeup", step=False)()

    def close(self) -> None:
        """Close as an application would."""
        self.send("close")()
        self.here = False
        self.agent.leave(self._label)

    def gone(self) -> None:
        """It could not be made: its library refused to."""
        self.here = False
        self.agent.leave(self._label)

    # -- its process
    # ------------------------------------------------------------------------------------------------

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

    # -- what is awaited
    # --------------------------------------------------------------------------------------------

    def until_consumed(self, count: int) -> Member:
        """Wait until it has consumed so many records in all."""
        self._cast.wait(
            lambda: sum(map(len, self.records.values())) >= count,
            f"{self.name} to have {count} records",
        )
        return self

    def until_step(self, *beginnings: str) -> None:
        """Wait until one of its steps begins so."""
        self._cast.wait(
            lambda: any(step.startswith(beginnings) for step in self.steps),
            f"{self.name} to see {' or '.join(beginnings)}",
        )

    def until_owns(self, *partitions: Placed) -> None:
        """Wait until it owns exactly these."""
        self._cast.wait(
            lambda: self.owned == set(partitions),
            f"{self.name} to own {self._cast.labels(sorted(partitions))}",
        )

    def tally(self) -> None:
        """Put what it has consumed until now into its steps."""
        with self._cast.changed:
            self.steps.append(
                "so far "
                + " ".join(f"{at}={''.join(values)}" for at, values in sorted(self.records.items()))
            )
