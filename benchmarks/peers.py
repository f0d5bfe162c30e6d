"""A thousand members of our own in one process: how soon they are all Stable, and what they cost
when nothing happens.

The clock starts when the process says that its members are on their way, so interpreter and imports
are not in it. Idle cost is processor time, which a busy machine stretches less than wall time.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time

from benchmarks.process import Row, ServerProcess, server

_PEERS = 1000
_IDLE_S = 15.0
_SETTLED = re.compile(r"generation \d+: (\d+) members here")


def _measure(peers: int, idle_s: float) -> tuple[float, float, float]:
    """(seconds until all are Stable, share of a core when idle, resident bytes)."""
    with server("--topic", f"orders:{peers}") as serving:
        bootstrap = f"{serving.address[0]}:{serving.address[1]}"
        command = [
            sys.executable,
            "-u",
            "-m",
            "coordinator",
            "peers",
            "--bootstrap",
            bootstrap,
            "--group",
            "bench",
            "--topics",
            "orders",
            "-n",
            str(peers),
            "--assignor",
            "cooperative-sticky",
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                assert "on their way" in process.stdout.readline()
                began = time.perf_counter()
                for line in process.stdout:
                    found = _SETTLED.match(line)
                    if found and int(found[1]) == peers:
                        break
                stable_s = time.perf_counter() - began
                for _ in range(peers):  # one line a member says what it owns
                    process.stdout.readline()
                fleet = ServerProcess(process, serving.address, 0.0)
                time.sleep(3)
                before = fleet.cpu_s()
                time.sleep(idle_s)
                return stable_s, (fleet.cpu_s() - before) / idle_s, float(fleet.resident_bytes())
            finally:
                process.kill()


def run(peers: int = _PEERS, idle_s: float = _IDLE_S) -> list[Row]:
    """Measure once."""
    stable_s, share, resident = _measure(peers, idle_s)
    return [
        Row(f"{peers} live peers: on their way to all Stable", stable_s, "s", "<= 2"),
        Row(
            f"{peers} live peers, idle, a heartbeat every 3 s each",
            share * 100,
            "% of a core",
            "<= 2",
        ),
        Row(f"{peers} live peers: resident memory of their process", resident / 1e6, "MB"),
    ]


if __name__ == "__main__":
    print(*run(), sep="\n")
