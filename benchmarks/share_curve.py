"""What share groups (KIP-932) do with a queue's records, against the number of members, the lock duration
and how often members crash: the page docs/share_curve.md.

    python -m benchmarks.share_curve [--seeds 3] [--members 1,2,4,8] [--locks 15,60] [--crashes 0,2,6]

Each cell is a simulation under virtual time, once for each seed; what is shown is the median over
the seeds. Sizes are small on purpose: `make share-curve` computes the page in a few minutes.
"""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Final, NamedTuple

from coordinator.events import EventLog
from coordinator.history.judges import Judgement
from coordinator.lab.simulator.comparing.share_measures import ShareMeasures, measure_shares
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario, verdicts
from coordinator.lab.statistics import quantile

_BUSY_S: Final = 120
SCENARIO: Final = f"""
name = "share curve"
duration = "{_BUSY_S + 180}s"
[topics]
jobs = 4
[[groups]]
name = "workers"
config = {{ "share.auto.offset.reset" = "earliest", "share.record.lock.duration.ms" = 30000 }}
[[producers]]
name = "shop"
topics = "jobs"
rate = 40
batch = 1
stop = "{_BUSY_S}s"
config = {{ "linger.ms" = 200 }}
[[members]]
name = "worker"
protocol = "share"
group = "workers"
topics = "jobs"
count = 4
processing = "50ms"
config = {{ "max.poll.records" = 20 }}
[[faults]]
verb = "PauseMember"
member = "worker-1"
when = "poll"
of = "worker-1"
seen = 20
later = "30ms"
lasts = "70s"
"""
_CRASHES: Final = """
[[churn]]
kind = "restart"
members = "worker"
how = "crash"
at = "10s"
every = "{every_ms}ms"
times = {times}
down = "3s"
"""


class Cell(NamedTuple):
    """What is varied: so many members, a lock of so many seconds, so many crashes of each member a
    minute."""

    members: int
    lock_s: int
    crashes: int


def text_of(cell: Cell) -> str:
    """The cell's scenario."""
    text = SCENARIO.replace("count = 4", f"count = {cell.members}")
    text = text.replace('duration.ms" = 30000', f'duration.ms" = {cell.lock_s * 1000}')
    if not cell.crashes:
        return text
    times = max(1, cell.crashes * (_BUSY_S - 10) // 60)
    return text + _CRASHES.format(every_ms=60_000 // cell.crashes, times=times)


def measured(cell: Cell, seed: int) -> ShareMeasures:
    """One simulation. Raises AssertionError if a promise of Kafka's is broken in it."""
    scenario = read_scenario(text_of(cell), "share curve")
    log = EventLog(seed=seed)
    run_scenario(scenario, seed, log)
    lines = list(log.read())
    broken = [of.judge for of in verdicts(scenario, lines) if of.judgement is Judgement.BROKEN]
    assert not broken, f"{cell}, seed {seed}: {', '.join(broken)}"
    return measure_shares(lines)


def page(cells: Sequence[Cell], seeds: int, command: str) -> str:
    """The page, as Markdown."""
    rows = []
    for cell in cells:
        runs = [measured(cell, seed) for seed in range(1, seeds + 1)]
        accepted, per_s, again, _, ended, wait_s, slowest_s = (
            quantile([run[column] for run in runs], 0.5).value
            for column in range(len(ShareMeasures._fields))
        )
        share = 100 * again / accepted if accepted else 0.0
        varied = f"{cell.members} | {cell.lock_s} s | {cell.crashes}"
        times = f"{wait_s:.1f} s | {slowest_s:.0f} s"
        rows.append(f"| {varied} | {per_s:.1f} | {share:.1f} % | {ended:.0f} | {times} |")
    return _PAGE.format(
        table="\n".join(rows), seeds=seeds, command=command, busy_s=_BUSY_S, scenario=SCENARIO
    )


_PAGE: Final = """# What a queue's workers do with its records

Share groups (KIP-932) against the number of members, the lock duration and how often members crash, under virtual time. Four
partitions get 40 records a second for {busy_s} s; each member takes 50 ms over a record, and polls 20 at most, so that two members
can just do the work. All members are killed so many times a minute, and start again after 3 s; and once the first member stands
still with records in hand, for 70 s, unless it is killed meanwhile.

| members | lock | crashes a minute | accepted a second | delivered again | locks ended | time to accept | the slowest |
|---|---|---|---|---|---|---|---|
{table}

Accepted a second: by the time from the first delivery to the last. Delivered again: deliveries of records that had been delivered
before, by the records that were accepted. Locks ended: records that were taken back because their lock ended. Time to accept: from
when a record was written, on average and at most. Medians over {seeds} seeds each, which is few: the sizes are small, so that the
page can be computed anew in minutes.

Members come without a rebalance, and the work is done as fast as there are hands for it. A member that is killed gives its records
back at once, for its connections end with it: they come again, and are counted once more. A member that stands still keeps them
until their locks end: what it has in hand waits for so long.

Computed by `{command}`, from this scenario and variants of its count, lock and churn:

```toml{scenario}```
"""


def _numbers(text: str) -> list[int]:
    parts = text.split(",")
    if not all(part.isdecimal() for part in parts):
        raise ArgumentTypeError(f"{text!r}: give whole numbers with commas, such as 1,2,4")
    return [int(part) for part in parts]


def main(arguments: Sequence[str] | None = None) -> int:
    """Compute the page."""
    parser = ArgumentParser(prog="python -m benchmarks.share_curve", description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--members", type=_numbers, default=[1, 2, 4, 8])
    parser.add_argument("--locks", type=_numbers, default=[15, 60])
    parser.add_argument("--crashes", type=_numbers, default=[0, 2, 6])
    parser.add_argument("--out", type=Path, default=Path("docs/share_curve.md"))
    args = parser.parse_args(arguments)
    cells = [Cell(*each) for each in product(args.members, args.locks, args.crashes)]
    args.out.write_text(page(cells, args.seeds, "make share-curve"), encoding="utf-8")
    print(f"{args.out}: {len(cells)} cells, {args.seeds} seeds each")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
