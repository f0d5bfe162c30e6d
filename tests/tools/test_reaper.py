"""A command's processes are all counted, with those that outlive their parents, and told if they stay."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Final

import pytest

from tools import reaper

_BURNT_S: Final = 2.0
_BURN: Final = f"import time\nwhile time.process_time() < {_BURNT_S}: pass\n"
"""Code that uses so much processor time, and ends."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="orphans are Linux's")


def _reaped(code: str) -> tuple[subprocess.CompletedProcess[str], float]:
    """Run Python code below the reaper; what it said, and the processor time of all of it."""
    before = os.times()
    done = subprocess.run(
        [sys.executable, reaper.__file__, sys.executable, "-c", code],
        text=True,
        capture_output=True,
        check=False,
    )
    after = os.times()
    used = after.children_user + after.children_system
    return done, used - before.children_user - before.children_system


_ORPHAN: Final = (
    "import subprocess, sys\n"
    "orphan = subprocess.Popen([sys.executable, '-c', sys.argv[1]], stdout=subprocess.DEVNULL,\n"
    "    stderr=subprocess.DEVNULL)\n"
    "print(orphan.pid, flush=True)\n"
    "import os; os._exit(0)\n"
)
"""Code that starts other code, says its process id, and ends first."""
_STARTS: Final = (
    "import os, select, subprocess, sys\n"
    f"done = subprocess.run([sys.executable, '-c', {_ORPHAN!r}, CODE], capture_output=True)\n"
    "pid = int(done.stdout)\n"
    "print(pid, flush=True)\n"
)
_AWAITS: Final = (
    "try:\n    select.select([os.pidfd_open(pid)], [], [])\nexcept ProcessLookupError:\n    pass\n"
)
"""Code that waits for the end of a process that may be gone."""


def test_an_orphan_s_time_is_counted() -> None:
    done, used_s = _reaped(_STARTS.replace("CODE", repr(_BURN)) + _AWAITS)
    assert done.returncode == 0, done.stderr
    assert "left behind" not in done.stdout
    assert used_s >= _BURNT_S


def test_what_stays_is_named() -> None:
    done, _ = _reaped(_STARTS.replace("CODE", repr("import signal; signal.pause()")))
    pid, told = done.stdout.splitlines()
    os.kill(int(pid), signal.SIGKILL)
    assert done.returncode == 0
    assert told.startswith(f"left behind: {pid} ")


@pytest.mark.parametrize(
    ("code", "status"), [("raise SystemExit(3)", 3), ("import os; os.abort()", 134)]
)
def test_the_status_is_the_command_s(code: str, status: int) -> None:
    done, _ = _reaped(code)
    assert done.returncode == status
