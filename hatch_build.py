"""What hatchling asks of this project as it builds: README as a package index shows it, and a small wheel.

A package index has no files beside README, so its links into the checkout go to the repository that
release.toml names. As long as none is named they are words without a link.

A wheel has the shipped scenarios as one archive, since fifty small files take twice its room, and the
page's scripts without the comments that have lines of their own, which are a fifth of them. Where
the package `deflate` is installed, as by `make setup`, the wheel's files are compressed anew by
libdeflate, which finds shorter forms than zlib; what is unpacked from it is the same. Nothing else
is needed to build, so a wheel from the source archive is only a little larger.
"""

from __future__ import annotations

import re
import struct
import tempfile
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

SCENARIOS: Final = "coordinator/simulator/files/shipped.zip"
"""Where the wheel has the scenarios."""
SCRIPTS: Final = "coordinator/page/assets"
"""Where the page's own scripts are, in the checkout as in the wheel."""
_FOLDERS: Final = ("scenarios", "incidents")
COMMENT: Final = re.compile(r"^[ \t]*(?://.*|/\*(?:[^*]|\*(?!/))*\*/[ \t]*)\n", re.MULTILINE)
"""A comment that has its lines for itself."""

_LINK = re.compile(r"(!?)\[([^]\n]*)\]\((?!https?://|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")


class Readme(MetadataHookInterface):
    """The long description of the distribution."""

    def update(self, metadata: dict[str, Any]) -> None:
        root = Path(self.root)
        release = tomllib.loads((root / "release.toml").read_text(encoding="utf-8"))
        text = (root / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": on_an_index(text, release.get("repository", "")),
        }


def on_an_index(text: str, repository: str) -> str:
    """A page with its relative links made absolute, pictures too; without a repository words stay."""

    def link(found: re.Match[str]) -> str:
        picture, words, path, place = found.groups()
        if not repository:
            return words
        kind = "raw" if picture else "blob"
        return f"{picture}[{words}]({repository}/{kind}/main/{path}{place or ''})"

    return _LINK.sub(link, text)


class Wheel(BuildHookInterface[Any]):
    """The scenarios as one archive, scripts without comments, and each file as short as it can be."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        self._scratch = tempfile.TemporaryDirectory()
        scratch = Path(self._scratch.name)
        packed = scratch / "shipped.zip"
        pack_scenarios(Path(self.root) / SCENARIOS, packed)
        build_data["force_include"][str(packed)] = SCENARIOS
        for script in sorted((Path(self.root) / SCRIPTS).glob("*.js")):
            if self.build_config.include_path(f"{SCRIPTS}/{script.name}"):
                short = scratch / script.name
                short.write_text(without_comments(script.read_text("utf-8")), encoding="utf-8")
                build_data["force_include"][str(short)] = f"{SCRIPTS}/{script.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version == "editable":
            return
        self._scratch.cleanup()
        try:
            import deflate
        except ImportError:
            return
        wheel = Path(artifact_path)
        wheel.write_bytes(shortened(wheel, lambda data: bytes(deflate.deflate_compress(data, 12))))


def pack_scenarios(beside: Path, archive: Path) -> None:
    """Write the scenarios of the folders beside a file. They are not compressed here: the wheel does
    that, and sees what they have in common."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as made:
        for path in sorted(each for name in _FOLDERS for each in beside.with_name(name).iterdir()):
            if path.suffix == ".toml":
                name = zipfile.ZipInfo(f"{path.parent.name}/{path.name}")
                made.writestr(name, path.read_bytes())


def without_comments(script: str) -> str:
    """A script without the comments that stand on lines of their own."""
    return COMMENT.sub("", script)


def shortened(path: Path, compress: Callable[[bytes], bytes]) -> bytes:
    """A zip archive with the same files in the same order, each compressed by `compress` (raw DEFLATE)
    if that is shorter."""
    kept = path.read_bytes()
    files, listed = bytearray(), bytearray()
    with zipfile.ZipFile(path) as archive:
        end = bytearray(kept[-22:])
        place = struct.unpack_from("<I", end, 16)[0]
        for entry in archive.infolist():
            data = archive.read(entry)
            name, extra = struct.unpack_from("<HH", kept, entry.header_offset + 26)
            start = entry.header_offset + 30 + name + extra
            packed = kept[start : start + entry.compress_size]
            if entry.compress_type == zipfile.ZIP_DEFLATED:
                packed = min(packed, compress(data), key=len)
            header = bytearray(kept[entry.header_offset : start])
            row = bytearray(
                kept[place : place + 46 + sum(struct.unpack_from("<HHH", kept, place + 28))]
            )
            place += len(row)
            struct.pack_into("<III", header, 14, entry.CRC, len(packed), len(data))
            struct.pack_into("<III", row, 16, entry.CRC, len(packed), len(data))
            struct.pack_into("<I", row, 42, len(files))
            files += header + packed
            listed += row
    struct.pack_into("<II", end, 12, len(listed), len(files))
    return bytes(files + listed + end)
