"""Kafka's own jars, fetched once by Maven: the broker, its tools, its clients; and programs that are
compiled against them.

Owns where they are (docker/kafka/target, which git ignores, a folder for each content of the pom and each release) and what is said
when they cannot be had. KAFKA_JARS names a folder that has those of the reference already. Several processes may ask at once: one
rename wins.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

POM = Path(__file__).resolve().parent.parent / "docker" / "kafka" / "pom.xml"
PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"


class NoJavaError(Exception):
    """Java, Maven or the jars cannot be had; the text says what is missing."""


def jars(version: str | None = None) -> Path:
    """The folder of the jars, of the pom's own release or of another (`4.2.2`); they are fetched
    when need be. Raises NoJavaError."""
    if version is not None and version != reference():
        return fetched(POM, version)
    given = os.environ.get("KAFKA_JARS")
    if given and not any(Path(given).glob("kafka-clients-*.jar")):
        raise NoJavaError(f"KAFKA_JARS={given}: there is no kafka-clients-*.jar in that folder")
    if given:
        return Path(given)
    return fetched(POM)


def reference() -> str:
    """The release that the pom itself names."""
    found = re.search("<kafka.version>(.+)</kafka.version>", POM.read_text())
    assert found is not None
    return found[1]


def fetched(pom: Path, version: str | None = None) -> Path:
    """The folder of the jars that a pom names, in `target` beside it, for its own release of Kafka or
    for another; they are fetched when need be. Raises NoJavaError."""
    name = f"libs-{hashlib.sha256(pom.read_bytes()).hexdigest()[:8]}"
    libs = pom.parent / "target" / (name if version is None else f"{name}-{version}")
    if not libs.exists():
        _fetch(pom, libs, () if version is None else (f"-Dkafka.version={version}",))
    return libs


def class_path(version: str | None = None) -> str:
    """All jars, sorted: archives of loaded classes are bound to the exact class path. Raises
    NoJavaError."""
    return os.pathsep.join(sorted(str(jar) for jar in jars(version).glob("*.jar")))


def java() -> str:
    """The `java` command. Raises NoJavaError."""
    return _command("java", "no Java (a JDK >= 17) on this machine")


def javac() -> str:
    """The `javac` command. Raises NoJavaError."""
    return _command("javac", "no Java compiler (a JDK >= 17 with javac) on this machine")


def compiled(class_path: str, *sources: Path) -> Path:
    """The folder of the classes of a program's sources, in `target` beside them; they are compiled
    anew when a source or the class path has changed. `java` with a source instead compiles it at
    each start. Raises NoJavaError."""
    made_of = "\0".join([class_path, *(source.read_text() for source in sources)])
    target = sources[0].parent / "target"
    place = target / f"{sources[0].stem}-{hashlib.sha256(made_of.encode()).hexdigest()[:16]}"
    if not place.exists():
        making = place.with_name(f"{place.name}-making-{os.getpid()}")
        command = [javac(), "-cp", class_path, "-d", str(making), *map(str, sources)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            shutil.rmtree(making, ignore_errors=True)
            raise NoJavaError(f"javac: {done.stderr.strip().splitlines()[:3]}")
        put(making, place)
    return place


def put(made: Path, place: Path) -> None:
    """Rename a folder that is whole to where it belongs; if another process was faster, its folder
    stays."""
    try:
        made.rename(place)
    except OSError:
        shutil.rmtree(made, ignore_errors=True)


def _command(name: str, missing: str) -> str:
    found = shutil.which(name)
    if not found:
        raise NoJavaError(missing)
    return found


def _fetch(pom: Path, libs: Path, properties: tuple[str, ...]) -> None:
    maven = _command("mvn", f"no jars in {libs}, and no Maven (mvn) to fetch them")
    making = libs.parent / f"libs-making-{os.getpid()}"
    command = [
        maven,
        "-q",
        "-B",
        "-f",
        str(pom),
        PLUGIN,
        "-DincludeScope=runtime",
        *properties,
        f"-DoutputDirectory={making}",
    ]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        shutil.rmtree(making, ignore_errors=True)
        raise NoJavaError(
            f"Maven could not fetch the jars: {(done.stdout + done.stderr).strip().splitlines()[:1]}"
        )
    put(making, libs)
