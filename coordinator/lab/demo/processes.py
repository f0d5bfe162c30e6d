"""Child processes of the demo: a server, a producer, consumers. They are started, read line by
line, and always ended. This module must not know the script."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from signal import SIGKILL, SIGTERM
from threading import Thread

from .report import Report

_PATIENCE_S = 60.0


class PlayerError(Exception):
    """A process did not do what it should: which, its output, and the file with more."""


class Player:
    """One child process. A thread reads its standard output; its standard error goes to a file."""

    def __init__(self, name: str, module: str, args: Sequence[str], folder: Path) -> None:
        self.name = name
        self.complaints = folder / f"{name}.err"
        self._lines: SimpleQueue[str | None] = SimpleQueue()
        with self.complaints.open("wb") as err:
            self._process = subprocess.Popen(
                [sys.executable, "-m", module, *args],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=err,
                text=True,
            )
        self._reader = Thread(target=self._read, name=f"reads {name}", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as output:
            for line in output:
                self._lines.put(line)
        self._lines.put(None)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def next_line(self, timeout_s: float) -> str | None:
        """Return its next line of output, or None if it ended or wrote nothing in time."""
        try:
            return self._lines.get(timeout=timeout_s)
        except Empty:
            return None

    def drain(self) -> list[str]:
        """Return its lines of output so far."""
        lines = []
        while not self._lines.empty():
            line = self._lines.get()
            if line is not None:
                lines.append(line)
        return lines

    def ask_to_stop(self) -> None:
        """Send SIGTERM: stop in good order."""
        self._process.send_signal(SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL. Does nothing if the process has ended."""
        self._process.send_signal(SIGKILL)
        self._process.wait()
        self._reader.join(_PATIENCE_S)

    def wait(self, timeout_s: float = _PATIENCE_S) -> int:
        """Wait until the process has ended and its output is read; return its exit status.
        Raises PlayerError if it does not end."""
        try:
            status = self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise PlayerError(
                f"{self.name} did not stop within {timeout_s:.0f} s; see {self.complaints}"
            ) from None
        self._reader.join(_PATIENCE_S)
        return status


class Company:
    """All processes of one performance. Use it in a `with` block: processes that still run at
    its end are killed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.players: dict[str, Player] = {}
        self.reports: list[Report] = []
        self._expected_to_run: set[str] = set()

    def __enter__(self) -> Company:
        return self

    def __exit__(self, *_: object) -> None:
        for player in self.players.values():
            player.kill()

    def start(self, name: str, module: str, *args: str) -> Player:
        """Start a player."""
        player = self.players[name] = Player(name, module, args, self.folder)
        self._expected_to_run.add(name)
        return player

    def listen(self) -> list[Report]:
        """Return the reports since the last call. Raises PlayerError if a process ended
        unexpectedly, or wrote a line that is no report."""
        news = []
        for name, player in self.players.items():
            ended = not player.running
            for text in player.drain() if name != SERVER else []:
                try:
                    news.append(Report.parse(name, text))
                except (ValueError, KeyError):
                    raise PlayerError(
                        f"{name} said something that is no report: {text.strip()!r}"
                    ) from None
            if ended and name in self._expected_to_run:
                raise PlayerError(
                    f"{name} ended with status {player.wait()}: {_last_words(player.complaints)}"
                )
        self.reports += news
        return news

    def stop(self, name: str) -> None:
        """Ask a player to stop in good order; it may take its time."""
        self._expected_to_run.discard(name)
        self.players[name].ask_to_stop()

    def kill(self, name: str) -> None:
        """Kill a process, and report that."""
        self._expected_to_run.discard(name)
        player = self.players[name]
        player.kill()
        self.listen()
        self.reports.append(Report(name, time.time() * 1000, "killed", {}))


SERVER = "server"


def start_server(company: Company, topic: str, partitions: int, log: Path) -> str:
    """Start `coordinator serve`; return its address when it listens. Raises PlayerError."""
    args = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--topic",
        f"{topic}:{partitions}",
        "--log",
        str(log),
    ]
    server = company.start(SERVER, "coordinator", *args)
    end = time.monotonic() + _PATIENCE_S
    while (left := end - time.monotonic()) > 0:
        line = server.next_line(left)
        if line is None:
            break
        if line.startswith("ready: "):
            return line.removeprefix("ready: ").strip()
    raise PlayerError(f"the server did not start: {_last_words(server.complaints)}")


def _last_words(complaints: Path) -> str:
    lines = complaints.read_text(errors="replace").strip().splitlines()
    return f"{lines[-1] if lines else 'it said nothing'} (see {complaints})"
