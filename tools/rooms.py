"""The picture of the rooms in docs/architecture.md, made of `.importlinter` and of the rooms' own
docstrings.

    python -m tools.rooms        # writes docs/rooms.svg
"""

from __future__ import annotations

import ast
import configparser
import re
import textwrap
from html import escape
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
PICTURE: Final = ROOT / "docs" / "rooms.svg"
_WIDTH: Final = 900
_GAP: Final = 12
_LINE: Final = 17
_LETTERS_A_UNIT: Final = 0.145
"""So many letters of the small text fit into one unit of width."""


def layers() -> list[list[str]]:
    """Return the rooms from the top down; those of one row do not know each other."""
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    rows = contracts["importlinter:contract:layers"]["layers"].split("\n")
    found = []
    for row in rows:
        if row.strip() and not row.strip().startswith(("#", "(__main__)")):
            names = [name.strip(" ()") for name in re.split(r"[|:]", row)]
            found.append([name for name in names if _is_room(name)])
    return [row for row in found if row]


def _is_room(name: str) -> bool:
    """Whether code stands there, and not only public names of what stands elsewhere."""
    start = ROOT / "coordinator" / name / "__init__.py"
    return start.exists() and not start.read_text().startswith('"""Public: ')


def purpose(room: str) -> str:
    """Return the first sentence of a room's docstring."""
    text = (ROOT / "coordinator" / room / "__init__.py").read_text()
    told = ast.get_docstring(ast.parse(text)) or ""
    first = re.split(r"\.(?=\s)|\n\n", told, maxsplit=1)[0]
    return " ".join(first.split()).rstrip(".:") + "."


def picture() -> str:
    """Return the picture as SVG."""
    boxes, top = [], _GAP
    for row in layers():
        width = (_WIDTH - _GAP * (len(row) + 1)) / len(row)
        texts = [textwrap.wrap(purpose(room), int(width * _LETTERS_A_UNIT)) for room in row]
        height = 30 + _LINE * max(len(lines) for lines in texts)
        for at, (room, lines) in enumerate(zip(row, texts, strict=True)):
            left = _GAP + at * (width + _GAP)
            boxes.append(
                f'<rect x="{left:.0f}" y="{top}" width="{width:.0f}" height="{height}" rx="6"/>'
                f'<text class="name" x="{left + 12:.0f}" y="{top + 21}">{room}</text>'
            )
            boxes += [
                f'<text x="{left + 12:.0f}" y="{top + 21 + _LINE * number}">{escape(line)}</text>'
                for number, line in enumerate(lines, 1)
            ]
        top += height + _GAP
    body = "\n".join(boxes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {top}" role="img" '
        'aria-label="Rooms of coordinator/, one above the other">\n'
        "<style>svg{background:#fff}rect{fill:#f4f6fa;stroke:#51617d}"
        "text{font:13px sans-serif;fill:#333}.name{font-weight:bold;font-size:15px;fill:#111}"
        f"</style>\n{body}\n</svg>\n"
    )


def main() -> None:
    """Write the picture."""
    PICTURE.write_text(picture())


if __name__ == "__main__":
    main()
