"""Pin every development dependency with its hashes: `make lock`.

Rule: requirements/dev.txt is the whole truth about what `make test` installs. It names packages, versions and hashes,
never an address, so that it installs from whatever index a machine is set up with. It holds for every Python and
platform we support, by environment markers. Needs `uv`, which it installs into a throw-away environment.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = """\
# Made by `make lock` from pyproject.toml (extra: dev). Versions and hashes only; do not edit by hand.
"""
COMPILE = (
    *("pip", "compile", "pyproject.toml", "--extra", "dev", "--universal", "--python-version", "3.11", "--generate-hashes", "--upgrade"),
    *("--no-emit-index-url", "--no-emit-find-links", "--no-annotate", "--no-header", "--quiet"),
)


def main() -> int:
    """Write requirements/dev.txt anew."""
    with tempfile.TemporaryDirectory() as scratch:
        venv.create(scratch, with_pip=True)
        subprocess.run([f"{scratch}/bin/python", "-m", "pip", "install", "--quiet", "uv"], check=True)
        pinned = subprocess.run([f"{scratch}/bin/uv", *COMPILE], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    lines = [line for line in pinned.splitlines() if line.strip() and not line.startswith("--")]
    (ROOT / "requirements" / "dev.txt").write_text(HEADER + "\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
