"""Kafka's own classes, to be asked by tests and benchmarks: a Java program of tests/java/ as a
process.

Owns the compiled programs (tests/java/target, which git ignores). The jars are those of
tools/kafka_jars.py. Does not depend on what is asked.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from tools import kafka_jars
from tools.kafka_jars import NoJavaError

__all__ = ["JavaProgram", "NoJavaError", "class_path", "java_program"]

SOURCES = Path(__file__).parent / "java"
TARGET = SOURCES / "target"


def class_path(program: str) -> str:
    """The folder of a compiled program and the jars; fetched and compiled when need be. Raises
    NoJavaError."""
    kafka_jars.java()
    kafka_jars.javac()
    jars = kafka_jars.jars()
    return f"{_compiled(SOURCES / f'{program}.java', jars)}{os.pathsep}{jars}/*"


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
        kafka_jars.put(making, classes)
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
            raise RuntimeError(
                f"Java ended early, with {answers.count('')} of {len(asked)} questions open"
            )
        return answers


@contextmanager
def java_program(name: str, *, long: bool = False) -> Iterator[JavaProgram]:
    """Run the class `name` of tests/java/; it ends with the block. `long`: for minutes, which is
    worth that Java compiles thoroughly. Raises NoJavaError."""
    options = [] if long else ["-XX:TieredStopAtLevel=1"]
    command = ["java", "-XX:+UseSerialGC", *options, "-cp", class_path(name), name]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            yield JavaProgram(process)
        finally:
            process.kill()
