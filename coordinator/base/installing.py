"""The commands that install an extra, for error messages and for pages, and the addresses of pages
of the documentation.

Rule: a command that is shown works. As long as the distribution is not published (release.toml),
its name finds nothing: an extra is then installed from the checkout or the wheel file of this
installation, and if neither exists any more, the packages of the extra are named.
"""

from __future__ import annotations

import json
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from shlex import quote
from typing import Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

from .published import DOCUMENTATION, PUBLISHED

NAME: Final = "kafka-group-coordinator"
_ROOT: Final = Path(__file__).resolve().parents[2]


def pip_install(extra: str) -> str:
    """Return the command that adds an extra to this installation."""
    if PUBLISHED:
        return page_line(extra, published=True)
    if (_ROOT / "pyproject.toml").is_file():
        return f"pip install -e {quote(f'{_ROOT}[{extra}]')}"
    try:
        found = distribution(NAME)
    except PackageNotFoundError:  # the packages were copied
        return page_words(extra)
    origin = _origin(found)
    if origin is not None:
        return f"pip install {quote(f'{origin}[{extra}]')}"
    return f"pip install {' '.join(map(quote, _packages(found, extra)))}"


def lacks(what: str, extra: str, otherwise: str = "") -> str:
    """Return the error text for a missing extra: what is missing, the page, what works without it,
    and last the command that installs it, to be copied to the end of the line.
    """
    return (
        f"{what} ({see_agents()}){f'; {otherwise}; or' if otherwise else ''}: {pip_install(extra)}"
    )


def page_line(extra: str, *, published: bool = PUBLISHED) -> str:
    """Return the command as pages show it; before publication it is one for a checkout."""
    return f"pip install '{NAME if published else '.'}[{extra}]'"


def page_words(extra: str, *, published: bool = PUBLISHED) -> str:
    """Return the command and where to run it, for a sentence."""
    return f"{page_line(extra, published=published)}{'' if published else ' in a checkout'}"


def where(page: str, *, documentation: str = DOCUMENTATION) -> str:
    """Return the place of a page of the documentation: its address, or its file in a checkout."""
    return f"{documentation.rstrip('/')}/{page}/" if documentation else f"docs/{page}.md"


def see_agents() -> str:
    """Return the reference to docs/agents.md for an error that has a row there."""
    return f"see {where('agents')}"


def _origin(found: Distribution) -> Path | None:
    """Return the checkout or the file that pip installed from (PEP 610), if it still exists."""
    text = found.read_text("direct_url.json")
    if text is None:
        return None
    address = urlsplit(json.loads(text)["url"])
    if address.scheme != "file":
        return None
    origin = Path(url2pathname(address.path))
    return origin if origin.exists() else None


def _packages(found: Distribution, extra: str) -> list[str]:
    """Return the packages of an extra, without conditions."""
    wanted = [line.partition(";") for line in found.requires or ()]
    return [
        name.strip()
        for name, _, condition in wanted
        if f'extra == "{extra}"' in condition.replace("'", '"')
    ]
