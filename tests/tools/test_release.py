"""release.toml decides what is said of a release: with empty fields the form that works without them,
with filled ones the addresses."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from hatch_build import on_an_index
from tools.release.building import changes, check_tag, checksums
from tools.release.fields import Author, Release, ReleaseError, read
from tools.release.owner import steps, told
from tools.release.writing import made, write

ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"
FILLED = {
    "published": True,
    "repository": "https://github.com/somebody/somewhere",
    "documentation": "https://somebody.example/somewhere/",
    "image": "registry.example/somebody/somewhere",
    "security_contact": "security@somebody.example",
    "authors": (Author("Some Body", "some@somebody.example"), Author("Another")),
}


@pytest.fixture
def copy(project_root: Path, tmp_path: Path) -> Path:
    """The files of the checkout that release.toml decides."""
    release = read(project_root)
    for path in (
        *(path for path, _ in made(project_root, release)),
        project_root / "release.toml",
        project_root / "coordinator" / "base" / "version.py",
    ):
        target = tmp_path / path.relative_to(project_root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    return tmp_path


def filled(root: Path) -> Release:
    return read(root)._replace(**FILLED)


def test_the_files_are_as_written(project_root: Path) -> None:
    """Else: `python -m tools.release write`."""
    different = [
        path.relative_to(project_root).as_posix()
        for path, text in made(project_root, read(project_root))
        if path.read_text(encoding="utf-8") != text
    ]
    assert different == []


def test_writing_twice_changes_nothing_and_emptying_brings_everything_back(copy: Path) -> None:
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    changed = write(copy, filled(copy))
    assert {"README.md", "pyproject.toml", "SECURITY.md", "CITATION.cff"} <= set(changed)
    assert {"docs/install.md", "docs/tutorial.md", "docs/testing.md"} <= set(changed)
    assert write(copy, filled(copy)) == []
    write(copy, read(copy))
    assert {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()} == before


def test_once_published_pages_name_the_distribution(copy: Path) -> None:
    write(copy, filled(copy))
    pages = [path for path in copy.rglob("*.md") if path.name != "install.md"]
    lines = [line for page in pages for line in re.findall(r"pip install .*", page.read_text())]
    assert lines
    assert [line for line in lines if "'.[" in line or "in a checkout" in line] == []
    assert "pip install kafka-group-coordinator\n" in (copy / "docs" / "install.md").read_text()
    namespace: dict[str, object] = {}
    exec((copy / "coordinator/base/published.py").read_text(), namespace)
    assert (namespace["PUBLISHED"], namespace["DOCUMENTATION"]) == (
        True,
        FILLED["documentation"],
    )


def test_before_that_every_line_is_for_a_checkout(copy: Path) -> None:
    write(copy, Release(read(copy).version))
    told = [
        line
        for page in (copy / "README.md", *sorted((copy / "docs").glob("*.md")))
        if page.name != "install.md"
        for line in re.findall(r"pip install .*", page.read_text())
    ]
    assert told
    assert [line for line in told if "'.[" not in line or "in a checkout" not in line] == []


def test_addresses_and_authors_are_metadata(copy: Path) -> None:
    write(copy, filled(copy))
    project = tomllib.loads((copy / "pyproject.toml").read_text())["project"]
    assert project["urls"] == {
        "Documentation": "https://somebody.example/somewhere/",
        "Source": "https://github.com/somebody/somewhere",
        "Issues": "https://github.com/somebody/somewhere/issues",
        "Changelog": "https://github.com/somebody/somewhere/blob/main/CHANGELOG.md",
    }
    assert project["authors"] == [
        {"name": "Some Body", "email": "some@somebody.example"},
        {"name": "Another"},
    ]
    assert "mailto:security@somebody.example" in (copy / "SECURITY.md").read_text()
    assert 'repository-code: "https://github.com' in (copy / "CITATION.cff").read_text()
    badge = "actions/workflows/ci.yml/badge.svg"
    assert badge in (copy / "README.md").read_text()


def test_links_of_readme_work_on_a_package_index(project_root: Path) -> None:
    """There are no files beside it there."""
    text = (project_root / "README.md").read_text(encoding="utf-8")
    links = re.compile(r"\]\((?!https?://|#)")
    assert links.search(text)
    address = str(FILLED["repository"])
    there, nowhere = on_an_index(text, address), on_an_index(text, "")
    assert f"[docs/validation.md]({address}/blob/main/docs/validation.md)" in there
    assert f"]({address}/raw/main/docs/page.svg)" in there
    assert f"{address}/blob/main/docs/performance.md#beside-other-brokers" in there
    assert [links.search(page) for page in (there, nowhere)] == [None, None]
    assert "docs/validation.md" in nowhere


def test_nobody_and_no_address_is_made_up(copy: Path) -> None:
    release = Release(read(copy).version)
    write(copy, release)
    assert release.missing == [
        "repository",
        "documentation",
        "image",
        "security_contact",
        "authors",
    ]
    project = tomllib.loads((copy / "pyproject.toml").read_text())["project"]
    assert not {"urls", "authors"} & set(project)
    for name in ("SECURITY.md", "CITATION.cff", ".github/ISSUE_TEMPLATE/config.yml"):
        assert not re.search(r"https?://|@\w", (copy / name).read_text()), name
    assert "badge" not in (copy / "README.md").read_text().split("-->")[1]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            'repository = "github.com/a/b"',
            "repository: 'github.com/a/b' is not of the form https://",
        ),
        ("documentation = 1", "documentation: 1 is not of the form"),
        (
            'documentation = "https://a.example/b"',
            "is not of the form https://OWNER.github.io/NAME/",
        ),
        ('image = "Me/It"', "image: 'Me/It' is not of the form ghcr.io/OWNER/NAME"),
        ('published = "yes"', "published: true or false, not 'yes'"),
        ('authors = ["me"]', "authors: ['me'] is not of the form"),
        ('autors = "me"', "unknown field autors; there are authors, documentation, image"),
        ("published", "Expected '='"),
    ],
)
def test_a_wrong_field(copy: Path, line: str, said: str) -> None:
    (copy / "release.toml").write_text(line + "\n")
    with pytest.raises(ReleaseError, match=re.escape(said)):
        read(copy)


def test_the_version_stands_in_one_place(project_root: Path) -> None:
    release = read(project_root)
    changes = (project_root / "CHANGELOG.md").read_text()
    assert re.search(rf"^## {re.escape(release.version)}\b", changes, re.MULTILINE)
    project = tomllib.loads((project_root / "pyproject.toml").read_text())["project"]
    assert "version" not in project


def test_notes_are_what_the_changelog_says_of_the_version(
    project_root: Path, tmp_path: Path
) -> None:
    (tmp_path / "CHANGELOG.md").write_text("# C\n\n## 2.0.0 (now)\n\nNew.\n\n## 1.0.0\n\nOld.\n")
    assert changes(Release("2.0.0"), tmp_path) == "New.\n"
    assert changes(Release("1.0.0"), tmp_path) == "Old.\n"
    with pytest.raises(ReleaseError, match=r"no heading `## 3\.0\.0`"):
        changes(Release("3.0.0"), tmp_path)
    assert changes(read(project_root)).strip()


def test_a_tag_names_the_version() -> None:
    check_tag(Release("1.2.3"), "v1.2.3")
    check_tag(Release("1.2.3"), "")
    with pytest.raises(ReleaseError, match=r"tag v1\.2: .* so the tag is v1\.2\.3"):
        check_tag(Release("1.2.3"), "v1.2")


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="no sha256sum")
def test_checksums_are_read_by_sha256sum(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    (tmp_path / "SHA256SUMS").write_text(checksums(tmp_path))
    subprocess.run(["sha256sum", "--check", "SHA256SUMS"], cwd=tmp_path, check=True)
    (tmp_path / "b").write_text("c")
    done = subprocess.run(["sha256sum", "--check", "SHA256SUMS"], cwd=tmp_path, check=False)
    assert done.returncode == 1


def test_what_is_left_to_the_owner_follows_from_the_fields(copy: Path) -> None:
    """A page has it, and `make release` prints it: the same, as the fields are."""
    empty = Release(read(copy).version)
    whole = filled(copy)
    assert "`security_contact`" in steps(empty)[0].what
    assert "release.toml" not in "".join(step.what for step in steps(whole))
    values = " ".join(step.how for step in steps(whole))
    assert "owner `somebody`, repository `somewhere`" in values
    assert any("registry.example" in step.what for step in steps(whole)), "no token of GitHub there"
    assert any("ghcr.io" in step.how for step in steps(empty))
    for release in (empty, whole):
        write(copy, release)
        page = (copy / "docs" / "releasing.md").read_text()
        for number, step in enumerate(steps(release), start=1):
            assert f"\n{number}. **{step.what}.** {step.how}\n" in page
            assert f"{number}. {step.what.replace('`', '')}" in told(release)[number]
    assert f"**Tag `v{empty.version}`.**" in page


@pytest.mark.skipif(shutil.which("go") is None, reason="no go: actionlint is a Go program")
@pytest.mark.parametrize("state", ["as it is", "filled"])
def test_workflows_are_sound(copy: Path, state: str) -> None:
    """As actionlint sees them; they cannot be run here."""
    for path in (Path(__file__).parents[2] / ".github" / "workflows").iterdir():
        shutil.copy(path, copy / ".github" / "workflows" / path.name)
    if state == "filled":
        write(copy, filled(copy))
        text = (copy / ".github" / "workflows" / "release.yml").read_text()
        assert "registry.example/somebody/somewhere" in text
        assert "gh-action-pypi-publish" in text
    done = subprocess.run(
        ["go", "run", ACTIONLINT, *map(str, (copy / ".github" / "workflows").iterdir())],
        cwd=copy,
        env={**os.environ, "GOFLAGS": "-mod=mod"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_pre_commit_has_the_ruff_of_the_gate(project_root: Path) -> None:
    pinned = re.search(
        r"^ruff==\S+", (project_root / "requirements" / "dev.txt").read_text(), re.MULTILINE
    )
    hooks = (project_root / ".pre-commit-config.yaml").read_text()
    assert pinned
    assert set(re.findall(r"ruff==[\w.]+", hooks)) == {pinned[0]}


def test_classifiers_say_no_more_than_the_workflow_runs(project_root: Path) -> None:
    project = tomllib.loads((project_root / "pyproject.toml").read_text())["project"]
    told = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    matrix = re.search(
        r"python: (\[.*\])", (project_root / ".github" / "workflows" / "ci.yml").read_text()
    )
    assert matrix
    assert told
    assert set(told) <= set(json.loads(matrix[1]))
    assert f">={told[0]}" == project["requires-python"]
