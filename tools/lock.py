"""Pin every development dependency with its hashes: `make lock`.

Rule: the files in requirements/ are the whole truth about what `make test` installs: dev.txt into
.venv; docs.txt, release.txt and typed.txt into those of `make docs`, `make release` and
`make typed`; spark-build.txt, then spark.txt into .venv-spark (PySpark is a source package, so what builds
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
ALONE = {"typed": "basedpyright>=1.40"}
"""What the other files pin: tools that no extra has, since nobody needs them beside the package."""
HEADER = """\
# Made by `make lock` from {}. Versions and hashes only; do not edit by hand.
"""
COMPILE = (
    *(
        "pip",
        "compile",
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
    known = [*EXTRAS, *ALONE]
    unknown = [name for name in names if name not in known]
    if unknown:
        print(
            f"there is no requirements/{unknown[0]}.txt to pin; there are {', '.join(known)}",
            file=sys.stderr,
        )
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        venv.create(scratch, with_pip=True)
        subprocess.run(
            [f"{scratch}/bin/python", "-m", "pip", "install", "--quiet", "uv"], check=True
        )
        for name in names or known:
            if name in ALONE:
                source, origin = ["-"], "tools/lock.py"
            else:
                source = ["pyproject.toml", "--extra", EXTRAS[name]]
                origin = f"pyproject.toml (extra: {EXTRAS[name]})"
            command = [f"{scratch}/bin/uv", *COMPILE, *source]
            pinned = subprocess.run(
                command, cwd=ROOT, check=True, capture_output=True, text=True, input=ALONE.get(name)
            ).stdout
            lines = [
                line for line in pinned.splitlines() if line.strip() and not line.startswith("--")
            ]
            (ROOT / "requirements" / f"{name}.txt").write_text(
                HEADER.format(origin) + "\n".join(lines) + "\n"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
