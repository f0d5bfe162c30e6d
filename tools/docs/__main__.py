"""The pages of the site, made ready for MkDocs: `python -m tools.docs`; `make docs` builds the site from them.

build/docs-pages gets docs/ as it is, a page of reference for each public module, and the lessons if
`make site` has built them. Pages stay plain Markdown: what MkDocs needs beyond it is added here.
Links that leave docs/ go to the repository, where release.toml names it, and are text elsewhere.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from typing import Final

from tools.public_names import NAMES
from tools.release.fields import ROOT, ReleaseError, read

PAGES: Final = ROOT / "build" / "docs-pages"
LESSONS: Final = ROOT / "build" / "site"
_OUTSIDE: Final = re.compile(r"\[([^]\n]+)\]\(((?:\.\./)+)([^)#\s]+)(#[^)]*)?\)")
_FOLDER: Final = re.compile(r"\]\(curve\)")


def main() -> int:
    """Write the pages; the exit status."""
    try:
        repository = read().repository
    except ReleaseError as error:
        print(error, file=sys.stderr)
        return 2
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(ROOT / "docs", PAGES)
    for page in PAGES.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        page.write_text(inside(text, repository), encoding="utf-8")
    for name, text in reference():
        target = PAGES / "api" / name
        target.parent.mkdir(exist_ok=True)
        target.write_text(found_last(text), encoding="utf-8")
    shutil.copy(ROOT / "CHANGELOG.md", PAGES / "changelog.md")
    text = (PAGES / "changelog.md").read_text(encoding="utf-8")
    (PAGES / "changelog.md").write_text(
        text.replace("](docs/curve)", "](curve/README.md)").replace("](docs/", "](")
    )
    if LESSONS.is_dir():
        shutil.copytree(LESSONS, PAGES / "lessons-site")
    return 0


def found_last(text: str) -> str:
    """A page that the site's search shows below those that explain: it has every word of the names in it."""
    return f"---\nsearch:\n  boost: 0.1\n---\n\n{text}"


def inside(text: str, repository: str) -> str:
    """A page's text with its links to files outside docs/ and to folders made fit for a site."""

    def link(found: re.Match[str]) -> str:
        words, _, target, _ = found.groups()
        return f"[{words}]({repository}/blob/main/{target})" if repository else words

    return _FOLDER.sub("](curve/README.md)", _OUTSIDE.sub(link, text))


def reference() -> Iterator[tuple[str, str]]:
    """The pages of reference: an index, and one for each public module."""
    rows = "\n".join(
        f"| [`{module}`]({module}.md) | {', '.join(f'`{name}`' for name in names)} |"
        for module, names in NAMES.items()
    )
    yield (
        "index.md",
        f"# Reference\n\nWhat is public in Python. [Promises](../compatibility.md)\n\n| module | names |\n|---|---|\n{rows}\n",
    )
    for module, names in NAMES.items():
        members = "".join(f"        - {name}\n" for name in names if not name.startswith("__"))
        yield f"{module}.md", f"# {module}\n\n::: {module}\n    options:\n      members:\n{members}"


if __name__ == "__main__":
    sys.exit(main())
