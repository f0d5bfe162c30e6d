"""What `coordinator peers` shows: a table redrawn in place on a terminal, plain lines elsewhere. Knows no protocol."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from shutil import get_terminal_size
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    import asyncio

    from assignors import TopicPartition
    from coordinator.members.live import Fleet, Peer

_REDRAW_S = 0.1
_MOST_LINES = 40


def partitions_text(partitions: Iterable[TopicPartition]) -> str:
    """Runs of partitions: "orders 0-3,7; payments 1". Nothing: a dash."""
    by_topic: dict[str, list[int]] = {}
    for topic, number in sorted(partitions):
        by_topic.setdefault(topic, []).append(number)
    return "; ".join(f"{topic} {_runs(numbers)}" for topic, numbers in by_topic.items()) or "-"


def _runs(numbers: Sequence[int]) -> str:
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def make_view(fleet: Fleet, group: str, out: TextIO | None = None) -> View:
    """The view that fits where the output goes."""
    out = sys.stdout if out is None else out
    return Table(fleet, group, out) if out.isatty() else View(fleet, group, out)


class View:
    """Plain lines: one for each generation all members have settled in, and one for each member whose share has changed."""

    def __init__(self, fleet: Fleet, group: str, out: TextIO) -> None:
        self._fleet = fleet
        self._group = group
        self._out = out
        self._peers: list[Peer] = []
        self._shown: dict[str, str] = {}
        self._generation = -1
        self._timer: asyncio.TimerHandle | None = None
        self._complained: set[Peer] = set()
        self.failed = False

    def start(self, peers: list[Peer]) -> None:
        """Watch these from now on."""
        self._peers = peers
        self.say(f"{len(peers)} members on their way into group {self._group}")
        self._fleet.on_change = self._changed

    def say(self, text: str) -> None:
        """A line of its own."""
        print(text, file=self._out, flush=True)

    def complain(self, text: str) -> None:
        """A line for people, apart from the output."""
        print(f"coordinator peers: {text}", file=sys.stderr, flush=True)

    def end(self) -> None:
        """The last words."""
        if self._timer is not None:
            self._timer.cancel()
        self.say("gone")

    def _changed(self, peer: Peer) -> None:
        if peer.fault is not None and peer not in self._complained:
            self._complained.add(peer)
            self.failed = True
            self.complain(f"{peer.client_id}: {peer.fault}")
        if self._timer is None:
            self._timer = self._fleet.loop.call_later(_REDRAW_S, self._due)

    def _due(self) -> None:
        self._timer = None
        self.draw()

    def draw(self) -> None:
        """Show what is new, once everybody agrees."""
        from coordinator.members.live.fleet import agree

        peers = [peer for peer in self._peers if not peer.ended]
        if not peers or not agree(peers) or peers[0].generation == self._generation:
            return
        self._generation = peers[0].generation
        self.say(self.headline(peers))
        for peer in peers:
            text = partitions_text(peer.owned)
            if self._shown.get(peer.client_id) != text:
                self._shown[peer.client_id] = text
                self.say(f"  {peer.client_id}: {text}")

    def headline(self, peers: list[Peer]) -> str:
        """One line about all of them."""
        owned = sum(len(peer.owned) for peer in peers)
        protocol = peers[0].member.generation.protocol_name
        leader = next((peer.client_id for peer in peers if peer.member.is_leader), "another member")
        count = f"{len(peers)} member{'s' if len(peers) > 1 else ''} here"
        return f"generation {peers[0].generation}: {count} with {owned} partitions, assigned by {leader} with {protocol}"


class Table(View):
    """The same as a table that stays where it is; what does not fit the terminal is counted."""

    def __init__(self, fleet: Fleet, group: str, out: TextIO) -> None:
        super().__init__(fleet, group, out)
        self._lines = 0

    def draw(self) -> None:
        """Write over what was there."""
        peers = [peer for peer in self._peers if not peer.ended]
        if not peers:
            return
        width, height = get_terminal_size()
        room = min(_MOST_LINES, max(1, height - 3))
        lines = [f"group {self._group}, {self.headline(peers)}"]
        for peer in peers[:room]:
            state = f"{peer.state!s:<21}{peer.generation:>4}"
            lines.append(f"{'*' if peer.member.is_leader else ' '} {peer.client_id:<16} {state}  {partitions_text(peer.owned)}")
        if len(peers) > room:
            lines.append(f"  and {len(peers) - room} more")
        up = f"\x1b[{self._lines}F" if self._lines else ""
        self._out.write(up + "".join(f"{line[:width]}\x1b[K\n" for line in lines) + "\x1b[J")
        self._out.flush()
        self._lines = len(lines)

    def say(self, text: str) -> None:
        """Below the table; what is drawn next goes below that."""
        super().say(text)
        self._lines = 0
