"""The emulator's own image, the sample application's, and the local base for machines that cannot
pull one.

Rule: everything is made outside and copied in, so that `docker build` needs no network: our wheel
by hatchling, the packages it stands on by pip, for the Python of the base and pinned with hashes in
requirements/dev.txt; the local base of Debian's packages. Needs pip and hatchling beside this
Python (`make setup`), and apt-get, dpkg-deb and tar for the local base.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tools.docker_build import ImageError, build, docker, existing_hash, hash_of

ROOT = Path(__file__).resolve().parent.parent
EMULATOR = ROOT / "docker" / "emulator"
LOCAL_BASE = ROOT / "docker" / "emulator_base"
LOCAL_BASE_TAG = "kafka-group-coordinator-base:latest"
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
# Libraries of the standard library's optional parts that are worth their bytes.
_WANTED_LIBRARIES = ("libbz2", "libcrypt", "libffi", "liblzma", "libuuid")
_USELESS = (
    "usr/share",
    "usr/lib/*/gconv",
    "usr/lib/*/audit",
    "usr/lib/python3*/lib2to3",
    "usr/lib/python3*/pydoc_data",
    "usr/lib/python3*/distutils",
    "usr/lib/python3*/lib-dynload/_test*",
    "usr/lib/python3*/lib-dynload/_codecs_*",
    "usr/lib/*/libcrypto.a",
    "etc/*",
    "var",
    "run",
)
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


def build_emulator(tag: str, base: str | None = None, aliases: Sequence[str] = ()) -> None:
    """Build the emulator's image, unless there is one of the same sources. Without `base`: see
    `default_base`. Raises ImageError.

    `aliases`: other names for it.
    """
    base = base or default_base()
    base_id = _local_id(base) or _pull(base)
    sources = hash_of([*_OURS, EMULATOR, _PINS, Path(__file__)], also=[base_id])
    if existing_hash(tag) == sources:
        for alias in aliases:
            docker("tag", tag, alias)
        return
    with tempfile.TemporaryDirectory(prefix="emulator-image-") as scratch:
        context = Path(scratch) / "context"
        shutil.copytree(EMULATOR, context)
        target = _target(base)
        _install(context / "site", target, PACKAGES)
        _strip(context / "site")
        _install_ours(context / "site", target, Path(scratch))
        _readable(context)
        build(context, context / "Dockerfile", tag, {"BASE": base}, sources, aliases)


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
        _readable(context)
        build(context, context / "Dockerfile", tag, {"BASE": base}, sources)


def default_base() -> str:
    """The official image that the Dockerfile names if it is here or can be pulled; else the local
    base, which is built if need be.

    Raises ImageError.
    """
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


def build_base(tag: str) -> None:
    """Build the local base of the Debian packages that this machine's apt knows, unless there is
    one. Raises ImageError."""
    sources = hash_of([LOCAL_BASE, Path(__file__)])
    if existing_hash(tag) == sources:
        return
    with tempfile.TemporaryDirectory(prefix="emulator-base-") as scratch:
        context = Path(scratch) / "context"
        shutil.copytree(LOCAL_BASE, context)
        _unpack(context / "rootfs", Path(scratch))
        _readable(context)
        build(context, context / "Dockerfile", tag, {}, sources)


# -- the base image
# ------------------------------------------------------------------------------------------------------


def _local_id(image: str) -> str:
    """The id of an image that is here, "" for none. Raises ImageError if Docker cannot be asked."""
    return docker("image", "inspect", "--format", "{{.Id}}", image, check=False).stdout.strip()


def _pull(image: str) -> str:
    """Fetch an image; its id. Raises ImageError."""
    try:
        docker("pull", "--quiet", image, timeout_s=PULL_TIMEOUT_S)
    except ImageError as error:
        raise ImageError(f"the base {image} is not here and cannot be pulled ({error})") from None
    return _local_id(image)


def _target(base: str) -> Target:
    """Ask a base for its Python. Raises ImageError."""
    done = docker(
        "run", "--rm", "--network", "none", "--entrypoint", "python3", base, "-c", _ASK, check=False
    )
    if done.returncode:
        raise ImageError(
            f"the base {base} has no working python3: {(done.stderr.strip().splitlines() or ['it said nothing'])[0]}"
        )
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


# -- what goes into the image
# ----------------------------------------------------------------------------------------------


def _install(site: Path, target: Target, packages: tuple[str, ...]) -> None:
    """Pinned packages for that Python. Raises ImageError."""
    site.mkdir(parents=True, exist_ok=True)
    pins = site.parent / "pins.txt"
    pins.write_text(pins_of(packages))
    command = [*_into(site, target), "--require-hashes", "--requirement", str(pins)]
    _do(
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
    _do([*_PIP, *made], "the wheel cannot be built")
    (wheel,) = scratch.glob("*.whl")
    _do([*_into(site, target), "--no-index", str(wheel)], "the wheel cannot be installed")
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


def _unpack(root: Path, scratch: Path) -> None:
    """Unpack Debian's Python into `root`, without what nobody needs to run a program. Raises
    ImageError."""
    for command in ("apt-get", "apt-cache", "dpkg-deb", "tar"):
        if shutil.which(command) is None:
            raise ImageError(
                f"the local base needs Debian's {command}; give another base with --base, such as python:3.13-slim"
            )
    debs = scratch / "debs"
    debs.mkdir()
    try:
        _fetch(debs)
    except ImageError:
        if os.geteuid():
            raise
        _do(["apt-get", "-qq", "update"], "apt-get cannot renew its lists")
        _fetch(debs)
    for name in (
        "bin",
        "sbin",
        "lib",
        "lib64",
    ):  # as every Debian has it, whatever the packages say
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")
    for deb in sorted(debs.iterdir()):
        unpacked = scratch / "package.tar"
        with unpacked.open("wb") as out:
            subprocess.run(["dpkg-deb", "--fsys-tarfile", str(deb)], check=True, stdout=out)
        _do(
            [
                "tar",
                "-xf",
                str(unpacked),
                "--no-same-owner",
                "--keep-directory-symlink",
                "-C",
                str(root),
            ],
            f"{deb.name} cannot be unpacked",
        )
    for pattern in _USELESS:
        for path in root.glob(pattern):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    _finish(root)


def _fetch(debs: Path) -> None:
    """Download the packages. Raises ImageError; apt's lists may be missing or too old."""
    _do(
        ["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", *_debian_packages()],
        "apt-get cannot fetch packages",
        cwd=debs,
    )


def _finish(root: Path) -> None:
    """What packages make when they are installed: names, users, folders."""
    (python,) = [
        path
        for path in (root / "usr" / "bin").glob("python3.*")
        if re.fullmatch(r"python3\.\d+", path.name)
    ]
    (root / "usr/bin/python3").symlink_to(python.name)
    busybox = next(
        path for path in (root / "usr/bin/busybox", root / "usr/sbin/busybox") if path.exists()
    )
    for name in ("sh", "ls", "cat", "sleep", "env"):
        (busybox.parent / name).symlink_to("busybox")
    for folder in ("etc", "tmp", "root", "usr/local/bin", "opt"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    (root / "etc/passwd").write_text(
        "root:x:0:0::/root:/bin/sh\ncoordinator:x:10001:10001::/tmp:/bin/sh\n"
    )
    (root / "etc/group").write_text("root:x:0:\ncoordinator:x:10001:\n")
    (root / "etc/nsswitch.conf").write_text("hosts: files dns\n")


def _debian_packages() -> list[str]:
    """The packages of Debian's Python, and of the libraries that it needs. Raises ImageError."""
    (needed,) = _depends(["python3-minimal"]).values()
    pythons = [name for name in needed if re.fullmatch(r"python3\.\d+-minimal", name)]
    if not pythons:
        raise ImageError("apt knows no Python: run `apt-get update` first")
    version = pythons[0].removesuffix("-minimal")
    standard = f"lib{version}-stdlib"
    (optional,) = _depends([standard]).values()
    wanted = [standard, "busybox-static"]
    new = [
        pythons[0],
        "libstdc++6",
        *(name for name in optional if name.startswith(_WANTED_LIBRARIES)),
    ]
    while new:
        wanted += new
        needed = [
            name
            for names in _depends(new).values()
            for name in names
            if name.startswith(("lib", "zlib"))
        ]
        new = [name for name in dict.fromkeys(needed) if name not in wanted]
    return wanted


def _depends(packages: list[str]) -> dict[str, list[str]]:
    """What packages need themselves. Raises ImageError."""
    said = _do(
        ["apt-cache", "depends", *packages],
        f"apt does not know all of {', '.join(packages)} (run `apt-get update` first)",
    )
    needs: dict[str, list[str]] = {}
    needed: list[str] = []
    for line in said.splitlines():
        if not line.startswith(" "):
            needs[line] = needed = []
        elif found := re.match(r"\s*(?:Pre)?Depends: ([^<\s]+)$", line):
            needed.append(found[1])
    return needs


# -- small things
# ----------------------------------------------------------------------------------------------------------


def _do(command: list[str], failure: str, cwd: Path | None = None) -> str:
    """What a command prints. Raises ImageError: `failure` and its last complaint."""
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=cwd)
    if done.returncode:
        complaint = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
        raise ImageError(f"{failure}: {complaint[-1]}")
    return done.stdout


def _readable(context: Path) -> None:
    """Whatever our umask: the image's user is somebody else, and must be able to read all of it."""
    for path in (context, *context.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    if (context / "rootfs").is_dir():
        (context / "rootfs" / "tmp").chmod(0o1777)
