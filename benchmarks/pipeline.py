"""The pipeline on Spark: `.venv-spark/bin/python -m benchmarks.pipeline [sweep standalone tables
live] [--simulations N] [--events N]`.

Sweep: the same simulations by plain multiprocessing, which writes nothing, and by a sweep on Spark,
which writes its tables; the session's start and the workers' first imports are rows of their own.
Standalone: the same sweep on a master with two one-core workers, and again with one worker killed
when a tenth of the bins is whole. Live: a log that grows by so many events a second, from their
writing to the end of the batch that has read them. Tables: logs of shipped scenarios in eight
files, from the start of `coordinator tables` to `_SUCCESS`, with the peak of the proportional
memory (PSS) of its whole process tree; then twice the events.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from threading import Event, Thread
from typing import NamedTuple, TextIO

from benchmarks.process import Row
from coordinator.events import EventLog
from coordinator.lab.pipeline.spark.live import Board, Follower
from coordinator.lab.pipeline.spark.session import session
from coordinator.lab.pipeline.spark.sweep import plan_bins, run_sweep
from coordinator.lab.pipeline.sweeps import Cell, Sweep, Variant, cells, run_cell
from coordinator.lab.simulator.files import catalogue
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario
from pipeline_tests.cluster import Cluster, standalone

PROCESSES = 2
FILES = 8
VARIETY = 128
"""How many simulations the logs of the tables have; a simulation takes longer than the tables of
it."""
SCENARIOS = ("poisson_churn", "rolling_deploy_dynamic", "crash_loop", "migration_to_consumer")
_SETTINGS = ("duration=8m",)
ALL = ("sweep", "standalone", "tables", "live")


def the_sweep(simulations: int) -> Sweep:
    """Simulations of about 100 ms on an idle core."""
    name = "one_crash_one_join"
    return Sweep(
        name,
        catalogue.text(name),
        (Variant("as it is", ()),),
        tuple(range(1, simulations + 1)),
        "metrics",
    )


def _plain(given: tuple[Cell, str, str]) -> int:
    rows: list[str] = []
    run_cell(*given, lambda table, row: rows.append(table))
    return len(rows)


def multiprocessing_s(sweep: Sweep) -> float:
    """How long plain multiprocessing takes for a sweep, without the start of its processes."""
    work = [(cell, sweep.scenario, sweep.text) for cell in cells(sweep)]
    with get_context("spawn").Pool(PROCESSES) as pool:
        pool.map(_plain, work[:PROCESSES], chunksize=1)  # imports
        began = time.perf_counter()
        for _ in pool.imap_unordered(_plain, work, chunksize=8):
            pass
        return time.perf_counter() - began


def sweeps(simulations: int, folder: Path) -> Iterator[Row]:
    """Throughput against plain multiprocessing."""
    sweep = the_sweep(simulations)
    plain_s = multiprocessing_s(sweep)
    yield Row(
        f"{simulations} simulations, multiprocessing, {PROCESSES} processes",
        simulations / plain_s,
        "/s",
    )
    began = time.perf_counter()
    spark = session("benchmark", f"local[{PROCESSES}]")
    yield Row("Spark's session: start", time.perf_counter() - began, "s")
    try:
        began = time.perf_counter()
        run_sweep(spark, the_sweep(PROCESSES), folder / "first")
        yield Row(
            f"the first sweep of a session, of {PROCESSES} simulations: workers import",
            time.perf_counter() - began,
            "s",
        )
        began = time.perf_counter()
        run_sweep(spark, sweep, folder / "sweep")
        spark_s = time.perf_counter() - began
    finally:
        spark.stop()
    yield Row(
        f"{simulations} simulations, sweep on local[{PROCESSES}]", simulations / spark_s, "/s"
    )
    yield Row("the same: of multiprocessing's throughput", 100 * plain_s / spark_s, "%", ">= 90 %")


def standalone_sweeps(simulations: int, folder: Path) -> Iterator[Row]:
    """The same on a standalone cluster; then with a worker that is killed midway. That nothing is
    lost is checked by the sweep itself."""
    sweep = the_sweep(simulations)
    plain_s = multiprocessing_s(sweep)
    yield Row(
        f"{simulations} simulations, multiprocessing, {PROCESSES} processes",
        simulations / plain_s,
        "/s",
    )
    for name, kill in (("whole", False), ("killed", True)):
        scratch = folder / name
        scratch.mkdir()
        with standalone(scratch) as cluster:
            spark = session("benchmark", cluster.url)
            try:
                run_sweep(spark, the_sweep(PROCESSES), scratch / "first")
                over, died = Event(), Event()

                def killer(
                    out: Path = scratch / "sweep",
                    cluster: Cluster = cluster,
                    over: Event = over,
                    died: Event = died,
                ) -> None:
                    while not over.wait(0.1):
                        if len(list(out.glob("tables/cells/chunk=*/cells.parquet"))) >= max(
                            1, bins_of(simulations) // 10
                        ):
                            cluster.doomed.kill()
                            died.set()
                            return

                watcher = Thread(target=killer if kill else over.wait)
                watcher.start()
                began = time.perf_counter()
                try:
                    swept = run_sweep(spark, sweep, scratch / "sweep")
                finally:
                    over.set()
                    watcher.join()
                spark_s = time.perf_counter() - began
            finally:
                spark.stop()
        if swept.by_status != {"ok": simulations} or kill != died.is_set():
            raise RuntimeError(f"{swept}, killed: {died.is_set()}")
        told = "one worker killed at a tenth" if kill else "two workers of one core"
        yield Row(
            f"{simulations} simulations, sweep on a standalone cluster, {told}",
            simulations / spark_s,
            "/s",
        )
        yield Row(
            "the same: of multiprocessing's throughput",
            100 * plain_s / spark_s,
            "%",
            "" if kill else ">= 85 %",
        )


def bins_of(simulations: int) -> int:
    """About how many bins the sweep has: one for each file of `cells` at its end."""
    return len(plan_bins([cell.weight for cell in cells(the_sweep(simulations))], PROCESSES))


def live(seconds: int, per_second: int, folder: Path) -> Iterator[Row]:
    """From the writing of an event to the end of the batch that has it, alerts told; the first two
    seconds do not count."""
    text = replayed((seconds + 2) * per_second)
    log = folder / "live.jsonl"
    log.touch()
    ends: list[tuple[int, float]] = []
    spark = session(
        "benchmark", f"local[{PROCESSES}]", settings={"spark.sql.shuffle.partitions": "2"}
    )
    try:
        board = Board(folder / "live", lambda alert: None)
        follower = Follower(spark, str(log), board, folder / "checkpoint")
        written: list[float] = []
        limit = time.perf_counter() + 20 * seconds + 300

        def write(file: TextIO, upto: int) -> None:
            file.write("".join(text[len(written) : upto]))
            file.flush()
            written.extend([time.perf_counter()] * (upto - len(written)))

        def look() -> None:
            follower.poll()
            if board.lines and (not ends or ends[-1][0] != board.lines):
                ends.append((board.lines, time.perf_counter()))
            time.sleep(0.01)
            if time.perf_counter() > limit:
                raise RuntimeError(
                    f"{board.lines} of {len(text)} lines were read in {20 * seconds + 300} s"
                )

        try:
            with log.open("a", encoding="utf-8") as file:
                for number in (1, 2):  # batches of a query that is starting: they are not counted
                    write(file, number * per_second)
                    while board.lines < number * per_second:
                        look()
                warm, began = board.lines, time.perf_counter()
                while board.lines < len(text):
                    look()
                    due = min(len(text), warm + int((time.perf_counter() - began) * per_second))
                    if due > len(written):
                        write(file, due)
            ends.append((len(text), time.perf_counter()))
        finally:
            follower.stop()
    finally:
        spark.stop()
    delays: list[float] = []
    batches = 0
    for (before, _), (upto, at) in pairwise(ends):
        if before >= warm and upto > before:
            batches += 1
            delays.extend(at - written[line] for line in range(before, upto))
    delays.sort()
    yield Row(
        f"live: {per_second} events/s for {seconds} s, {batches} batches: p50",
        delays[len(delays) // 2],
        "s",
    )
    yield Row("the same: p95", delays[len(delays) * 95 // 100], "s", "<= 2 s")


def replayed(events: int) -> list[str]:
    """So many lines of one shipped scenario, under as many run ids as it takes."""
    found: list[str] = []
    scenario = read_scenario(catalogue.text(SCENARIOS[0]), SCENARIOS[0], _SETTINGS)
    while len(found) < events:
        seed = len(found) + 1
        log = EventLog(run=f"run-{seed}", seed=seed)
        run_scenario(scenario, seed, log)
        found.extend(f"{line}\n" for line in log.lines)
    return found[:events]


def logs(events: int, folder: Path) -> int:
    """Write at least so many events into eight logs, from shipped scenarios in turn; how many bytes
    they have.

    So many simulations are run as `VARIETY` says; they are written again and again, each time under
    a run id of their own.
    """
    folder.mkdir()
    scenarios = [read_scenario(catalogue.text(name), name, _SETTINGS) for name in SCENARIOS]
    texts: list[tuple[int, str]] = []
    written = number = 0
    files = [(folder / f"{number}.jsonl").open("w", encoding="utf-8") for number in range(FILES)]
    while written < events or number % FILES:
        if number < VARIETY:
            log = EventLog(run="run-of-many", seed=number)
            run_scenario(scenarios[number // FILES % len(scenarios)], number, log)
            texts.append((len(log.lines), "".join(f"{line}\n" for line in log.lines)))
        lines, text = texts[number % VARIETY]
        files[number % FILES].write(text.replace('"run-of-many"', f'"run-{number}"'))
        written += lines
        number += 1
    for file in files:
        file.close()
    return sum(path.stat().st_size for path in folder.iterdir())


class Made(NamedTuple):
    """What `coordinator tables` took."""

    seconds: float
    cpu_s: float
    peak_mib: float
    said: str


def made_tables(source: Path, out: Path) -> Made:
    """Run it and watch its memory and its processor time."""
    peak, over = [0.0], Event()
    cpu_s: dict[int, float] = {}
    began = time.perf_counter()
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "coordinator",
            "tables",
            str(source),
            "--out",
            str(out),
            "--master",
            f"local[{PROCESSES}]",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )

    def watch() -> None:
        while not over.wait(0.5):
            tree = tree_of(process.pid)
            peak[0] = max(peak[0], pss_mib(tree))
            cpu_s.update(cpu_seconds(tree))

    watcher = Thread(target=watch)
    watcher.start()
    said, complaint = process.communicate()
    over.set()
    watcher.join()
    if process.returncode:
        raise RuntimeError(complaint[-2000:])
    return Made(time.perf_counter() - began, sum(cpu_s.values()), peak[0], said)


def tree_of(root: int) -> set[int]:
    """A process and all that it started and that has not ended."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    tree = {root}
    while grown := {pid for pid, parent in parents.items() if parent in tree} - tree:
        tree |= grown
    return tree


def cpu_seconds(tree: Iterable[int]) -> dict[int, float]:
    """The processor time that each process has had, as far as it is there still."""
    found = {}
    for pid in tree:
        try:
            words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        found[pid] = (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    return found


def pss_mib(tree: Iterable[int]) -> float:
    """The proportional memory of processes; what has ended meanwhile counts nothing."""
    total = 0
    for pid in tree:
        try:
            text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
    return total / 1024


def tables(events: int, folder: Path) -> Iterator[Row]:
    """Time and memory of the tables, and of twice as much."""
    made = []
    for factor in (1, 2):
        size = logs(factor * events, folder / f"logs-{factor}")
        one = made_tables(folder / f"logs-{factor}", folder / f"tables-{factor}")
        made.append(one)
        told = one.said.splitlines()[1]
        yield Row(f"tables: {told}; {size / 1e6:.0f} MB", one.seconds, "s")
        yield Row("the same: processor time of all processes", one.cpu_s, "s")
        yield Row("the same: peak PSS of driver, JVM and workers", one.peak_mib, "MiB", "<= 5120")
    yield Row("twice the events: time", made[1].seconds / made[0].seconds, "times", "<= 2.2")


def main() -> int:
    """Measure and print; 2 for a name that is none."""
    parser = argparse.ArgumentParser(prog="pipeline", description=__doc__, allow_abbrev=False)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"what to measure: {', '.join(ALL)} (default: all)"
    )
    parser.add_argument(
        "--simulations", type=int, default=2_000, help="of the sweeps (default: %(default)s)"
    )
    parser.add_argument(
        "--events",
        type=int,
        default=10_000_000,
        help="of the smaller tables (default: %(default)s)",
    )
    parser.add_argument(
        "--seconds", type=int, default=60, help="of the log that grows (default: %(default)s)"
    )
    parser.add_argument(
        "--per-second",
        type=int,
        default=5_000,
        help="events of the log that grows (default: %(default)s)",
    )
    parser.add_argument(
        "--scratch",
        help="a directory with room: 20 GB for the default (default: the system's for temporary files)",
    )
    args = parser.parse_args()
    unknown = [name for name in args.names if name not in ALL]
    if unknown or min(args.simulations, args.events, args.seconds, args.per_second) < 1:
        parser.error(
            f"{unknown[0]}: there are {', '.join(ALL)}" if unknown else "numbers are from 1 on"
        )
    for name in args.names or ALL:
        with tempfile.TemporaryDirectory(prefix="pipeline-", dir=args.scratch) as scratch:
            folder = Path(scratch)
            rows = {
                "sweep": lambda folder=folder: sweeps(args.simulations, folder),
                "standalone": lambda folder=folder: standalone_sweeps(args.simulations, folder),
                "tables": lambda folder=folder: tables(args.events, folder),
                "live": lambda folder=folder: live(args.seconds, args.per_second, folder),
            }[name]
            for row in rows():
                print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
