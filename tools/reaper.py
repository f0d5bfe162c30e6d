"""Runs a command and collects all that it starts: `python -m tools.reaper COMMAND [ARGUMENT ...]`.

A process that outlives its parent, such as a Java broker of a test that ended first, comes to this
one, which waits for it. So the processor time of this process's children is that of all of them.
What still runs when the command has ended is named, and left alone. The status is the command's;
128 and the signal's number, if a signal ended it. Containers are no children of anybody here. On
systems other than Linux only those are counted whose parents wait for them.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

_PR_SET_CHILD_SUBREAPER: Final = 36
"""Of Linux's prctl(2): orphans among the descendants become children of the caller."""


def main(command: list[str]) -> int:
    """Run a command to its end."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    process = subprocess.Popen(command)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command has it too, and ends
    status = _await(process.pid)
    process.returncode = os.waitstatus_to_exitcode(status)
    for left in _still_there():
        print(f"left behind: {left}", flush=True)
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


def _await(wanted: int) -> int:
    """Wait for children, whoever they are, up to the end of that one, and for those that have
    ended by then; its status."""
    while True:
        pid, status = os.wait()
        if pid == wanted:
            break
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
    return status


def _still_there() -> list[str]:
    """The children that run on, each with its id and the beginning of its command line."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            words = (place / "cmdline").read_bytes().replace(b"\0", b" ")
        except OSError:
            continue  # it ended while we looked
        if parent == os.getpid():
            found.append(f"{place.name} {words.decode(errors='replace')[:200].strip()}")
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
