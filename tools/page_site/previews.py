"""The pictures that chats and search engines show of the pages: one for each lesson, as PNG.

Made by a Chromium, from the very drawing that a reader sees. Knows no lesson's texts but its title
and its question.
"""

from __future__ import annotations

import subprocess
import tempfile
from html import escape
from pathlib import Path
from typing import Final

from tools.chromium import chromium

from .alone import as_file

SIZE: Final = (1200, 630)
"""As those who show previews ask for."""
_PAGE: Final = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; width: 1200px; height: 630px; overflow: hidden; background: #fff; color: #16202a; }}
body {{ font: 600 34px/1.25 system-ui, sans-serif; }}
h1 {{ font-size: 40px; margin: 28px 40px 6px; }} p {{ margin: 0 40px 14px; font-weight: 400; font-size: 28px; }}
svg {{ width: 1120px !important; height: auto !important; margin: 0 40px; }}
</style><h1>{title}</h1><p>{asks}</p>{svg}
"""


class NoChromiumError(RuntimeError):
    """No browser is there that could draw the previews."""


def write_preview(target: Path, title: str, asks: str, svg: str) -> None:
    """Draw a page's picture into a file. Raises NoChromiumError."""
    program = chromium()
    if program is None:
        raise NoChromiumError(
            "a Chromium draws the previews that --base-url asks for, and none was found (Debian: chromium-headless-shell)"
        )
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "preview.html"
        drawn = as_file(svg).replace("prefers-color-scheme: dark", "prefers-color-scheme: none")
        page.write_text(
            _PAGE.format(title=escape(title), asks=escape(asks), svg=drawn), encoding="utf-8"
        )
        subprocess.run(
            [
                program,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                f"--user-data-dir={folder}/profile",
                f"--window-size={SIZE[0]},{SIZE[1]}",
                f"--screenshot={target}",
                page.as_uri(),
            ],
            check=True,
            capture_output=True,
        )
