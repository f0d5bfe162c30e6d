"""The emulator's own image, and the sample application's.

Rule: everything is made outside and copied in, so that `docker build` needs no network: our wheel
by hatchling, the packages it stands on by pip, for the Python of the base and pinned with hashes in
requirements/dev.txt. Needs pip and hatchling beside this Python (`make setup`). The base that
stands where none can be pulled is that of `tools/emulator_base.py`.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tools.docker_build import ImageError, build, docker, existing_hash, hash_of
from tools.emulator_base import LOCAL_BASE_TAG, build_base, do, readable

ROOT = Path(__file__).resolve().parent.parent
EMULATOR = ROOT / "docker" / "emulator"
PULL_TIMEOUT_S = 180.0
PACKAGES = (
    "google-crc32c",
    "google-re2",
    "uvloop",
    "starlette",
    "uvicorn",
    "anyio",
    "click",
    "h11",
    "idna",
    "typing-extensions",  # the control port, and what it stands on
    "trustme",
    "cryptography",
    "cffi",
    "pycparser",  # certificates of a throw-away authority (the extra `security`)
)
EXAMPLE = ROOT / "examples" / "orders"
EXAMPLE_PACKAGES = ("kafka-python",)
_PINS = ROOT / "requirements" / "dev.txt"
# What a wheel is made of, as far as the image can show it.
_OURS = (ROOT / "coordinator", ROOT / "assignors", ROOT / "pyproject.toml", ROOT / "LICENSE")
_PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
_ASK = """
import json, platform, sys, sysconfig
version = f"{sys.version_info[0]}.{sys.version_info[1]}"
print(json.dumps([version, platform.machine(), platform.libc_ver()[1], sysconfig.get_config_var("SOABI")]))
"""


class Target(NamedTuple):
    """The Python of a base image: version such as 3.13, and the platforms whose wheels it can use,
    the best first."""

    version: str
    platforms: tuple[str, ...]


def build_emulator(
    tag: str, base: str | None = None, aliases: Sequence[str] = (), platform: str = ""
) -> None:
    """Build the emulator's image, unless there is one of the same sources. Without `base`: see
    `default_base`. Raises ImageError.

    `aliases`: other names for it. `platform`: one of `PLATFORMS`, "" for the daemon's; another one than
    that needs a machine that emulates it (binfmt).
    """
    base = base or default_base(platform)
    base_id = _local_id(base) or _pull(base, platform)
    interval = start_interval()
    sources = hash_of([*_OURS, EMULATOR, _PINS, Path(__file__)], also=[base_id, interval])
    if existing_hash(tag) == sources:
        for alias in aliases:
            docker("tag", tag, alias)
        return
    with tempfile.TemporaryDirectory(prefix="emulator-image-") as scratch:
        context = Path(scratch) / "context"
        shutil.copytree(EMULATOR, context)
        recipe = context / "Dockerfile"
        recipe.write_text(recipe.read_text().replace("HEALTHCHECK ", f"HEALTHCHECK {interval}"))
        target = _target(base, platform)
        _install(context / "site", target, PACKAGES)
        _strip(context / "site")
        _install_ours(context / "site", target, Path(scratch))
        readable(context)
        build(context, recipe, tag, {"BASE": base}, sources, aliases, platform)


def start_interval() -> str:
    """The flag that lets Docker look more often while a container starts, "" where its builder does
    not know it: it came with Docker 25 (API 1.44), and older ones refuse a file that has it."""
    said = docker("version", "--format", "{{.Server.APIVersion}}").stdout.strip()
    api = tuple(map(int, re.findall(r"\d+", said)[:2]))
    return "--start-interval=500ms " if api >= (1, 44) else ""


def build_example(tag: str, base: str | None = None) -> None:
    """Build the sample application's image on the same kind of base, unless there is one of the
    same sources. Raises ImageError."""
    base = base or default_base()
    base_id = _local_id(base) or _pull(base)
    sources = hash_of([EXAMPLE, _PINS, Path(__file__)], also=[base_id])
    if existing_hash(tag) == sources:
        return
    with tempfile.TemporaryDirectory(prefix="example-image-") as scratch:
        context = Path(scratch) / "context"
        shutil.copytree(EXAMPLE, context)
        _install(context / "site", _target(base), EXAMPLE_PACKAGES)
        readable(context)
        build(context, context / "Dockerfile", tag, {"BASE": base}, sources)


def default_base(platform: str = "") -> str:
    """The official image that the Dockerfile names if it is here or can be pulled; else the local
    base, which is built if need be. For a platform that is named: the local base, since a name that is
    pulled again for another platform would be that one's.

    Raises ImageError.
    """
    if platform:
        tag = f"{LOCAL_BASE_TAG.partition(':')[0]}:{platform.rpartition('/')[2]}"
        build_base(tag, platform)
        return tag
    found = re.search(r"^ARG BASE=(\S+)$", (EMULATOR / "Dockerfile").read_text(), re.MULTILINE)
    assert found
    official = found[1]
    try:
        _ = _local_id(official) or _pull(official)
    except ImageError as error:
        print(f"{error}; standing on a local base of Debian's packages instead", file=sys.stderr)
        build_base(LOCAL_BASE_TAG)
        return LOCAL_BASE_TAG
    return official


# -- the base image
# ------------------------------------------------------------------------------------------------------


def _local_id(image: str) -> str:
    """The id of an image that is here, "" for none. Raises ImageError if Docker cannot be asked."""
    return docker("image", "inspect", "--format", "{{.Id}}", image, check=False).stdout.strip()


def _pull(image: str, platform: str = "") -> str:
    """Fetch an image; its id. Raises ImageError."""
    try:
        docker("pull", "--quiet", *_flag(platform), image, timeout_s=PULL_TIMEOUT_S)
    except ImageError as error:
        raise ImageError(f"the base {image} is not here and cannot be pulled ({error})") from None
    return _local_id(image)


def _flag(platform: str) -> tuple[str, ...]:
    return ("--platform", platform) if platform else ()


def _target(base: str, platform: str = "") -> Target:
    """Ask a base for its Python. Raises ImageError."""
    asked = ("--network", "none", "--entrypoint", "python3", base, "-c", _ASK)
    done = docker("run", "--rm", *_flag(platform), *asked, check=False)
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise ImageError(f"the base {base} has no working python3: {said}{_emulation(said)}")
    version, machine, glibc, abi = json.loads(done.stdout)
    if tuple(map(int, version.split("."))) < (3, 11):
        raise ImageError(
            f"the base {base} has Python {version}; 3.11 or newer is needed, such as python:3.13-slim"
        )
    if "musl" in (abi or ""):
        return Target(version, (f"musllinux_1_2_{machine}", f"musllinux_1_1_{machine}"))
    newest = int(glibc.split(".")[1])
    named = [
        f"manylinux{year}_{machine}"
        for year, minor in (("2014", 17), ("2010", 12), ("1", 5))
        if minor <= newest
    ]
    return Target(
        version, (*(f"manylinux_2_{minor}_{machine}" for minor in range(newest, 4, -1)), *named)
    )


def _emulation(said: str) -> str:
    """What helps if programs of the platform do not run here."""
    if "exec format error" not in said.lower():
        return ""
    return " (another platform needs emulation: on Debian, `apt install qemu-user-static binfmt-support`)"


# -- what goes into the image
# ----------------------------------------------------------------------------------------------


def _install(site: Path, target: Target, packages: tuple[str, ...]) -> None:
    """Pinned packages for that Python. Raises ImageError."""
    site.mkdir(parents=True, exist_ok=True)
    pins = site.parent / "pins.txt"
    pins.write_text(pins_of(packages))
    command = [*_into(site, target), "--require-hashes", "--requirement", str(pins)]
    do(
        command,
        f"{', '.join(packages)} cannot be had for Python {target.version} on {target.platforms[0]}",
    )
    pins.unlink()


def _strip(site: Path) -> None:
    """Leave symbols for debuggers out of the packages' libraries: 15 MB. Without `strip`, or of
    another machine's libraries, they stay."""
    if shutil.which("strip") is None:
        return
    libraries = map(str, site.rglob("*.so"))
    command = ["strip", "--strip-unneeded", *libraries]
    subprocess.run(command, capture_output=True, check=False)


def _install_ours(site: Path, target: Target, scratch: Path) -> None:
    """Our own wheel, made now. Raises ImageError."""
    made = ["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(scratch), str(ROOT)]
    do([*_PIP, *made], "the wheel cannot be built")
    (wheel,) = scratch.glob("*.whl")
    do([*_into(site, target), "--no-index", str(wheel)], "the wheel cannot be installed")
    shutil.rmtree(site / "bin", ignore_errors=True)  # scripts that name this machine's Python


def _into(site: Path, target: Target) -> list[str]:
    """The command that installs wheels for another Python, and nothing else."""
    platforms = [part for platform in target.platforms for part in ("--platform", platform)]
    return [
        *_PIP,
        "install",
        "--target",
        str(site),
        "--no-deps",
        "--no-compile",
        "--only-binary",
        ":all:",
        "--implementation",
        "cp",
        "--python-version",
        target.version,
        *platforms,
    ]


def pins_of(packages: tuple[str, ...]) -> str:
    """The lines of requirements/dev.txt, hashes included, that pin these packages."""
    blocks = re.findall(r"^[^\s#](?:.*\\\n)*.*$", _PINS.read_text(), re.MULTILINE)
    by_name = {re.split(r"[=\s\[]", block, maxsplit=1)[0]: block for block in blocks}
    missing = [package for package in packages if package not in by_name]
    if missing:
        raise ImageError(f"requirements/dev.txt does not pin {', '.join(missing)}: run `make lock`")
    return "\n".join(by_name[package] for package in packages) + "\n"
