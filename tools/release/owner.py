"""What is left to whoever owns the names: as a list, for the page docs/releasing.md and for the end of `make release`.

Rule: a step that release.toml shows to be done is left out. What stands in accounts elsewhere cannot
be seen from here, so those steps stay.
"""

from __future__ import annotations

from typing import NamedTuple

from coordinator.base.installing import NAME
from tools.release.fields import Release


class Step(NamedTuple):
    """`what` in a few words, and `how`: where it is done, with the values to give there."""

    what: str
    how: str


def steps(release: Release) -> list[Step]:
    """In the order in which they are done."""
    where = release.on_github or "OWNER/NAME"
    owner, _, name = where.partition("/")
    found = []
    if release.missing:
        fields = ", ".join(f"`{field}`" for field in release.missing)
        found.append(
            Step(
                f"Fill in `release.toml`: {fields}",
                "The file says what each is. `image` is a name that the repository's owner may push to, such as `ghcr.io/OWNER/NAME`.",
            )
        )
    found.append(
        Step(
            "Push the checkout to GitHub",
            f"The repository is `{where}`, its branch `main`. CI runs there for the first time; the other steps want it green.",
        )
    )
    found.append(
        Step(
            "Make the environment `release`",
            "Settings, Environments. It may ask for a reviewer: then nothing is published before somebody agrees.",
        )
    )
    found.append(
        Step(
            f"Reserve `{NAME}` on PyPI",
            f"Account, Publishing, a pending publisher for GitHub: project `{NAME}`, owner `{owner}`, repository `{name}`, workflow "
            "`release.yml`, environment `release`. No token is made or kept.",
        )
    )
    found.append(_registry(release))
    found.append(
        Step(
            "Serve the documentation",
            "Settings, Pages, from the branch `gh-pages`, folder `/`. The workflow makes the branch at its first run on `main`.",
        )
    )
    if not release.published:
        found.append(
            Step(
                "Set `published = true` in `release.toml`",
                "In the commit that gets the tag: what is built from it then names the package index, in pages and in errors.",
            )
        )
    found.append(
        Step(
            f"Tag `v{release.version}`",
            f"Before: the date of {release.version} in CHANGELOG.md, `python -m tools.release write`, `make test`, "
            f"`make release`, a commit. Then `git tag v{release.version}` and `git push --tags`.",
        )
    )
    found.append(
        Step(
            "Look at what came of it",
            "Install it by its name in an empty environment, run the image, compare the checksums of the release on GitHub.",
        )
    )
    return found


def _registry(release: Release) -> Step:
    registry = release.image.partition("/")[0] or "ghcr.io"
    if registry == "ghcr.io":
        return Step(
            "Make the image public",
            "The workflow logs in to `ghcr.io` with its own token. After the first push: the package's settings, visibility.",
        )
    return Step(
        f"Let the workflow log in to `{registry}`",
        "`.github/workflows/release.yml` uses the token of GitHub, which only `ghcr.io` takes. Put a name and a token for this "
        "registry into the repository's secrets, and their names into both steps `docker/login-action`.",
    )


def page(release: Release) -> str:
    """As a numbered list of Markdown."""
    return "\n".join(
        f"{number}. **{step.what}.** {step.how}"
        for number, step in enumerate(steps(release), start=1)
    )


def told(release: Release) -> list[str]:
    """As lines for a terminal."""
    return [
        "left to the owner (docs/releasing.md says how):",
        *(f"{n:3}. {step.what.replace('`', '')}" for n, step in enumerate(steps(release), start=1)),
    ]
