"""Agents as processes: started when first needed, spoken to line by line, dead when the run is.

Owns the processes, the numbering of commands and who gets which line. Does not depend on stories.
The contract is `integration_tests.clients.agent_protocol`.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from signal import SIGCONT, SIGKILL, SIGSTOP
from typing import Any, Self

from integration_tests.clients.variants import LIBRARIES

Line = dict[str, Any]
Heard = Callable[[Line], None]

_READY_S = 180.0
_END_S = 5.0


class AgentError(Exception):
    """An agent that does not start, or is gone: which, and its last words."""


class Agent:
    """One process of one library."""

    def __init__(self, library: str, log: Path) -> None:
        self.library = library
        self.log = log
        self.version = ""
        self._lock = threading.Lock()
        self._numbers = 0
        self._waiting: dict[int, Heard] = {}
        self._members: dict[str, Heard] = {}
        self._ready = threading.Event()
        self._gone = False
        with log.open("wb") as complaints:
            self._process = subprocess.Popen(
                LIBRARIES[library](),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                text=True,
                encoding="utf-8",
            )
        self._reader = threading.Thread(target=self._read, name=f"reads {library}", daemon=True)
        self._reader.start()

    @property
    def running(self) -> bool:
        """Has its process not ended?"""
        return self._process.poll() is None

    def wait_ready(self) -> Self:
        """Wait until it takes commands. Raises AgentError."""
        if not self._ready.wait(_READY_S) or self._gone:
            raise AgentError(f"the agent of {self.library} did not start: {self.last_words()}")
        return self

    def join(self, member: str, heard: Heard) -> None:
        """Hear this member's events; a line {"event": "agent gone"} when the process ends."""
        with self._lock:
            self._members[member] = heard

    def leave(self, member: str) -> None:
        """Hear them no more."""
        with self._lock:
            self._members.pop(member, None)

    def send(self, do: str, heard: Heard, **what: Any) -> None:
        """Send a command; `heard` is called, on the reading thread, with its reply."""
        with self._lock:
            if self._gone:
                raise AgentError(f"the agent of {self.library} is gone: {self.last_words()}")
            self._numbers += 1
            self._waiting[self._numbers] = heard
            assert self._process.stdin is not None
            try:
                self._process.stdin.write(
                    json.dumps({"id": self._numbers, "do": do, **what}) + "\n"
                )
                self._process.stdin.flush()
            except OSError:
                raise AgentError(
                    f"the agent of {self.library} is gone: {self.last_words()}"
                ) from None

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as output:
            for text in output:
                line = json.loads(text)
                if "ready" in line:
                    self.version = line["ready"]
                    self._ready.set()
                    continue
                with self._lock:
                    heard = (
                        self._waiting.pop(line["reply"], None)
                        if "reply" in line
                        else self._members.get(line["member"])
                    )
                if heard is not None:
                    heard(line)
        with self._lock:
            self._gone = True
            heirs = [*self._members.values(), *self._waiting.values()]
            self._waiting.clear()
        self._ready.set()
        for heard in heirs:
            heard({"event": "agent gone"})

    def kill(self) -> None:
        """kill -9: no goodbye."""
        self._process.send_signal(SIGKILL)
        self._process.wait()
        self._reader.join(_END_S)

    def freeze(self) -> None:
        """Stop its clock: to the others it is silent."""
        self._process.send_signal(SIGSTOP)

    def thaw(self) -> None:
        """Let it run on, as if no time had passed."""
        self._process.send_signal(SIGCONT)

    def end(self) -> None:
        """End its input, which ends it; kill it if that does not."""
        if self.running:
            self.thaw()
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
        except OSError:
            pass
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(_END_S)

    def last_words(self) -> str:
        """The end of its log."""
        lines = self.log.read_text(errors="replace").strip().splitlines()
        return " | ".join(lines[-3:]) if lines else "it said nothing"


class Agents:
    """All agents of a run: one shared for each library, and others for members that need a process
    of their own."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="client-agents-")
        self._lock = threading.Lock()
        self._shared: dict[str, Agent] = {}
        self._own: list[Agent] = []
        self._numbers = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for agent in [*self._shared.values(), *self._own]:
            agent.end()
        self._folder.cleanup()

    def shared(self, library: str) -> Agent:
        """The library's shared agent. Raises AgentError."""
        with self._lock:
            if library not in self._shared:
                self._shared[library] = self._start(library)
        return self._shared[library].wait_ready()

    def own(self, library: str) -> Agent:
        """A new agent; to be given back with `done`. Raises AgentError."""
        with self._lock:
            agent = self._start(library)
            self._own.append(agent)
        return agent.wait_ready()

    def done(self, agent: Agent) -> None:
        """End an agent that was somebody's own."""
        agent.end()
        with self._lock:
            self._own.remove(agent)

    def _start(self, library: str) -> Agent:
        self._numbers += 1
        return Agent(library, Path(self._folder.name) / f"{library}-{self._numbers}.log")
