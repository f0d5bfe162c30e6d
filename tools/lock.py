"""Pin every development dependency with its hashes: `make lock`.

Rule: the files in requirements/ are the whole truth about what `make test` installs: dev.txt into
.venv; docs.txt and release.txt into those of `make docs` and `make release`; spark-build.txt, then
spark.txt into .venv-spark (PySpark is a source package, so what builds
it has to be there before it). They name packages, versions and hashes, never an address, so that
they install from whatever index a machine is set up with. They hold for every Python and platform
we support, by environment markers. Extras are named with the version: pip before 23.3 takes the
newest `package[extra]` of the index instead of the one that is pinned without its extra, and then
has no hash for it. Needs `uv`, which it installs into a throw-away environment.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = {
    "dev": "dev",
    "docs": "docs",
    "release": "release",
    "spark-build": "spark-build",
    "spark": "spark-test",
}
"""Which extra of pyproject.toml each file in requirements/ pins."""
HEADER = """\
# Made by `make lock` from pyproject.toml (extra: {}). Versions and hashes only; do not edit by hand.
"""
COMPILE = (
    *(
        "pip",
        "compile",
        "pyproject.toml",
        "--universal",
        "--python-version",
        "3.11",
        "--generate-hashes",
        "--upgrade",
    ),
    *(
        "--no-strip-extras",
        "--no-emit-index-url",
        "--no-emit-find-links",
        "--no-annotate",
        "--no-header",
        "--quiet",
    ),
)


def main(names: list[str]) -> int:
    """Write the named files of requirements/ anew, all of them if none is named; 2 for an unknown
    name."""
    unknown = [name for name in names if name not in EXTRAS]
    if unknown:
        print(
            f"there is no requirements/{unknown[0]}.txt to pin; there are {', '.join(EXTRAS)}",
            file=sys.stderr,
        )
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        venv.create(scratch, with_pip=True)
        subprocess.run(
            [f"{scratch}/bin/python", "-m", "pip", "install", "--quiet", "uv"], check=True
        )
        for name in names or EXTRAS:
            command = [f"{scratch}/bin/uv", *COMPILE, "--extra", EXTRAS[name]]
            pinned = subprocess.run(
                command, cwd=ROOT, check=True, capture_output=True, text=True
            ).stdout
            lines = [
                line for line in pinned.splitlines() if line.strip() and not line.startswith("--")
            ]
            (ROOT / "requirements" / f"{name}.txt").write_text(
                HEADER.format(EXTRAS[name]) + "\n".join(lines) + "\n"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
