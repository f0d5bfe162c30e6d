"""What a story acts on: a shell that runs tools against one address, props set up by raw requests,
and the transcript.

A story is a function that is given a `Shell`. Every command leaves its lines in the transcript;
props leave none. Names are the story's own, since brokers live on from run to run. Nothing is
judged here.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol

from integration_tests.tools.runner import Done
from integration_tests.tools.transcript import Names
from integration_tests.wire import people
from integration_tests.wire.batches import batch
from integration_tests.wire.codec import TableCodec
from integration_tests.wire.recorder import Session, new_nonce

Play = Callable[["Shell"], None]


class Runs(Protocol):
    """Who runs a tool (`ToolJvms.run`, or `run_process`)."""

    def __call__(self, tool: str, arguments: Sequence[str], given: str = "") -> Done:
        """Run it to its end."""


@dataclass(frozen=True, slots=True)
class Story:
    """A named story; `profile` says which broker configuration it wants, `process` that its tools
    are processes of their own."""

    name: str
    play: Play
    profile: str = "plain"
    process: bool = False


class Shell:
    """A user's shell beside a broker. Use it as a context manager."""

    def __init__(self, address: str, runs: Runs, nonce: str) -> None:
        self.address = address
        self.transcript: list[str] = []
        self.session = Session(address, TableCodec(), nonce)
        self._runs = runs
        self._folder = tempfile.TemporaryDirectory(prefix="tools-")
        self._names = Names(nonce, address, {f"{self._folder.name}/": ""})

    def __enter__(self) -> Shell:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.session.close()
        self._folder.cleanup()

    # -- what leaves lines
    # -------------------------------------------------------------------------------------------

    def run(
        self,
        tool: str,
        *arguments: str,
        given: str = "",
        only: str = "",
        shuffled: bool = False,
        bare: bool = False,
    ) -> Done:
        """Run a tool and keep what it says.

        `only`: of the output nothing but lines that contain this text, where the whole would tell
        of other stories; `shuffled`: the lines' order is a hash map's whim; `bare`:
        `--bootstrap-server ADDRESS` is not put before the arguments.
        """
        done = self.quietly(tool, *arguments, given=given, bare=bare)
        self.say(f"$ {tool} {' '.join(_quoted(argument) for argument in arguments)}".rstrip())
        lines = [line for line in done.output.splitlines() if only in line]
        self.say(
            *(
                sorted(self._names.lines("\n".join(lines)))
                if shuffled
                else self._names.lines("\n".join(lines))
            )
        )
        self.say(*(f"! {line}" for line in self._names.lines(done.errors)))
        if done.status:
            self.say(f"= {done.status}")
        return done

    def quietly(self, tool: str, *arguments: str, given: str = "", bare: bool = False) -> Done:
        """Run a tool without a line: to wait for something, or to say of its output only what is no
        chance."""
        told = [] if bare else ["--bootstrap-server", self.address]
        return self._runs(tool, [*told, *arguments], given)

    def say(self, *lines: str) -> None:
        """Put lines into the transcript, without chance in them."""
        self.transcript.extend(self._names.line(line) for line in lines)

    # -- props
    # -------------------------------------------------------------------------------------------------------

    def name(self, label: str) -> str:
        """A topic, group or other name of this story's own; the transcript shows `label`."""
        return self.session.name(label)

    def file(self, name: str, content: str = "") -> str:
        """The path of a file with this content."""
        path = Path(self._folder.name) / name
        path.write_text(content, encoding="utf-8")
        return str(path)

    def topic(self, label: str, partitions: int = 1, *, records: int = 0, **configs: str) -> str:
        """A topic that serves, with so many records in each partition, a minute apart from
        `batches.TIMESTAMP_MS` on."""
        name = people.topic(self.session, label, partitions, **configs)
        if records:
            values = [f"value {number}".encode() for number in range(records)]
            for index in range(partitions):
                data = {"index": index, "records": batch(*values, step_ms=60_000)}
                answer = self.session.stage().ask_quietly(
                    "Produce",
                    9,
                    acks=-1,
                    timeout_ms=5000,
                    topic_data=[{"name": name, "partition_data": [data]}],
                )
                assert answer["responses"][0]["partition_responses"][0]["error_code"] == 0, answer
        return name

    def commits(self, group: str, topic: str, *offsets: int) -> None:
        """A simple commit (no members) of one offset for each partition from 0 on."""
        partitions = [
            {"partition_index": index, "committed_offset": offset}
            for index, offset in enumerate(offsets)
        ]
        answer = self.session.stage().ask_quietly(
            "OffsetCommit",
            8,
            group_id=group,
            generation_id_or_member_epoch=-1,
            member_id="",
            topics=[{"name": topic, "partitions": partitions}],
        )
        assert not any(
            partition["error_code"] for partition in answer["topics"][0]["partitions"]
        ), answer

    def member(
        self,
        group: str,
        topic: str,
        *partitions: int,
        client_id: str = "app",
        instance: str | None = None,
    ) -> people.Member:
        """The only member of a Stable group, with these partitions of the topic."""
        subscribed = people.protocols("range", metadata=people.subscription(topic))
        member = people.Member(
            self.session, client_id, group, instance=instance, protocols=subscribed
        )
        member.join()
        member.sync({member.member_id: people.assignment(topic, *partitions)})
        return member

    def topic_has(self, topic: str, partitions: int | None) -> None:
        """Wait until a change made by a tool is seen: so many partitions, or None: no such
        topic."""
        people.await_topic(self.session.stage(), topic, partitions)

    def until(self, settled: Callable[[], bool]) -> None:
        """Wait for what a broker does a moment after its answer."""
        self.session.until(settled, "what the story waits for never came")


def play(story: Story, address: str, runs: Runs) -> list[str]:
    """The transcript of one story. One that could not be played to its end says why in its last
    line."""
    with Shell(address, runs, new_nonce()) as shell:
        try:
            story.play(shell)
        except Exception as failed:
            shell.say(f"the story broke off: {type(failed).__name__}: {failed}")
        return shell.transcript


def _quoted(argument: str) -> str:
    return f"'{argument}'" if not argument or " " in argument else argument
