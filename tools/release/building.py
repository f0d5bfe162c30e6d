"""Builds what is published, and checks each piece: `python -m tools.release build [--tag vX.Y.Z] [--without image,site]`.

dist/ gets the source archive and the wheel (checked by twine, imported in an empty environment), a
list of what is installed with them (CycloneDX), the documentation as an archive, notes from
CHANGELOG.md, and checksums of all. The image is built, for amd64 and arm64, and has to call itself healthy. What cannot
be had here is left out and named.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from tools.emulator_base import PLATFORMS
from tools.release.fields import ROOT, Release, ReleaseError

PARTS: Final = ("image", "site")
"""What may be left out."""
_HEALTHY_WITHIN_S: Final = 60.0


def build(release: Release, tag: str = "", without: Collection[str] = ()) -> list[str]:
    """Make dist/ anew; one line for each thing that was left out. Raises ReleaseError."""
    check_tag(release, tag)
    notes = changes(release)
    dist = ROOT / "dist"
    scratch = ROOT / "build" / "release"
    for folder in (dist, scratch):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    _run("the packages", [sys.executable, "-m", "hatchling", "build", "-d", str(dist)])
    _check_packages(release, dist, scratch)
    left_out = [*_images(release, without), _site(dist, without)]
    (dist / "NOTES.md").write_text(notes, encoding="utf-8")
    (dist / "SHA256SUMS").write_text(checksums(dist), encoding="utf-8")
    return [line for line in left_out if line]


def check_tag(release: Release, tag: str) -> None:
    """A tag names the version that is built. Raises ReleaseError."""
    if tag and tag != f"v{release.version}":
        raise ReleaseError(
            f"tag {tag}: coordinator/base/version.py says {release.version}, so the tag is v{release.version}"
        )


def changes(release: Release, root: Path = ROOT) -> str:
    """What CHANGELOG.md says of this version. Raises ReleaseError."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(
        rf"^## {re.escape(release.version)}\b[^\n]*\n(.*?)(?=^## |\Z)",
        text,
        re.DOTALL | re.MULTILINE,
    )
    if found is None:
        raise ReleaseError(f"CHANGELOG.md: no heading `## {release.version}`")
    return found[1].strip() + "\n"


def checksums(folder: Path) -> str:
    """As `sha256sum -c` reads them."""
    return "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(folder.iterdir())
        if path.name != "SHA256SUMS"
    )


def _check_packages(release: Release, dist: Path, scratch: Path) -> None:
    packages = sorted(map(str, dist.iterdir()))
    (wheel,) = (name for name in packages if name.endswith(".whl"))
    tools = _environment(scratch / "tools", "--require-hashes", "-r", "requirements/release.txt")
    _run("twine check", [str(tools / "twine"), "check", "--strict", *packages])
    user = _environment(scratch / "user", f"{wheel}[control,fast,security]")
    told = _run("the wheel", [str(user / "coordinator"), "--version"])
    if told.strip() != f"coordinator {release.version}":
        raise ReleaseError(f"the wheel calls itself {told.strip()!r}")
    _run(
        "the list of what is inside",
        [
            str(tools / "cyclonedx-py"),
            *("environment", "--output-reproducible", "--pyproject", "pyproject.toml"),
            *("-o", str(dist / "sbom.cdx.json"), str(user / "python")),
        ],
    )


def _environment(folder: Path, *wanted: str) -> Path:
    """An empty environment with these packages: where its commands are."""
    _run("an environment", [sys.executable, "-m", "venv", str(folder)])
    commands = folder / ("Scripts" if sys.platform == "win32" else "bin")
    pip = (str(commands / "python"), "-m", "pip", "install", "--quiet")
    _run("pip install", [*pip, "--disable-pip-version-check", *wanted])
    return commands


def _images(release: Release, without: Collection[str]) -> list[str]:
    """The image for this platform, which has to call itself healthy, and for the other one if its programs run here."""
    if "image" in without:
        return ["image: left out, as was asked"]
    if shutil.which("docker") is None or _status(["docker", "version"]):
        return ["image: left out, no Docker daemon answers"]
    tag = f"{release.image or 'kafka-group-coordinator'}:{release.version}"
    build_image = [sys.executable, "-m", "tools.images", "emulator"]
    _run("the image", [*build_image, "--tag", tag])
    _until_healthy(tag)
    here = _run("docker version", ["docker", "version", "--format", "{{.Server.Arch}}"]).strip()
    left_out = []
    for platform, architecture in PLATFORMS.items():
        if architecture == here:
            continue
        other = f"{tag}-{architecture}"
        try:
            _run("the image", [*build_image, "--platform", platform, "--tag", other])
            asked = ["docker", "run", "--rm", "--platform", platform, "--entrypoint", "coordinator"]
            _run("docker run", [*asked, other, "--version"])
        except ReleaseError as error:
            why = str(error).strip().splitlines()[-1]
            left_out.append(f"image for {platform}: left out, {why}")
    return left_out


def _until_healthy(tag: str) -> None:
    """A container of the image is started, and stopped when Docker calls it healthy. Raises ReleaseError."""
    container = _run("docker run", ["docker", "run", "--detach", "--rm", tag]).strip()
    try:
        asked = ["docker", "inspect", "--format", "{{.State.Health.Status}}", container]
        until = time.monotonic() + _HEALTHY_WITHIN_S
        while (told := _run("docker inspect", asked).strip()) != "healthy":
            if told == "unhealthy" or time.monotonic() > until:
                raise ReleaseError(f"the image {tag}: its health is {told!r}")
            time.sleep(0.2)
    finally:
        _status(["docker", "kill", container])


def _site(dist: Path, without: Collection[str]) -> str:
    if "site" in without:
        return "documentation: left out, as was asked"
    _run("the documentation", ["make", "docs"])
    with tarfile.open(dist / "documentation.tar.gz", "w:gz") as archive:
        archive.add(ROOT / "build" / "docs", "documentation")
    return ""


def _run(what: str, command: Sequence[str]) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ReleaseError(f"{what}: {' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def _status(command: Sequence[str]) -> int:
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode
