"""The local base of the emulator's image, for machines that cannot pull one: Debian's Python, of the packages that
apt knows, for this machine's platform or another one.

Packages of another platform come by an apt with a state of its own, so that the machine's is left as it is. What
is installed there runs under emulation. Needs apt-get, apt-cache, dpkg-deb and tar.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tools.docker_build import ImageError, build, existing_hash, hash_of

ROOT = Path(__file__).resolve().parent.parent
LOCAL_BASE = ROOT / "docker" / "emulator_base"
LOCAL_BASE_TAG = "kafka-group-coordinator-base:latest"
PLATFORMS: Final[Mapping[str, str]] = {"linux/amd64": "amd64", "linux/arm64": "arm64"}
"""By Docker's name of a platform: Debian's of its packages."""
Environment = Mapping[str, str]
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


def build_base(tag: str, platform: str = "") -> None:
    """Build the local base of the Debian packages that this machine's apt knows, unless there is
    one. Raises ImageError.

    `platform`: one of `PLATFORMS`, "" for this machine's.
    """
    sources = hash_of([LOCAL_BASE, Path(__file__)], also=[platform] if platform else [])
    if existing_hash(tag) == sources:
        return
    with tempfile.TemporaryDirectory(prefix="emulator-base-") as scratch:
        context = Path(scratch) / "context"
        shutil.copytree(LOCAL_BASE, context)
        _unpack(context / "rootfs", Path(scratch), _apt_of(platform, Path(scratch)))
        readable(context)
        build(context, context / "Dockerfile", tag, {}, sources, platform=platform)


def _apt_of(platform: str, scratch: Path) -> Environment:
    """The environment in which apt speaks of a platform's packages. For another one than this machine's:
    the same sources, a state of its own. Raises ImageError."""
    here = dict(os.environ)
    if not platform:
        return here
    if platform not in PLATFORMS:
        raise ImageError(f"platform {platform}: there are {', '.join(PLATFORMS)}")
    architecture = PLATFORMS[platform]
    if do(["dpkg", "--print-architecture"], "dpkg does not answer").strip() == architecture:
        return here
    for folder in ("state/lists/partial", "cache/archives/partial"):
        (scratch / "apt" / folder).mkdir(parents=True)
    (scratch / "apt" / "status").touch()
    (scratch / "apt" / "conf").write_text(
        f'APT::Architecture "{architecture}"; APT::Architectures "{architecture}"; APT::Sandbox::User "root";\n'
        f'Dir::State "{scratch}/apt/state"; Dir::State::status "{scratch}/apt/status"; Dir::Cache "{scratch}/apt/cache";\n'
    )
    foreign = {**here, "APT_CONFIG": str(scratch / "apt" / "conf")}
    do(["apt-get", "-qq", "update"], f"apt-get has no packages of {platform}", environment=foreign)
    return foreign


def _unpack(root: Path, scratch: Path, apt: Environment) -> None:
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
        _fetch(debs, apt)
    except ImageError:
        if os.geteuid():
            raise
        do(["apt-get", "-qq", "update"], "apt-get cannot renew its lists", environment=apt)
        _fetch(debs, apt)
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
        do(
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


def _fetch(debs: Path, apt: Environment) -> None:
    """Download the packages. Raises ImageError; apt's lists may be missing or too old."""
    do(
        ["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", *_debian_packages(apt)],
        "apt-get cannot fetch packages",
        cwd=debs,
        environment=apt,
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


def _debian_packages(apt: Environment) -> list[str]:
    """The packages of Debian's Python, and of the libraries that it needs. Raises ImageError."""
    (needed,) = _depends(["python3-minimal"], apt).values()
    pythons = [name for name in needed if re.fullmatch(r"python3\.\d+-minimal", name)]
    if not pythons:
        raise ImageError("apt knows no Python: run `apt-get update` first")
    version = pythons[0].removesuffix("-minimal")
    standard = f"lib{version}-stdlib"
    (optional,) = _depends([standard], apt).values()
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
            for names in _depends(new, apt).values()
            for name in names
            if name.startswith(("lib", "zlib"))
        ]
        new = [name for name in dict.fromkeys(needed) if name not in wanted]
    return wanted


def _depends(packages: list[str], apt: Environment) -> dict[str, list[str]]:
    """What packages need themselves. Raises ImageError."""
    said = do(
        ["apt-cache", "depends", *packages],
        f"apt does not know all of {', '.join(packages)} (run `apt-get update` first)",
        environment=apt,
    )
    needs: dict[str, list[str]] = {}
    needed: list[str] = []
    for line in said.splitlines():
        if not line.startswith(" "):
            needs[line] = needed = []
        elif found := re.match(r"\s*(?:Pre)?Depends: ([^<\s]+)$", line):
            needed.append(found[1])
    return needs


def do(
    command: list[str],
    failure: str,
    cwd: Path | None = None,
    environment: Environment | None = None,
) -> str:
    """What a command prints. Raises ImageError: `failure` and its last complaint."""
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=cwd, env=environment
    )
    if done.returncode:
        complaint = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
        raise ImageError(f"{failure}: {complaint[-1]}")
    return done.stdout


def readable(context: Path) -> None:
    """Whatever our umask: the image's user is somebody else, and must be able to read all of it."""
    for path in (context, *context.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    if (context / "rootfs").is_dir():
        (context / "rootfs" / "tmp").chmod(0o1777)
