"""Output of `coordinator peers`: a table redrawn in place on a terminal, plain lines elsewhere.

Plain lines show every generation that all members were in, also the first of the two generations
of a cooperative rebalance, in which revoked partitions have no owner. It reads peers alone; it
must not know a protocol.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from shutil import get_terminal_size
from typing import TYPE_CHECKING, TextIO

from coordinator.base.printable import printable

if TYPE_CHECKING:
    import asyncio

    from assignors import TopicPartition
    from coordinator.members.live import Fleet, Peer
    from coordinator.members.live.recorder import Callback

_REDRAW_S = 0.1
_MOST_LINES = 40


def partitions_text(partitions: Iterable[TopicPartition]) -> str:
    """Return partitions as ranges: "orders 0-3,7; payments 1"; a dash if there are none."""
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


def how_many(members: int) -> str:
    """Return `1 member`, `5 members`."""
    return f"{members} member{'' if members == 1 else 's'}"


class Generation:
    """One generation by its members' callbacks: the owners, and the number of partitions revoked
    on the way into it."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.owned: dict[Peer, tuple[TopicPartition, ...]] = {}
        self.given_up = 0
        self.leader = "another member"
        self.protocol = ""

    def called_back(self, peer: Peer, callback: Callback) -> None:
        """Note a callback of this generation. Partitions that are revoked before any are
        assigned move to other members (KIP-429)."""
        if callback.kind == "assigned":
            self.owned[peer] = peer.owned
            self.protocol = str(peer.member.generation.protocol_name)
            if peer.member.is_leader:
                self.leader = peer.client_id
        elif callback.kind == "revoked" and peer not in self.owned:
            self.given_up += len(callback.partitions)

    def headline(self) -> str:
        """Return one line about all members."""
        text = headline(
            self.number,
            len(self.owned),
            sum(map(len, self.owned.values())),
            self.leader,
            self.protocol,
        )
        return (
            text
            if not self.given_up
            else f"{text}; {self.given_up} given up, to be assigned in the next generation"
        )


def headline(generation: int, members: int, owned: int, leader: str, protocol: str) -> str:
    """Return one line about all members in a generation."""
    partitions = f"{owned} partition{'' if owned == 1 else 's'}"
    return f"generation {generation}: {how_many(members)} here with {partitions}, assigned by {leader} with {protocol}"


def epoch_headline(epoch: int, members: int, owned: int) -> str:
    """Return the headline of a consumer group's epoch (KIP-848), where the coordinator assigns."""
    partitions = f"{owned} partition{'' if owned == 1 else 's'}"
    return f"epoch {epoch}: {how_many(members)} here with {partitions}, assigned by the coordinator"


def make_view(fleet: Fleet, group: str, out: TextIO | None = None) -> View:
    """Return a `Table` for a terminal, a `View` for other output."""
    out = sys.stdout if out is None else out
    return Table(fleet, group, out) if out.isatty() else View(fleet, group, out)


class View:
    """Plain lines: one for each generation that all members were in, and one for each member whose
    share has changed."""

    def __init__(self, fleet: Fleet, group: str, out: TextIO) -> None:
        self._fleet = fleet
        self._group = group
        self._out = out
        self._peers: list[Peer] = []
        self._watched: frozenset[Peer] = frozenset()
        self._shown: dict[str, str] = {}
        self._generation = -1
        self._generations: dict[int, Generation] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._complained: set[Peer] = set()
        self.failed = False

    def start(self, peers: list[Peer]) -> None:
        """Show these members from now on."""
        self._peers = peers
        self._watched = frozenset(peers)
        self.say(
            f"{how_many(len(peers))} on {'its' if len(peers) == 1 else 'their'} way into group {self._group}"
        )
        self._fleet.on_change = self._changed
        self._fleet.on_callback = self._called_back

    def say(self, text: str) -> None:
        """Print a line."""
        print(printable(text), file=self._out, flush=True)

    def complain(self, text: str) -> None:
        """Print a line for people to standard error."""
        print(f"coordinator peers: {printable(text)}", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Print the line "gone" and stop the timer."""
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

    def _called_back(self, peer: Peer, callback: Callback) -> None:
        if peer.member.config.speaks_consumer:
            return
        if callback.generation > self._generation and peer in self._watched:
            self._generations.setdefault(
                callback.generation, Generation(callback.generation)
            ).called_back(peer, callback)

    def _due(self) -> None:
        self._timer = None
        self.draw()

    def draw(self) -> None:
        """Print each new generation that all members are in or were in; skip one that some
        members never reached."""
        peers = [peer for peer in self._peers if not peer.ended]
        if peers and peers[0].member.config.speaks_consumer:
            self._show_epoch(peers)
            return
        for number in sorted(self._generations):
            generation = self._generations[number]
            if peers and all(peer in generation.owned for peer in peers):
                self._show(generation)

    def _show_epoch(self, peers: list[Peer]) -> None:
        """Show an epoch of the consumer protocol, in which members do not join together: it is
        shown when all are settled at one epoch."""
        epoch = peers[0].generation
        if epoch == self._generation or not all(
            peer.settled and peer.generation == epoch for peer in peers
        ):
            return
        self._generation = epoch
        self.say(epoch_headline(epoch, len(peers), sum(len(peer.owned) for peer in peers)))
        for peer in peers:
            self._show_share(peer, partitions_text(peer.owned))

    def _show_share(self, peer: Peer, text: str) -> None:
        """Show a member's partitions, if they have changed."""
        if self._shown.get(peer.client_id) != text:
            self._shown[peer.client_id] = text
            self.say(f"  {peer.client_id}: {text}")

    def _show(self, generation: Generation) -> None:
        self._generation = generation.number
        for number in [number for number in self._generations if number <= generation.number]:
            del self._generations[number]
        self.say(generation.headline())
        for peer in self._peers:
            if peer in generation.owned:
                self._show_share(peer, partitions_text(generation.owned[peer]))


class Table(View):
    """The same as `View`, as a table that is drawn over in place. Members that do not fit the
    terminal are counted."""

    def __init__(self, fleet: Fleet, group: str, out: TextIO) -> None:
        super().__init__(fleet, group, out)
        self._lines = 0

    def draw(self) -> None:
        """Draw the table over the one that was drawn before."""
        peers = [peer for peer in self._peers if not peer.ended]
        if not peers:
            return
        width, height = get_terminal_size()
        room = min(_MOST_LINES, max(1, height - 3))
        leader = next((peer.client_id for peer in peers if peer.member.is_leader), "another member")
        owned = sum(len(peer.owned) for peer in peers)
        first = peers[0]
        protocol = str(first.member.generation.protocol_name)
        consumer = first.member.config.speaks_consumer
        about = (
            epoch_headline(first.generation, len(peers), owned)
            if consumer
            else headline(first.generation, len(peers), owned, leader, protocol)
        )
        lines = [f"group {self._group}, {about}"]
        for peer in peers[:room]:
            state = f"{peer.state!s:<21}{peer.generation:>4}"
            lines.append(
                f"{'*' if peer.member.is_leader else ' '} {peer.client_id:<16} {state}  {partitions_text(peer.owned)}"
            )
        if len(peers) > room:
            lines.append(f"  and {len(peers) - room} more")
        up = f"\x1b[{self._lines}F" if self._lines else ""
        self._out.write(
            up + "".join(f"{printable(line)[:width]}\x1b[K\n" for line in lines) + "\x1b[J"
        )
        self._out.flush()
        self._lines = len(lines)

    def say(self, text: str) -> None:
        """Print a line below the table; the next table is drawn below that line."""
        super().say(text)
        self._lines = 0
