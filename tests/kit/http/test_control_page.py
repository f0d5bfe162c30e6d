"""docs/control.md is true: its commands are run, on a served emulator, and its Python too."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from coordinator import Emulator
from coordinator.cli import main
from coordinator.kit.http.client import Client
from coordinator.kit.http.operation import Operation
from coordinator.kit.http.serving import opened
from coordinator.kit.http.table import all_operations


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def call(client: Client, words: list[str]) -> object:
    """What a line of curl asks for, without curl."""
    url = next(word for word in words if word.startswith("$CONTROL"))
    path = url.removeprefix("$CONTROL")
    if "-X" in words:
        return client.call(words[words.index("-X") + 1], path)
    if "-d" in words:
        assert words[words.index("-H") + 1] == "Content-Type: application/json"
        return client.post(path, json.loads(words[words.index("-d") + 1]))
    return client.get(path)


def test_the_commands_of_the_page_do_what_it_says(
    project_root: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = (project_root / "docs" / "control.md").read_text()
    serve, *others = blocks(page, "sh")
    assert serve == "coordinator serve --topic orders:4 --control 127.0.0.1:8080\n"
    with Emulator({"orders": 4}, remember=10_000, seed=1) as kafka, opened(kafka) as port:
        client = Client(port.url)
        monkeypatch.setenv("COORDINATOR_CONTROL", port.url)
        for line in "".join(others).replace("\\\n", " ").splitlines():
            words = shlex.split(line)
            if words[0] == "curl":
                call(client, words)
            else:
                assert words[:2] == ["coordinator", "ctl"], line
                assert main(words[1:]) == 0, (line, capsys.readouterr().err)
        (python,) = blocks(page, "python")
        exec(compile(python, "control.md", "exec"), {"CONTROL": port.url})


def test_the_page_names_every_path(project_root: Path) -> None:
    page = (project_root / "docs" / "control.md").read_text()
    missing = [
        entry.path
        for entry in all_operations().values()
        if entry.path != "/" and f"/{entry.path.rsplit('/', 1)[1]}`" not in page
    ]
    assert missing == []


def test_curl_itself_is_understood(project_root: Path) -> None:
    with Emulator({"orders": 1}, remember=100, seed=1) as kafka, opened(kafka) as port:
        try:
            words = [
                "curl",
                "-s",
                f"{port.url}/reset",
                "-H",
                "Content-Type: application/json",
                "-d",
                "{}",
            ]
            done = subprocess.run(words, capture_output=True, text=True, check=True)
        except FileNotFoundError:
            pytest.skip("no curl here")
    assert json.loads(done.stdout) == {"done": True}


def asked(line: str) -> tuple[str, str, dict[str, object] | None]:
    method, path, *body = line.split(" ", 2)
    return method, path, json.loads(body[0]) if body else None


def test_the_page_has_a_body_for_each_operation(project_root: Path) -> None:
    page = (project_root / "docs" / "control.md").read_text()
    one, several, shares, secured = blocks(page, "http")
    seen = {read(line).name for line in shares.splitlines()}  # they need clients: not run here
    security: dict[str, Any] = {
        "security": "SASL_SSL",
        "users": {"billing": "secret"},
        "super_users": ["User:billing"],
    }
    for lines, options in ((one, {}), (several, {"brokers": 3}), (secured, security)):
        with (
            Emulator({"orders": 4}, remember=10_000, seed=1, **options) as kafka,
            opened(kafka) as port,
        ):
            client = Client(port.url)
            for line in lines.splitlines():
                seen.add(read(line).name)
                method, path, body = asked(line)
                given = json.dumps(body or {}).encode() if method == "POST" else None
                client.call(method, path, given)
    assert set(all_operations()) == seen


def read(line: str) -> Operation:
    """The operation that a line asks for. Its body, or its query, is one that it takes."""
    method, path, body = asked(line)
    where, _, query = path.partition("?")
    entry = next(
        each
        for each in all_operations().values()
        if each.method == method and fits(each.path, where)
    )
    if method == "POST":
        if body is not None:
            entry.read_body(body)
    else:
        entry.read_query(dict(parse_qsl(query)))
    return entry


def fits(pattern: str, path: str) -> bool:
    names = re.sub(r"\{\w+\}", "[^/]+", pattern)
    return re.fullmatch(names, path) is not None
