"""How to start the agent of the Java consumer (`java/Agent.java`), quickly.

Owns its jar and an archive of loaded classes, which halves the CPU time that a JVM needs until its
first consumer has joined. Both are made at first use, into java/target, which git ignores, and made
anew when a source or the class path has changed. What an agent says and is told is
agent_protocol.py's business.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tempfile
import zipfile
from contextlib import suppress
from pathlib import Path
from threading import Timer

from coordinator import Emulator
from tools import kafka_jars
from tools.kafka_jars import NoJavaError

_HOME = Path(__file__).parent / "java"
_SOURCES = sorted(_HOME.glob("*.java"))
_JARS = (
    "kafka-clients",
    "jackson-annotations",
    "jackson-core",
    "jackson-databind",
    "log4j-api",
    "log4j-core",
    "log4j-slf4j-impl",
    "slf4j-api",
)
_JVM = (
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-Xss512k",
    "-Xmx256m",
    "-Xshare:auto",
    "-Xlog:disable",
    "-Xlog:all=error:stderr",
)
_LOG = f"-Dlog4j2.configurationFile={_HOME / 'log4j2.properties'}"
_PATIENCE_S = 60


def command() -> list[str]:
    """What starts an agent, all its parts made. Raises NoJavaError."""
    made = _made()
    archive = made / "classes.jsa"
    return _command(
        made, f"-XX:SharedArchiveFile={archive}" if archive.exists() else "-Xshare:auto"
    )


def _command(made: Path, *options: str) -> list[str]:
    return [
        kafka_jars.java(),
        *_JVM,
        _LOG,
        *options,
        "-cp",
        os.pathsep.join([str(made / "agent.jar"), _class_path()]),
        "Agent",
    ]


def _class_path() -> str:
    """Only what a client needs: a short class path starts sooner."""
    return os.pathsep.join(
        str(next(kafka_jars.jars().glob(f"{name}-[0-9]*.jar"))) for name in _JARS
    )


def _made() -> Path:
    """The folder of the agent's jar and archive, named after what they are made of."""
    parts = hashlib.sha256(
        "\0".join([_class_path(), *_JVM, *(source.read_text() for source in _SOURCES)]).encode()
    )
    place = _HOME / "target" / parts.hexdigest()[:16]
    if not place.exists():
        place.parent.mkdir(exist_ok=True)
        making = Path(tempfile.mkdtemp(prefix="making-", dir=place.parent))
        _compile(making)
        kafka_jars.put(making, place)
    if not (place / "classes.jsa").exists():
        _archive(place)
    return place


def _compile(folder: Path) -> None:
    sources = [str(source) for source in _SOURCES]
    done = subprocess.run(
        [kafka_jars.javac(), "-cp", _class_path(), "-d", str(folder), *sources],
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise NoJavaError(f"javac: {done.stderr.strip().splitlines()[:3]}")
    with zipfile.ZipFile(folder / "agent.jar", "w") as jar:
        for compiled in sorted(folder.glob("*.class")):
            jar.write(compiled, compiled.name)


def _archive(place: Path) -> None:
    """Let an agent do what agents do, and keep the classes that it loaded. Without the archive it
    only starts slower."""
    making = place / f"classes-making-{os.getpid()}.jsa"
    with Emulator(config={"group.initial.rebalance.delay.ms": 0}) as emulator:
        agent = subprocess.Popen(
            _command(place, f"-XX:ArchiveClassesAtExit={making}"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
        patience = Timer(_PATIENCE_S, agent.kill)
        patience.start()
        with suppress(OSError):  # it died; there is no archive then
            _rehearse(agent, emulator.bootstrap_servers)
        with suppress(OSError):
            agent.communicate()
        patience.cancel()
    if making.exists():
        making.rename(place / "classes.jsa")


def _rehearse(agent: subprocess.Popen[str], address: str) -> None:
    """Until a consumer has consumed, committed and left; or until the agent ends."""
    config = {
        "bootstrap.servers": address,
        "group.id": "g",
        "partition.assignment.strategy": "cooperative-sticky",
        "auto.offset.reset": "earliest",
    }
    orders: tuple[tuple[dict[str, object], str], ...] = (
        ({"do": "produce", "bootstrap": address, "records": [["t", 0, "v", None]]}, "reply"),
        ({"do": "create", "member": "A", "config": config}, "reply"),
        ({"do": "subscribe", "member": "A", "topics": ["t"], "on_revoked": "commit"}, "reply"),
        ({"do": "poll", "member": "A", "on": True}, "records"),
        ({"do": "committed", "member": "A", "partitions": [["t", 0]]}, "reply"),
        ({"do": "close", "member": "A"}, "reply"),
    )
    assert agent.stdin is not None
    assert agent.stdout is not None
    for number, (order, awaited) in enumerate(orders):
        agent.stdin.write(json.dumps({"id": number, **order}) + "\n")
        agent.stdin.flush()
        for line in agent.stdout:
            said = json.loads(line)
            if said.get("event") == awaited or (awaited == "reply" and said.get("reply") == number):
                break
