"""Images made from prepared contexts, without network: the only caller of `docker build`.

Rule: an image carries the hash of what it was made from as a label, so that whoever asks again with
the same sources gets the image that is there. The `docker` command is used, not a library, because
it knows the user's contexts and credentials; it works with the classic builder and with BuildKit.
Does not depend on what is in an image.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

LABEL = "kafka-group-coordinator.sources"
ANSWER_TIMEOUT_S = 30.0
BUILD_TIMEOUT_S = 900.0


class ImageError(Exception):
    """An image cannot be had: what failed, and what would help. One line."""


def hash_of(paths: Iterable[Path], *, also: Sequence[str] = ()) -> str:
    """A hash of files and folders: relative names, whether executable, and contents. `also`: other
    things the image depends on."""
    total = hashlib.sha256()
    for text in also:
        total.update(f"also {text}\n".encode())
    for path in paths:
        if not path.exists():
            raise ImageError(f"{path} is missing: it belongs to the image's sources")
        for file in _files(path):
            name = file.relative_to(path.parent).as_posix()
            content = hashlib.sha256(file.read_bytes()).hexdigest()
            total.update(f"{name} {os.access(file, os.X_OK):d} {content}\n".encode())
    return total.hexdigest()


def existing_hash(tag: str) -> str | None:
    """The hash that the image of this tag was made from; "" for an image of somebody else's, None
    for none. Raises ImageError."""
    done = docker("image", "inspect", "--format", "{{json .Config.Labels}}", tag, check=False)
    if done.returncode:
        if "no such image" in done.stderr.lower():
            return None
        raise ImageError(_reason("docker image inspect", done.stderr))
    return str((json.loads(done.stdout) or {}).get(LABEL, ""))


def build(
    context: Path,
    dockerfile: Path | str,
    tag: str,
    buildargs: Mapping[str, str],
    sources_hash: str,
    aliases: Sequence[str] = (),
    platform: str = "",
) -> None:
    """Build an image and tag it; images that lose their last tag by that go, unless a container
    needs them. `platform` as Docker has it, "" for the daemon's. Raises ImageError."""
    tags = (tag, *aliases)
    before = {_image_id(name) for name in tags} - {""}
    arguments = [
        part for name, value in buildargs.items() for part in ("--build-arg", f"{name}={value}")
    ]
    arguments += [part for name in tags for part in ("--tag", name)]
    arguments += ["--platform", platform] if platform else []
    docker(
        "build",
        "--force-rm",
        "--file",
        str(dockerfile),
        "--label",
        f"{LABEL}={sources_hash}",
        *arguments,
        str(context),
        timeout_s=BUILD_TIMEOUT_S,
    )
    for image in before:
        if (
            docker(
                "image", "inspect", "--format", "{{len .RepoTags}}", image, check=False
            ).stdout.strip()
            == "0"
        ):
            docker("image", "rm", image, check=False)


def docker(
    *arguments: str, timeout_s: float = ANSWER_TIMEOUT_S, check: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run the `docker` command to its end. Raises ImageError if Docker cannot be asked or, with
    `check`, if the command fails."""
    said = f"docker {arguments[0]}"
    try:
        done = subprocess.run(
            ["docker", *arguments], check=False, capture_output=True, text=True, timeout=timeout_s
        )
    except FileNotFoundError:
        raise ImageError(
            "no `docker` command: install Docker's client, or put it on the PATH"
        ) from None
    except subprocess.TimeoutExpired:
        raise ImageError(
            f"{said}: no end after {timeout_s:g} s; see whether the daemon is well with `docker version`"
        ) from None
    if done.returncode and (unreachable := _unreachable(done.stderr)):
        raise ImageError(unreachable)
    if done.returncode and check:
        raise ImageError(_reason(said, done.stderr or done.stdout))
    return done


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return sorted(
        file for file in path.rglob("*") if file.is_file() and "__pycache__" not in file.parts
    )


def _image_id(tag: str) -> str:
    return docker("image", "inspect", "--format", "{{.Id}}", tag, check=False).stdout.strip()


def _unreachable(text: str) -> str | None:
    """What to do when the daemon did not answer; None if it did."""
    low = text.lower()
    if "permission denied" in low and "daemon" in low:
        return "Docker refuses this user: join the group `docker`, or run as a user who may"
    if "cannot connect to the docker daemon" in low or "is the docker daemon running" in low:
        return "no Docker daemon answers: start one, or point DOCKER_HOST at one"
    return None


def _reason(said: str, text: str) -> str:
    """One line of what the command complained about: its last one that is no advice to read the
    manual."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and " --help" not in line]
    return f"{said} failed: {lines[-1] if lines else 'it gave no reason'}"
