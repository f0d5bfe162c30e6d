"""Kafka's own classes, to be asked by tests and benchmarks: the jars, and a Java program of tests/java/ as a process.

Owns where the jars are (tests/java/target, which git ignores) and what is said when Java is missing. KAFKA_JARS names a folder
that has them already. Refuses to know what is asked.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

SOURCES = Path(__file__).parent / "java"
TARGET = SOURCES / "target"


class NoJavaError(Exception):
    """Java, Maven or the jars cannot be had; the text says what is missing."""


def class_path(program: str) -> str:
    """The folder of a compiled program and the jars; fetched and compiled when need be. Raises NoJavaError."""
    if not shutil.which("javac") or not shutil.which("java"):
        raise NoJavaError("no Java (a JDK >= 17 with java and javac) on this machine")
    jars = Path(os.environ.get("KAFKA_JARS") or TARGET / "jars")
    if not any(jars.glob("kafka-clients-*.jar")):
        _fetch(jars)
    return f"{_compiled(SOURCES / f'{program}.java', jars)}{os.pathsep}{jars}/*"


def _fetch(jars: Path) -> None:
    maven = shutil.which("mvn")
    if not maven:
        raise NoJavaError(f"no jars in {jars}, and no Maven (mvn) to fetch them")
    making = TARGET / f"jars-making-{os.getpid()}"
    command = [maven, "-q", "-B", "-f", str(SOURCES / "pom.xml"), "dependency:copy-dependencies", f"-DoutputDirectory={making}"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        shutil.rmtree(making, ignore_errors=True)
        raise NoJavaError(f"Maven could not fetch the jars: {(done.stdout + done.stderr).strip().splitlines()[:1]}")
    _put(making, jars)


def _put(made: Path, place: Path) -> None:
    """Several test processes may make the same at once: one rename wins."""
    try:
        made.rename(place)
    except OSError:
        shutil.rmtree(made, ignore_errors=True)


def _compiled(source: Path, jars: Path) -> Path:
    """A program as classes, compiled anew when its source has changed."""
    classes = TARGET / f"{source.stem}-{source.stat().st_mtime_ns}"
    if not classes.exists():
        making = TARGET / f"{source.stem}-making-{os.getpid()}"
        making.mkdir(parents=True, exist_ok=True)
        command = ["javac", "-d", str(making), "-cp", f"{jars}/*", str(source)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            raise NoJavaError(f"javac: {done.stderr.strip().splitlines()[:3]}")
        _put(making, classes)
    return classes


class JavaProgram:
    """A running program that answers each line with a line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, questions: Iterable[str]) -> list[str]:
        """Answers in order. Raises RuntimeError when the program ended before the last."""
        asked = list(questions)
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin and stdout

        def write() -> None:
            for question in asked:
                stdin.write(question + "\n")
            stdin.flush()

        writer = Thread(target=write)
        writer.start()
        answers = [stdout.readline().rstrip("\n") for _ in asked]
        writer.join()
        if not all(answers):
            raise RuntimeError(f"Java ended early, with {answers.count('')} of {len(asked)} questions open")
        return answers


@contextmanager
def java_program(name: str, *options: str) -> Iterator[JavaProgram]:
    """Run the class `name` of tests/java/; it ends with the block. Raises NoJavaError."""
    command = ["java", "-XX:+UseSerialGC", *options, "-cp", class_path(name), name]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            yield JavaProgram(process)
        finally:
            process.kill()
