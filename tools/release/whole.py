"""Files that are made from release.toml as a whole: what is said of weaknesses, how the project is cited, and
what the installed package knows of the release."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from coordinator.base.installing import NAME
from tools.release.fields import Release


def security(release: Release) -> str:
    """SECURITY.md."""
    contact = release.security_contact
    if contact and "@" in contact and "://" not in contact:
        contact = f"[{contact}](mailto:{contact})"
    how = (
        f"Write to {contact}, and not in public, until there is a version without it. Say which version, what you did, and what came of it."
        if contact
        else "This copy names no contact yet (`security_contact` in release.toml). Tell whoever you got it from, and not in public."
    )
    return f"""\
<!-- Made from release.toml by `python -m tools.release write`. -->
# Security

## Reporting a weakness

{how}

## What is a weakness here

The emulator is for tests. It listens on loopback unless `--allow-remote` is given, keeps everything in memory, and asks nobody for
credentials unless [security is switched on](docs/security.md). So these are weaknesses:

- a client that makes it run code, or read or write files that it was not told to;
- a client that is let in, or does, what the emulator's own users, rights or token should refuse;
- a secret (a password, a token, a private key) in a log, an error message or an image;
- bytes from a client that stop it, or take more memory than its limits say.

That anybody who reaches an open port can use it is no weakness: publish the port only where that is meant.

## Versions

The newest version gets corrections; this one is {release.version}.
"""


def citation(release: Release) -> str:
    """CITATION.cff. The format wants an author: without one it is the project."""
    people = [
        line
        for each in release.authors
        for line in (f'  - name: "{each.name}"', f'    email: "{each.email}"' if each.email else "")
        if line
    ] or [f'  - name: "{NAME} contributors"']
    addresses = [
        f'{key}: "{value}"'
        for key, value in (
            ("repository-code", release.repository),
            ("url", release.documentation),
        )
        if value
    ]
    lines = [
        "# Made from release.toml by `python -m tools.release write`.",
        "cff-version: 1.2.0",
        'message: "Cite the version that you used: its rules follow one release of Kafka."',
        f'title: "{NAME}"',
        "type: software",
        f'version: "{release.version}"',
        "license: Apache-2.0",
        *addresses,
        "authors:",
        *people,
        'keywords: ["Apache Kafka", "consumer group", "rebalance", "emulator", "testing"]',
    ]
    return "\n".join(lines) + "\n"


def published(release: Release) -> str:
    """coordinator/base/published.py."""
    return f'''\
"""What a release says of itself. Made from release.toml by `python -m tools.release write`; do not edit by hand."""

from __future__ import annotations

from typing import Final

PUBLISHED: Final[bool] = {release.published}
"""Whether the distribution's name alone can be installed."""
DOCUMENTATION: Final[str] = "{release.documentation}"
"""Where the documentation is served; empty: it is in docs/ of a checkout."""
'''


FILES: Final[Mapping[str, Callable[[Release], str]]] = {
    "SECURITY.md": security,
    "CITATION.cff": citation,
    "coordinator/base/published.py": published,
}
"""By path."""
