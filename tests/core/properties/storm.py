"""A storm of requests against one coordinator: random members, versions and timeouts, valid, stale
and hostile, in random time.

One seed makes one run, step by step; after each step the judges look. They know the rules only as
invariants and stand apart from the code they judge: the log is folded a second time, counters are
counted again, every parked request is followed to its end. `python -m tests.core.properties.storm SEED
[STEPS]` repeats one run and prints every step.
"""

from __future__ import annotations

import random
import sys
from typing import Any

from coordinator.base.errors import ErrorCode
from coordinator.core.groups.classic.model import ClassicGroup
from tests.core.groups.callers import subscribe
from tests.core.groups.kit import World
from tests.core.properties.storm_judges import Judges

GROUPS = {"g": "abcd", "h": "ef"}
CLIENTS = "abcdef"
INSTANCES = (None, None, None, "i", "j")
TIMEOUTS = (*[300, 1_000, 1_500, 20_000] * 4, 0, 1, 50, (1 << 31) - 1, -1, -(1 << 31))
SESSIONS = (*[1_000, 3_000, 5_000] * 6, 100, 250, 1, 70_000)
PROTOCOLS: tuple[tuple[tuple[str, bytes], ...], ...] = (
    (("range", subscribe("t")),),
    (("range", subscribe("t", "u")),),
    (("range", subscribe("t")), ("sticky", b"s")),
    (("sticky", b"s"), ("range", subscribe("u"))),
    (("sticky", b""), ("roundrobin", b"\x00"), ("range", b"?")),
    (("range", b"1"), ("range", b"2")),
    (("other", b""),),
    (),
)
TICKS = (0, 1, 10, 10, 10, 40, 40, 99, 100, 260, 700, 3_000)
#: Long enough for every session, first join and pending id to run out.
CALM_MS = 60_000


class Storm:
    """One run. `run` raises AssertionError, or whatever broke, with the seed and the last steps."""

    def __init__(self, seed: int, loud: bool = False) -> None:
        self.chance = random.Random(seed)
        self.seed = seed
        self.loud = loud
        pick = self.chance.choice
        self.world = World(
            initial_rebalance_delay_ms=pick((0, 0, 100, 1_000)),
            max_size=pick((2, 3, 1 << 30)),
            min_session_timeout_ms=100,
            max_session_timeout_ms=5_000,
            new_member_join_timeout_ms=pick((2_000, 10_000)),
            offsets_retention_ms=pick((3_000, 1 << 40)),
            offsets_retention_check_interval_ms=5_000,
            record_limit=lambda limit=pick((600, 1 << 20)): limit,
        )
        self.available = True
        self.said: list[str] = []
        self.judges = Judges(self.world)

    def run(self, steps: int) -> None:
        """So many steps, then silence until everything parked is answered."""
        try:
            for _ in range(steps):
                self.step()
            self.calm()
        except Exception as fault:
            tail = "\n".join(self.said[-12:])
            fault.add_note(
                f"seed {self.seed}, step {len(self.said)}; python -m tests.core.properties.storm {self.seed} {steps}\n{tail}"
            )
            raise

    def step(self) -> None:
        """One action of anybody, then the judges."""
        action, weight = zip(*ACTIONS, strict=True)
        act = (
            self.chance.choices(action, weight)[0]
            if self.available or self.chance.random() < 0.7
            else Storm.move
        )
        self.world.group_id = self.chance.choice(sorted(GROUPS))
        if self.world.state in TOWARDS and self.chance.random() < 0.4:
            act = TOWARDS[self.world.state]
        self.judges.before()
        seen = len(self.world.calls)
        self.said.append(f"@{self.world.now} {act.__name__}")
        act(self)
        for call in self.world.calls[seen:]:
            self.said[-1] += f" {call!r}"
        if self.loud:
            print(self.said[-1])
        self.judges.after(self.world.calls[seen:])

    def calm(self) -> None:
        """Nobody asks any more: whatever is parked has to come to an end."""
        if not self.available:
            self.load()
        self.world.config.append_error = ErrorCode.NONE
        self.judges.before()
        self.world.advance(CALM_MS)
        self.judges.after([])
        self.judges.nothing_waits()
        self.judges.full_replay()

    # -- what anybody may do

    def who(self) -> str:
        """Mostly one who belongs to the group of this step."""
        return self.chance.choice(
            GROUPS[self.world.group_id] if self.chance.random() < 0.95 else CLIENTS
        )

    def identity(self, client: str) -> dict[str, Any]:
        """Mostly who the client is; sometimes somebody else, or nobody."""
        known = self.world.client(client)
        rng = self.chance.random()
        given: dict[str, Any] = {}
        if rng < 0.1:
            given["member_id"] = self.chance.choice(
                ["", "nobody", self.world.client(self.who()).member_id]
            )
        if 0.1 < rng < 0.15:
            given["instance"] = self.chance.choice(["i", "j", "nobody", ""])
        if 0.15 < rng < 0.2:
            given["instance"] = None
        if 0.2 < rng < 0.25:
            given["generation"] = self.chance.choice(
                [-1, 0, known.generation - 1, known.generation + 1]
            )
        return given

    def join(self) -> None:
        client, pick = self.who(), self.chance.choice
        given = self.identity(client)
        given.pop("generation", None)
        if self.chance.random() < 0.05:
            self.world.clients.pop(client, None)
        known = self.world.client(client)
        if not known.member_id and known.instance is None:
            known.instance = pick(INSTANCES)
        protocols = (
            PROTOCOLS[self.chance.randrange(4)] if self.chance.random() < 0.8 else pick(PROTOCOLS)
        )
        call = self.world.join(
            client,
            version=self.chance.randrange(10),
            protocols=protocols,
            kind=pick(["consumer"] * 9 + ["connect", ""]),
            session_ms=pick(SESSIONS),
            rebalance_ms=pick(TIMEOUTS),
            **given,
        )
        if not call.parked and call.error == 79 and self.chance.random() < 0.8:
            self.world.join(
                client,
                version=call.version,
                protocols=protocols,
                session_ms=1_000,
                rebalance_ms=pick(TIMEOUTS),
            )
        elif not call.parked and call.error in (23, 25, 82):
            known.member_id = pick([known.member_id, "", ""])

    def rejoin(self) -> None:
        """One who is still missing joins again, with what it said before."""
        missing = [m for m in self.world.group if not m.awaiting_join]
        if not missing:
            self.wait()
            return
        member = self.chance.choice(missing)
        client = next(
            (c for c in CLIENTS if self.world.client(c).member_id == member.member_id), "z"
        )
        kind = self.world.group.protocol_type or ""
        times = {
            "session_ms": member.session_timeout_ms,
            "rebalance_ms": member.rebalance_timeout_ms,
        }
        self.world.join(
            client, member_id=member.member_id, protocols=member.protocols, kind=kind, **times
        )

    def membership(self) -> ClassicGroup | None:
        group = self.world.coordinator.groups.get(self.world.group_id)
        return None if group is None else group.membership

    def sync(self) -> None:
        client = self.who()
        group = self.membership()
        if group and group.pending_sync and self.chance.random() < 0.8:
            owes = self.chance.choice([*group.pending_sync])
            client = next((c for c in CLIENTS if self.world.client(c).member_id == owes), client)
        shares = {
            c: bytes(self.chance.randrange(40)) for c in CLIENTS if self.chance.random() < 0.7
        }
        options: dict[str, Any] = self.identity(client)
        if group and self.chance.random() < 0.9:
            options |= {"protocol": group.protocol_name or "", "kind": group.protocol_type or ""}
        self.world.sync(client, shares, version=self.chance.randrange(6), **options)

    def heartbeat(self) -> None:
        client = self.who()
        if self.chance.random() < 0.5:  # everybody is well
            for name in GROUPS[self.world.group_id]:
                self.world.heartbeat(name)
        self.world.heartbeat(client, **self.identity(client))

    def leave(self) -> None:
        group = self.membership()
        waiting = [m for m in group if m.awaiting_sync] if group else []
        if waiting and self.chance.random() < 0.5:
            self.world.leave("admin", (waiting[0].member_id, None))
            return
        ids = [*group.members, *group.pending, "", "nobody"] if group else ["x"]
        pick = self.chance.choice
        who = [
            (pick(ids), pick(("i", "j", "x", *INSTANCES)))
            for _ in range(self.chance.choice((1, 1, 2, 4)))
        ]
        if self.chance.random() < 0.5:
            self.world.leave(self.who(), version=self.chance.randrange(6))
        else:
            self.world.leave("admin", *who, version=self.chance.choice((3, 5)))

    def commit(self) -> None:
        client = self.who()
        offsets = {
            (self.chance.choice("tuv"), self.chance.randrange(3)): self.chance.randrange(99)
            for _ in range(2)
        }
        options: dict[str, Any] = self.identity(client)
        if self.chance.random() < 0.2:
            options |= {"member_id": "", "generation": -1, "instance": None}
        retention = self.chance.choice((-1, -1, 500))
        self.world.commit(
            client, offsets, version=self.chance.choice((8, 9)), retention_ms=retention, **options
        )

    def look(self) -> None:
        w = self.world
        w.describe(version=self.chance.randrange(7), operations=True)
        w.list([self.chance.choice(("Stable", "empty", "?"))])
        if self.available:
            w.fetch(self.chance.choice((None, [("t", 0), ("v", 9)])))

    def delete_offsets(self) -> None:
        self.world.delete_offsets([(topic, p) for topic in "tuv" for p in range(2)])

    def delete_groups(self) -> None:
        self.world.delete(*GROUPS)

    def delete_topic(self) -> None:
        self.world.delete_partitions(*((self.chance.choice("tuv"), p) for p in range(3)))

    def wait(self) -> None:
        self.world.advance(self.chance.choice(TICKS))
        deadline = self.world.coordinator.next_deadline()
        assert deadline is None or deadline > self.world.now, (
            f"due at {deadline} but it is {self.world.now}"
        )

    def move(self) -> None:
        if self.available:
            self.world.unload()
            self.available = False
        else:
            self.load()

    def load(self) -> None:
        self.world.begin_load()
        self.world.heartbeat("a")
        self.world.finish_load()
        self.available = True

    def break_disk(self) -> None:
        self.world.config.append_error = self.chance.choice(
            (ErrorCode.NONE, ErrorCode.NONE, ErrorCode.NOT_ENOUGH_REPLICAS)
        )


#: What mostly has to be done next.
TOWARDS = {"PreparingRebalance": Storm.rejoin, "CompletingRebalance": Storm.sync}
ACTIONS = (
    (Storm.join, 34),
    (Storm.sync, 22),
    (Storm.heartbeat, 12),
    (Storm.wait, 16),
    (Storm.leave, 6),
    (Storm.commit, 6),
    (Storm.look, 2),
    (Storm.delete_offsets, 1),
    (Storm.delete_groups, 1),
    (Storm.delete_topic, 1),
    (Storm.move, 1.5),
    (Storm.break_disk, 1),
)


if __name__ == "__main__":
    Storm(int(sys.argv[1]), loud=True).run(int(sys.argv[2]) if len(sys.argv) > 2 else 400)
