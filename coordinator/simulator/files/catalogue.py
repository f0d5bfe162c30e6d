"""The scenarios that come with the package: one TOML file each, whose header says what it teaches.

Those of `incidents/` are what happens to consumers in real life; the others are of one thing each.
A checkout has them in folders; an installed wheel has both folders in `shipped.zip`.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from io import BytesIO
from pathlib import PurePosixPath
from zipfile import ZipFile

from .reading import ScenarioError


def names() -> list[str]:
    """The names of those about one thing, sorted."""
    return sorted(_texts("scenarios"))


def incidents() -> list[str]:
    """The names of the incidents, sorted."""
    return sorted(_texts("incidents"))


def text(name: str) -> str:
    """A scenario's file. Raises ScenarioError that names what there is."""
    found = _texts("scenarios").get(name) or _texts("incidents").get(name)
    if found is None:
        known = names() + incidents()
        close = get_close_matches(name, known, 1)
        raise ScenarioError(
            f"there is no scenario {name}{f': did you mean {close[0]}?' if close else ': they are ' + ', '.join(known)}"
        )
    return found


@cache
def _texts(folder: str) -> dict[str, str]:
    """Those of one folder, by name."""
    here = files(__package__)
    packed = here / "shipped.zip"
    if not packed.is_file():
        there = [each for each in (here / folder).iterdir() if each.name.endswith(".toml")]
        return {each.name.removesuffix(".toml"): each.read_text(encoding="utf-8") for each in there}
    with ZipFile(BytesIO(packed.read_bytes())) as archive:
        paths = [PurePosixPath(name) for name in archive.namelist()]
        return {
            path.stem: archive.read(str(path)).decode()
            for path in paths
            if path.parent.name == folder
        }
