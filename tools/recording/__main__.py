"""`python -m tools.recording FILE.jsonl.gz`: record the incident that the page's last lesson reads.

Two and a half minutes in real time: three groups of real clients, each a process, behind an uneven
network, on an emulator. The story is told here once and stands nowhere in the log, which knows
only requests: the learner is to find it.
"""

from __future__ import annotations

import gzip
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from coordinator import Emulator

from .jitter import Jitter

SEED: Final = 38
TOPICS: Final = {"orders": 8, "parcels": 6, "prices": 4}
CLIENTS: Final = {
    "billing": ("orders", "python", 4),
    "shipping": ("parcels", "cooperative", 3),
    "pricing": ("prices", "consumer", 2),
}
"""By group: what it reads, with which client, how many."""
STORY: Final = (
    (30, "close", "shipping-2"),
    (35, "start", "shipping-2"),
    (46, "close", "billing-4"),
    (50, "start", "billing-4"),
    (72, "pause", "billing-2"),
    (77, "busy 27", "billing-3"),
    (89, "resume", "billing-2"),
    (118, "close", "pricing-2"),
    (124, "kill", "shipping-1"),
    (138, "start", "shipping-1"),
)
"""What happens, in seconds: a deployment of shipping-2 and of billing-4; billing-2 stands still for
17 s, as in a long collection of garbage, while billing-3 works on a slow batch; a process of
shipping is killed, and started again."""
ENDS_S: Final = 152
_STOPPED: Final = b'"type":"CoordinatorStopped"'
"""The end of the recording is none of the story."""


class Fleet:
    """The clients' processes, by client id."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._running: dict[str, subprocess.Popen[str]] = {}

    def do(self, what: str, client: str) -> None:
        """Carry out one line of the story."""
        if what == "start":
            self._start(client)
            return
        process = self._running[client]
        match what:
            case "close":
                self._close(client)
            case "pause":
                process.send_signal(signal.SIGSTOP)
            case "resume":
                process.send_signal(signal.SIGCONT)
            case "kill":
                process.kill()
            case _:
                assert process.stdin is not None
                process.stdin.write(f"{what}\n")
                process.stdin.flush()

    def _start(self, client: str) -> None:
        group = client.rpartition("-")[0]
        topic, kind, _ = CLIENTS[group]
        command = [sys.executable, "-m", "tools.recording.client", self._address, group, topic]
        self._running[client] = subprocess.Popen(
            [*command, client, kind], stdin=subprocess.PIPE, text=True
        )

    def _close(self, client: str) -> None:
        stdin = self._running[client].stdin
        assert stdin is not None
        stdin.close()

    def end(self) -> None:
        """Stop all that still run."""
        for process in self._running.values():
            process.kill()
            process.wait()


def _starts() -> Iterator[tuple[int, str, str]]:
    for group, (_, _, count) in CLIENTS.items():
        for at in range(count):
            yield at, "start", f"{group}-{at + 1}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def record(path: Path) -> None:
    """Record it anew."""
    inside, outside = _free_port(), _free_port()
    emulator = Emulator(
        topics=TOPICS,
        seed=SEED,
        listen=f"127.0.0.1:{inside}",
        advertise=f"127.0.0.1:{outside}",
        config={"group.initial.rebalance.delay.ms": 3000},
        log=path,
    )
    with emulator as kafka, Jitter(outside, inside, SEED):
        for api in ("Heartbeat", "ConsumerGroupHeartbeat"):
            kafka.observe(api)
        begun, fleet = time.monotonic(), Fleet(f"127.0.0.1:{outside}")
        story = [*sorted(_starts()), *STORY]
        try:
            for at_s, what, client in story:
                time.sleep(max(0.0, begun + at_s - time.monotonic()))
                fleet.do(what, client)
            time.sleep(begun + ENDS_S - time.monotonic())
        finally:
            fleet.end()


def main(path: Path) -> None:
    """Record, and pack."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "incident.jsonl"
        record(log)
        kept, _, _ = log.read_bytes().partition(_STOPPED)
        whole = kept[: kept.rindex(b"\n") + 1]
        path.write_bytes(gzip.compress(whole, compresslevel=9, mtime=0))
    print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
