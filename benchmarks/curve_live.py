"""`python -m benchmarks.curve_live`: some points of the curve (docs/curve) measured live, on a real
broker in Docker.

Groups of this project's own members, one for each protocol of the curve and all of one size at the
same time, go through the events of `docs/curve/scenario.toml`: all join, one leaves, one is killed,
one joins, a tenth is restarted in five steps; at the same instants, in real time, with the same
chances: each run of a group draws when in fifteen seconds an event falls, how late each member's
heartbeats are, and when in its step each member goes. `docs/curve/live.csv` gets a row for each
event; `make curve` puts them beside the simulation. Traffic is not measured. `--bootstrap` takes a
running Kafka instead of Docker; rows of sizes and runs that are not measured this time stay.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from itertools import pairwise
from math import ceil
from pathlib import Path
from random import Random

from benchmarks.curve_ledger import Cost, Ledger
from coordinator.lab.pipeline.curve import EVENTS, TOPICS
from coordinator.lab.pipeline.curve_live import LiveRun, live_text, read_live
from coordinator.members import MemberConfig
from coordinator.members.live import Fleet, Peer
from coordinator.members.live.fleet import agree
from coordinator.members.live.recorder import Callback
from coordinator.testing.containers import RealKafka
from integration_tests.targets import real_broker_image, why_no_docker
from integration_tests.wire.make_topic import create_topic

WAYS: dict[str, dict[str, object]] = {
    "eager range": {"partition.assignment.strategy": "range"},
    "eager sticky": {"partition.assignment.strategy": "sticky"},
    "cooperative-sticky": {"partition.assignment.strategy": "cooperative-sticky"},
    "static members, range": {"partition.assignment.strategy": "range"},
    "KIP-848, uniform": {"group.protocol": "consumer", "group.remote.assignor": "uniform"},
}
"""The consumer settings of each protocol of the curve."""
BEGINS_S = {"join": 0.0, "leave": 120.0, "crash": 240.0, "one more": 360.0, "deployment": 480.0}
END_S = 660.0
STARTING_S, WITHIN_S, LATE_MS = 9.0, 15.0, 100
STEPS, STEP_S, DOWN_S, SPREAD_S = 5, 20.0, 5.0, 3.0
"""As `docs/curve/scenario.toml` has them."""


class LiveGroup:
    """One group: its members, by the numbers of the places that they fill, and its ledger."""

    def __init__(
        self,
        fleet: Fleet,
        protocol: str,
        members: int,
        topics: Sequence[str],
        partitions: int,
        run: int,
    ) -> None:
        self._fleet = fleet
        self._members = members
        self.draws = Random(f"{protocol} {members} {run}")
        self.begins_s = {
            event: begin + (self.draws.uniform(0, WITHIN_S) if begin else 0)
            for event, begin in BEGINS_S.items()
        }
        """When each event falls."""
        self._topics = topics
        self._partitions = partitions
        self._static = protocol.startswith("static")
        group_id = f"curve-{members}-{run}-{re.sub('[^a-z0-9]+', '-', protocol.lower())}"
        self._properties = {"group.id": group_id, "enable.auto.commit": False, **WAYS[protocol]}
        self._lives: dict[int, int] = {}
        self._peers: dict[int, Peer] = {}
        self._names: dict[Peer, str] = {}
        self._unsettled: set[Peer] = set()
        self._zero_ms = 0
        self.ledger = Ledger()

    def start(self, place: int) -> None:
        """Start the member of a place."""
        life = self._lives[place] = self._lives.get(place, 0) + 1
        name = f"{self._properties['group.id']}-{place}"
        own = {"client.id": name, **({"group.instance.id": name} if self._static else {})}
        peer = self._fleet.peer(
            MemberConfig.from_properties({**self._properties, **own}), topics=self._topics
        )
        peer.member.beats_late(self.draws.randint(0, LATE_MS))
        self._names[peer] = name if self._static else f"{name} {life}"
        self._peers[place] = peer
        self._unsettled.add(peer)

    def stop(self, place: int) -> None:
        """Let the member of a place close its consumer."""
        peer = self._peers.pop(place)
        self._unsettled.discard(peer)
        peer.close()

    def crash(self, place: int) -> None:
        """Kill the member of a place."""
        peer = self._peers.pop(place)
        self._unsettled.discard(peer)
        peer.crash()

    async def live(self) -> None:
        """Go through all events, from now on."""
        begin = self._fleet.loop.time()
        self._zero_ms = self._fleet.now()

        async def at(seconds: float, action: Callable[[int], None], place: int) -> None:
            await asyncio.sleep(max(begin + seconds - self._fleet.loop.time(), 0))
            action(place)

        rolling = max(self._members // 10, 1)
        rest = self._members - rolling
        steps: list[tuple[float, Callable[[int], None], int]] = [
            (self.draws.uniform(0, STARTING_S), self.start, place) for place in range(self._members)
        ]
        steps.append((self.begins_s["leave"], self.stop, rest - 1))
        steps.append((self.begins_s["crash"], self.crash, rest - 2))
        steps.append((self.begins_s["one more"], self.start, rest - 2))
        at_once = ceil(rolling / STEPS)
        for place in range(rest, self._members):
            turn = self.begins_s["deployment"] + (place - rest) // at_once * STEP_S
            goes = turn + self.draws.uniform(0, SPREAD_S)
            steps += [(goes, self.stop, place), (goes + DOWN_S, self.start, place)]
        await asyncio.gather(*(at(*step) for step in steps))

    def costs(self) -> list[Cost]:
        """What each event cost."""
        begins = [self._zero_ms + round(each * 1000) for each in (*self.begins_s.values(), END_S)]
        return [self.ledger.cost(*window) for window in pairwise(begins)]

    def told(self, peer: Peer, callback: Callback) -> bool:
        """A callback of any peer; whether it is one of this group."""
        name = self._names.get(peer)
        if name is None:
            return False
        places = [(each.topic, each.partition) for each in callback.partitions]
        (self.ledger.assigned if callback.kind == "assigned" else self.ledger.gone)(
            name, places, callback.at_ms
        )
        return True

    def changed(self, peer: Peer) -> bool:
        """Something happened to a peer; whether it is one of this group."""
        name = self._names.get(peer)
        if name is None:
            return False
        if peer.ended:
            self.ledger.ended(name, peer.now_ms)
            self._unsettled.discard(peer)
        elif peer in self._peers.values():
            (self._unsettled.discard if peer.settled else self._unsettled.add)(peer)
        living = list(self._peers.values())
        settled = not self._unsettled and self.ledger.owned == self._partitions and agree(living)
        self.ledger.looked(
            settled=settled, generation=living[0].generation if living else -1, at_ms=peer.now_ms
        )
        return True


async def live_through(
    bootstrap: str, members: int, protocols: Sequence[str], topics: Sequence[str], run: int
) -> dict[str, LiveGroup]:
    """Lead a group of each protocol through all events; the zero of their ledgers is the
    fleet's."""
    async with Fleet(bootstrap) as fleet:
        partitions = TOPICS * ceil(2 * members / TOPICS)
        groups = [
            LiveGroup(fleet, protocol, members, topics, partitions, run) for protocol in protocols
        ]

        def called_back(peer: Peer, callback: Callback) -> None:
            any(group.told(peer, callback) for group in groups)

        def changed(peer: Peer) -> None:
            any(group.changed(peer) for group in groups)

        fleet.on_callback, fleet.on_change = called_back, changed
        end = fleet.loop.time() + END_S
        await asyncio.gather(*(group.live() for group in groups))
        await asyncio.sleep(max(end - fleet.loop.time(), 0))
        return dict(zip(protocols, groups, strict=True))


def rows_of(groups: Mapping[str, LiveGroup], members: int, run: int, broker: str) -> list[LiveRun]:
    """Rows of live.csv."""
    return [
        LiveRun(protocol, members, run, event, tuple(cost), broker)
        for protocol, group in groups.items()
        for event, cost in zip(EVENTS, group.costs(), strict=True)
    ]


def write_rows(out: Path, rows: Sequence[LiveRun]) -> None:
    """Write live.csv; rows of other sizes and runs that stand there already stay. Raises ValueError
    if what stands there is no live.csv."""
    kept = read_live(out.read_text(encoding="utf-8")) if out.exists() else []
    measured = {(row.members, row.run) for row in rows}
    others = [row for row in kept if (row.members, row.run) not in measured]
    out.write_text(live_text([*others, *rows]), encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> int:
    """Measure; 0, or 2 for what cannot be."""
    parser = argparse.ArgumentParser(prog="curve_live", description=__doc__, allow_abbrev=False)
    parser.add_argument(
        "--sizes",
        default="10,50,100",
        help="members of the groups, with commas (default: %(default)s)",
    )
    parser.add_argument(
        "--bootstrap",
        metavar="HOST:PORT",
        help="a Kafka that runs already (default: a real broker in Docker)",
    )
    parser.add_argument(
        "--run", type=int, default=1, help="the number of this run, of which chance depends"
    )
    parser.add_argument(
        "--broker", default="a running Kafka", help="what --bootstrap is (default: %(default)s)"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("docs/curve/live.csv"),
        help="where the rows go (default: %(default)s)",
    )
    args = parser.parse_args(argv)
    try:
        sizes = [int(size) for size in args.sizes.split(",")]
    except ValueError:
        sizes = [0]
    if min(sizes) < 10:
        print(
            "curve_live: error: --sizes: whole numbers from 10 on, such as 10,100", file=sys.stderr
        )
        return 2
    with ExitStack() as stack:
        bootstrap, broker = args.bootstrap, args.broker
        if bootstrap is None:
            if reason := why_no_docker():
                print(
                    f"curve_live: error: {reason}; --bootstrap names a Kafka that runs already",
                    file=sys.stderr,
                )
                return 2
            image = real_broker_image()
            kafka = stack.enter_context(
                RealKafka(config={"group.initial.rebalance.delay.ms": "3000"}, image=image)
            )
            bootstrap, broker = kafka.bootstrap_servers, "Apache Kafka 4.3.1"
        for members in sizes:
            topics = [f"curve-{members}-{args.run}-{number}" for number in range(TOPICS)]
            for topic in topics:
                create_topic(bootstrap, topic, ceil(2 * members / TOPICS))
            groups = asyncio.run(live_through(bootstrap, members, list(WAYS), topics, args.run))
            write_rows(args.out, rows_of(groups, members, args.run, broker))
            print(f"groups of {members} members: {args.out}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
