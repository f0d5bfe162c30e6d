"""Players on the emulator: their processes, and what they say (`players/__init__.py` has the words)."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[2]
PATIENCE_S: Final = 60.0


class PlayerError(Exception):
    """A player that does not do what it was told, with its last words."""


class Call(NamedTuple):
    """How a player of a library is started. Its `folder` gets what it writes to standard error, in
    `complaints.txt`."""

    command: Sequence[str]
    folder: Path


class Player:
    """One process, which is one member."""

    def __init__(self, call: Call, *arguments: str) -> None:
        self.values: list[str] = []
        self.offsets: list[int] = []
        self._done = 0
        self._failed = ""
        self._changed = threading.Condition()
        with (call.folder / "complaints.txt").open("ab") as complaints:
            self._process = subprocess.Popen(
                [*call.command, *arguments],
                cwd=call.folder,
                env=os.environ | {"PYTHONPATH": str(ROOT), "NODE_NO_WARNINGS": "1"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                text=True,
            )
        self._reader = threading.Thread(target=self._listen, daemon=True)
        self._reader.start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as output:
            for line in output:
                self._hear(line)
        with self._changed:
            self._failed = self._failed or "it ended"
            self._changed.notify_all()

    def _hear(self, line: str) -> None:
        word, _, rest = line.strip().partition(" ")
        with self._changed:
            if word == "read":
                _, offset, value = rest.split(" ", 2)
                self.values.append(value)
                self.offsets.append(int(offset))
            elif word == "done":
                self._done += 1
            elif word == "failed":
                self._failed = rest
            self._changed.notify_all()

    def reads(self, values: Sequence[str]) -> None:
        """Wait until it has read as many records as these, and look whether they are these."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._failed or len(self.values) >= len(values), PATIENCE_S
            )
            if sorted(self.values) != sorted(values):
                raise PlayerError(f"it read {self.values}, not {list(values)}. {self._failed}")

    def told(self, order: str) -> None:
        """Give an order, and wait until it is done."""
        with self._changed:
            due = self._done + 1
        self._send(order)
        with self._changed:
            if not self._changed.wait_for(lambda: self._failed or self._done >= due, PATIENCE_S):
                raise PlayerError(f"it did not {order}")
            if self._done < due:
                raise PlayerError(f"it did not {order}: {self._failed}")

    def leaves(self) -> None:
        """Let it close its consumer and end."""
        self._send("leave")
        try:
            status = self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            raise PlayerError("it did not end after it was told to leave") from None
        self._reader.join(PATIENCE_S)
        if status:
            raise PlayerError(f"it ended with status {status}: {self._failed}")

    def _send(self, order: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(order + "\n")
            self._process.stdin.flush()
        except OSError:
            self._reader.join(PATIENCE_S)
            raise PlayerError(f"it did not {order}: {self._failed}") from None

    def dies(self) -> None:
        """kill -9."""
        self._process.kill()
        self._process.wait()
        self._reader.join(PATIENCE_S)

    def ends(self) -> None:
        """End the process whatever it does."""
        self.dies()
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
        except OSError:
            pass


@dataclass(slots=True)
class Cast:
    """The members of one group."""

    address: str
    group: str
    topic: str
    protocol: str
    call: Call
    players: list[Player] = field(default_factory=list)

    def enters(self, *, instance: str = "", topic: str = "", group: str = "") -> Player:
        """A new member."""
        arguments = [self.address, group or self.group, topic or self.topic, self.protocol]
        player = Player(self.call, *arguments, *([instance] if instance else []))
        self.players.append(player)
        return player

    def told_of(self, error: Exception) -> str:
        """An error in one line, with what players said as they failed."""
        said = [player._failed for player in self.players if player._failed not in ("", "it ended")]
        return " ".join([f"{type(error).__name__}: {' '.join(str(error).split())}", *said])

    def ends(self) -> None:
        """End all of them."""
        for player in self.players:
            player.ends()
