"""The libraries of the matrix: what each has, in which versions it is played, and how it gets an
environment of its own.

The newest version of a library is the one that the project's locks name, so that the table has a
version to be older than. The oldest was found by trying: those before it do not work with a Kafka
of today, with this Python or this JDK, or do not do what the library says.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from integration_tests.matrix.playing import ROOT, Call
from tools import kafka_jars

PLAYERS: Final = Path(__file__).parent / "players"
NODE: Final = "24.21.0"
"""@platformatic/kafka wants a newer Node than distributions have: this one, from the npm registry."""
QUICK_GO: Final = {"CGO_ENABLED": "0", "GOFLAGS": "'-gcflags=all=-N -l'"}
"""The go command's settings for programs that run once, to be overruled by the environment: packages
without their parts in C, and nothing optimised, take a quarter less to build. All that build Go share
these, and so its cache."""
_PATIENCE_S: Final = 900


class Limit(NamedTuple):
    """What a library's own fault keeps from working, on a real Kafka 4.4.0 too: the protocol, the
    versions (both ends in it), the behaviour and what was seen."""

    protocol: str
    versions: tuple[str, ...]
    behaviour: str
    why: str


class Library(NamedTuple):
    """A client library. `oldest`: the oldest version played, by protocol; `make`: an environment with
    one version, and how its player is called; `tools`: the commands that this needs."""

    name: str
    language: str
    newest: Callable[[], str]
    oldest: Mapping[str, str]
    make: Callable[[str, str, Path], Call]
    tools: tuple[str, ...]
    lacks: tuple[str, ...] = ()
    limits: tuple[Limit, ...] = ()

    def versions(self, protocol: str) -> tuple[str, ...]:
        """The oldest and the newest, once if they are the same."""
        return tuple(dict.fromkeys((self.oldest[protocol], self.newest())))

    def limits_of(self, protocol: str, version: str) -> dict[str, str]:
        """By behaviour."""
        return {
            limit.behaviour: limit.why
            for limit in self.limits
            if limit.protocol == protocol and version in limit.versions
        }


def run(*command: str, cwd: Path) -> None:
    """A command that has to end well."""
    environment = QUICK_GO | dict(os.environ)
    done = subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=_PATIENCE_S,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {(done.stdout + done.stderr)[-2000:]}")


def _locked(distribution: str) -> Callable[[], str]:
    def newest() -> str:
        text = (ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8")
        found = re.search(rf"^{distribution}==([\w.]+)", text, re.MULTILINE)
        assert found is not None, f"requirements/dev.txt has no {distribution}"
        return found[1]

    return newest


def _required(folder: str, module: str) -> Callable[[], str]:
    def newest() -> str:
        text = (PLAYERS / folder / "go.mod").read_text(encoding="utf-8")
        found = re.search(rf"{re.escape(module)} v([\w.]+)", text)
        assert found is not None, f"{folder}/go.mod has no {module}"
        return found[1]

    return newest


def _dependency(package: str) -> Callable[[], str]:
    def newest() -> str:
        wanted = json.loads((PLAYERS / "node" / "package.json").read_text(encoding="utf-8"))
        return str(wanted["dependencies"][package])

    return newest


def _python(distribution: str, player: str) -> Callable[[str, str, Path], Call]:
    def make(version: str, protocol: str, folder: Path) -> Call:
        python = folder / "venv" / "bin" / "python"
        if not python.exists():
            run(sys.executable, "-m", "venv", str(folder / "venv"), cwd=folder)
            pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            run(*pip, f"{distribution}=={version}", cwd=folder)
        return Call([str(python), "-m", f"integration_tests.matrix.players.{player}"], folder)

    return make


def _java(version: str, protocol: str, folder: Path) -> Call:
    home = PLAYERS / "java"
    class_path = f"{kafka_jars.fetched(home / 'pom.xml', version)}{os.sep}*"
    main = "Worker" if protocol == "share" else "Player"
    classes = folder / main
    if not classes.exists():
        sources = [str(home / f"{name}.java") for name in ("Stage", main)]
        run(kafka_jars.javac(), "-cp", class_path, "-d", str(classes), *sources, cwd=folder)
    options = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m"]
    whole = os.pathsep.join((str(classes), class_path))
    return Call([kafka_jars.java(), *options, "-cp", whole, main], folder)


def _go(name: str, module: str) -> Callable[[str, str, Path], Call]:
    def make(version: str, protocol: str, folder: Path) -> Call:
        newest = _required(name, module)() == version
        source = folder / "source"
        if not (folder / "player").exists():
            shutil.copytree(PLAYERS / name, source, dirs_exist_ok=True)
            if not newest:
                run("go", "mod", "edit", f"-require={module}@v{version}", cwd=source)
                run("go", "mod", "tidy", cwd=source)
            older = [] if newest or protocol != "classic" else ["-tags=older"]
            run("go", "build", *older, "-o", str(folder / "player"), ".", cwd=source)
        return Call([str(folder / "player")], folder)

    return make


def _node(package: str, player: str, node: str = "") -> Callable[[str, str, Path], Call]:
    def make(version: str, protocol: str, folder: Path) -> Call:
        for source in (PLAYERS / "node").glob("*.mjs"):
            shutil.copy(source, folder)
        if not (folder / "node_modules" / package).exists():
            (folder / "package.json").write_text('{"private": true, "type": "module"}')
            wanted = [f"{package}@{version}", *([f"node@{node}"] if node else [])]
            run("npm", "install", "--no-audit", "--no-fund", *wanted, cwd=folder)
        command = str(folder / "node_modules" / ".bin" / "node") if node else "node"
        return Call([command, f"{player}.mjs"], folder)

    return make


_FRANZ, _SARAMA = "github.com/twmb/franz-go", "github.com/IBM/sarama"
LIBRARIES: Final = {
    library.name: library
    for library in (
        Library(
            "kafka-python",
            "Python",
            _locked("kafka-python"),
            {"classic": "2.3.0"},
            _python("kafka-python", "kafka_python_player"),
            (),
        ),
        Library(
            "aiokafka",
            "Python",
            _locked("aiokafka"),
            {"classic": "0.10.0"},
            _python("aiokafka", "aiokafka_player"),
            (),
        ),
        Library(
            "confluent-kafka",
            "Python",
            _locked("confluent-kafka"),
            {"classic": "2.0.2", "consumer": "2.4.0", "share": "2.15.0"},
            _python("confluent-kafka", "confluent_player"),
            (),
        ),
        Library(
            "kafka-clients",
            "Java",
            kafka_jars.reference,
            {"classic": "2.5.0", "consumer": "4.0.0", "share": "4.1.0"},
            _java,
            ("java", "javac", "mvn"),
        ),
        Library(
            "franz-go",
            "Go",
            _required("franz", _FRANZ),
            {"classic": "1.7.0", "consumer": "1.22.0", "share": "1.22.0"},
            _go("franz", _FRANZ),
            ("go",),
            limits=(
                Limit(
                    "consumer",
                    ("1.22.0", "1.22.3"),
                    "static member",
                    "a static member leaves without its instance id, which is refused",
                ),
            ),
        ),
        Library(
            "sarama",
            "Go",
            _required("sarama", _SARAMA),
            {"classic": "1.42.1"},
            _go("sarama", _SARAMA),
            ("go",),
        ),
        Library(
            "kafkajs",
            "Node",
            _dependency("kafkajs"),
            {"classic": "1.15.0"},
            _node("kafkajs", "kafkajs"),
            ("node", "npm"),
            lacks=("static member",),
        ),
        Library(
            "@platformatic/kafka",
            "Node",
            _dependency("@platformatic/kafka"),
            {"classic": "1.35.0", "consumer": "1.35.0"},
            _node("@platformatic/kafka", "platformatic", NODE),
            ("node", "npm"),
            limits=(
                Limit(
                    "consumer",
                    ("1.35.0", "2.12.1"),
                    "transactions",
                    "offsets of a transaction are sent without the member's epoch, which is refused",
                ),
                Limit(
                    "consumer",
                    ("1.35.0", "2.12.1"),
                    "static member",
                    "a static member that closes leaves for good (member epoch -1)",
                ),
            ),
        ),
    )
}


class Row(NamedTuple):
    """What one version of a library shows in groups of one protocol. `found`: by behaviour, why it
    was not shown; an empty text if it was."""

    library: str
    language: str
    version: str
    protocol: str
    found: dict[str, str]


def make(library: Library, version: str, protocol: str, folder: Path) -> Call:
    """The environment of a row, in a folder of its own."""
    name = re.sub(r"\W+", "-", library.name).strip("-")
    place = folder / f"{name}-{version}-{protocol}"
    place.mkdir(parents=True, exist_ok=True)
    return library.make(version, protocol, place)
