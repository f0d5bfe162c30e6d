"""Assignment of large groups: ours, Kafka's Java classes and kafka-python's, on the same inputs.

Members m00000..., topics t0000...; every member subscribes to all topics (`equal`), or to the half
that a fixed random sequence picks. Measured are a first assignment of everything, and then the next
one, after the middle member has left, with what was assigned as everybody's memory. Each
measurement has a process of its own: the first call is the first in its life, warm is the median of
what followed, memory is the highest that the process ever held. Answers are compared by digest,
order included.

Java's figures need a JDK and Maven, and are left out where there is none. kafka-python's are left
out where it takes too long.
"""

from __future__ import annotations

import hashlib
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

from assignors import Assignment, Subscription, by_name
from benchmarks.process import Row
from tests.java_jars import NoJavaError, class_path

GENERATION = 1
_WARM_S = 4.0
_PEER_S = 20.0
_JAVA_S = 60.0
_LONG_JAVA = "sticky, 1,000x100x1,000, half"
_LONG_JAVA_DIGESTS = ("18315db67c64810b", "fe7bbd5606578d4f")
"""What Java 4.3.1 answered to the case that takes it longest, when it was left to run to its end:
eleven minutes for the first step."""


class Case(NamedTuple):
    """One line of the table. Targets in milliseconds: from nothing, after one member left."""

    assignor: str
    members: int
    topics: int
    partitions: int
    subscriptions: str
    targets: tuple[str, str]
    memory_target: str = ""

    def __str__(self) -> str:
        return f"{self.assignor}, {self.members:,}x{self.topics:,}x{self.partitions:,}, {self.subscriptions}"

    def words(self) -> list[str]:
        """As arguments of a process."""
        return [str(field) for field in self[:5]]


CASES = (
    Case("sticky", 3, 2, 12, "equal", ("<= 0.3", "<= 0.3")),
    Case("range", 300, 40, 200, "equal", ("<= 15", "<= 15")),
    Case("range", 300, 40, 200, "half", ("<= 15", "<= 15")),
    Case("roundrobin", 1000, 100, 1000, "equal", ("<= 150", "<= 150")),
    Case("sticky", 300, 40, 200, "equal", ("<= 15", "<= 31")),
    Case("sticky", 300, 40, 200, "half", ("<= 850", "<= 110")),
    Case("cooperative-sticky", 1000, 100, 1000, "equal", ("<= 150", "<= 300")),
    Case("sticky", 1000, 100, 1000, "half", ("<= 10,000", "")),
    Case("sticky", 2000, 1000, 1000, "equal", ("<= 1,500", "<= 5,000"), "<= 1,610"),
)
STEPS = ("from nothing", "after one left")


class Measured(NamedTuple):
    """One step: milliseconds of the first call and of later ones, digest of the answer."""

    first_ms: float
    warm_ms: float
    digest: str


def subscriptions(members: int, topics: int, kind: str) -> dict[str, list[str]]:
    """Who subscribes to what; the same as in tests/java/BenchAssignors.java."""
    wanted = {}
    x = 42
    for m in range(members):
        mine = []
        for t in range(topics):
            x = (x * 1103515245 + 12345) & 0x7FFFFFFF
            if kind == "equal" or (x >> 16) & 1:
                mine.append(f"t{t:04d}")
        wanted[f"m{m:05d}"] = mine or [f"t{m % topics:04d}"]
    return wanted


def remaining(members: Mapping[str, Any]) -> list[str]:
    """Everybody but the one in the middle."""
    ordered = sorted(members)
    return ordered[: len(ordered) // 2] + ordered[len(ordered) // 2 + 1 :]


def digest(answer: Mapping[str, Sequence[tuple[str, int]]]) -> str:
    """Of members and partitions in their order."""
    sha = hashlib.sha256()
    for member, partitions in answer.items():
        sha.update(
            f"{member}:{''.join([f'{topic}-{number},' for topic, number in partitions])}\n".encode()
        )
    return sha.hexdigest()[:16]


def _timed(call: Callable[[], Any], seconds: float) -> tuple[Any, float, float]:
    """(an answer, first call, median of the later half of the calls that fit into `seconds`) in
    milliseconds."""
    began = time.perf_counter()
    answer = call()
    first = spent = time.perf_counter() - began
    times = []
    while spent < seconds and len(times) < 2000:
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
        spent += times[-1]
    return answer, first * 1e3, median(times[len(times) // 2 :] or [first]) * 1e3


def ours(case: Case, seconds: float) -> list[Measured]:
    """Both steps with our assignor."""
    partitions = {f"t{t:04d}": case.partitions for t in range(case.topics)}
    wanted = subscriptions(*case[1:3], case.subscriptions)
    members = {member: Subscription(tuple(topics)) for member, topics in wanted.items()}
    plan, *times = _timed(lambda: by_name(case.assignor).assign(partitions, members), seconds)
    steps = [Measured(*times, digest({member: part.partitions for member, part in plan.items()}))]
    members = {
        member: _remembering(case.assignor, members[member], plan[member])
        for member in remaining(members)
    }
    plan, *times = _timed(lambda: by_name(case.assignor).assign(partitions, members), seconds)
    return [
        *steps,
        Measured(*times, digest({member: part.partitions for member, part in plan.items()})),
    ]


def _remembering(assignor: str, before: Subscription, assigned: Assignment) -> Subscription:
    """What the member tells when it joins again."""
    own = by_name(assignor)
    own.on_assignment(assigned, GENERATION)
    return before._replace(
        user_data=own.subscription_user_data(before.topics),
        owned_partitions=assigned.partitions,
        generation=GENERATION,
    )


def _child(
    case: Case, who: str, seconds: float, limit: float
) -> tuple[list[Measured], float] | None:
    """Measure in a process of its own; (steps, peak megabytes), None if it took longer than `limit`
    seconds."""
    command = [sys.executable, "-m", "benchmarks.assignors", who, *case.words(), str(seconds)]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    told = json.loads(done.stdout)
    return [Measured(*step) for step in told["steps"]], told["peak_mb"]


def _java(case: Case) -> list[Measured]:
    """Both steps with Kafka's class; what was not ready in time is left out."""
    command = [
        "java",
        "-Xmx6g",
        "-cp",
        class_path("BenchAssignors"),
        "BenchAssignors",
        *case.words(),
        str(_WARM_S),
    ]
    try:
        told = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
            timeout=_JAVA_S,
        ).stdout
    except subprocess.TimeoutExpired as late:
        told = (late.stdout or b"").decode()
    return [
        Measured(float(first), float(warm), seal)
        for first, warm, seal in map(str.split, told.splitlines())
    ]


def run(cases: Sequence[Case] = CASES) -> list[Row]:
    """Measure all cases, one after the other."""
    rows = []
    for case in cases:
        own = _child(case, "ours", _WARM_S, 600)
        assert own is not None, f"{case}: not done in ten minutes"
        steps, peak_mb = own
        try:
            java = [] if str(case) == _LONG_JAVA else _java(case)
        except NoJavaError:
            java = []
        peer = (
            None
            if case.members * case.topics * case.partitions > 10**7
            else _child(case, "kafka-python", 0, _PEER_S)
        )
        for number, step in enumerate(steps):
            name = f"{case}: {STEPS[number]}"
            rows.append(Row(name, step.warm_ms, "ms", case.targets[number]))
            rows.append(Row(f"  first call of a process ({step.digest})", step.first_ms, "ms"))
            rows += _compared(case, number, step, java)
            if peer is not None:
                rows.append(Row("  kafka-python", peer[0][number].first_ms, "ms"))
                rows.append(
                    Row("  kafka-python / ours", peer[0][number].first_ms / step.warm_ms, "times")
                )
        rows.append(Row(f"{case}: peak memory", peak_mb, "MB", case.memory_target))
    return rows


def _compared(case: Case, number: int, step: Measured, java: list[Measured]) -> list[Row]:
    if number >= len(java):
        known = _LONG_JAVA_DIGESTS[number] if str(case) == _LONG_JAVA else None
        return (
            [
                Row(
                    "  the answer is the one Java gave when it was left to end",
                    known == step.digest,
                    "",
                )
            ]
            if known
            else []
        )
    theirs = java[number]
    return [
        Row("  Java, warm", theirs.warm_ms, "ms"),
        Row("  Java, first call of a process", theirs.first_ms, "ms"),
        Row("  Java warm / ours", theirs.warm_ms / step.warm_ms, "times"),
        Row("  the answer is Java's", theirs.digest == step.digest, "", "1"),
    ]


def _measure_here(who: str, case: Case, seconds: float) -> None:
    """The child: measure and print."""
    if who == "ours":
        steps = ours(case, seconds)
    else:
        from benchmarks.kafka_python_assignors import measure

        wanted = subscriptions(*case[1:3], case.subscriptions)
        steps = [
            Measured(*step)
            for step in measure(case.assignor, case.topics, case.partitions, wanted, remaining)
        ]
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(json.dumps({"steps": steps, "peak_mb": peak_mb}))


if __name__ == "__main__":
    if len(sys.argv) > 2:
        who, name, *numbers, kind, seconds = sys.argv[1:]
        _measure_here(who, Case(name, *map(int, numbers), kind, ("", "")), float(seconds))
    else:
        print(*run(), sep="\n")
