"""Progress of a Spark job, printed while it runs: the number of finished tasks, and the time
that the rest will take."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
_EVERY_S = 2.0


def watched(
    spark: Any, job: Callable[[], T], tasks: int, what: str, tell: Callable[[str], None]
) -> T:
    """Run `job`, whose longest stage has so many `tasks`; `tell` its progress every few seconds,
    and what it took at the end."""
    over = threading.Event()
    began = time.monotonic()

    def watch() -> None:
        tracker = spark.sparkContext.statusTracker()
        while not over.wait(_EVERY_S):
            done = 0
            for stage in tracker.getActiveStageIds():
                info = tracker.getStageInfo(stage)
                if info is not None and info.numTasks == tasks:
                    done = max(done, info.numCompletedTasks)
            tell(progress(done, tasks, time.monotonic() - began, what))

    watcher = threading.Thread(target=watch, name="progress", daemon=True)
    watcher.start()
    try:
        return job()
    finally:
        over.set()
        watcher.join()


def progress(done: int, tasks: int, passed_s: float, what: str) -> str:
    """Return a bar, the finished share, and the remaining time."""
    share = done / tasks if tasks else 1.0
    bar = ("#" * round(share * 30)).ljust(30, ".")
    left = (
        f"about {duration(passed_s / share - passed_s)} left"
        if done
        else "the first tasks are running"
    )
    return f"[{bar}] {share:4.0%} of {what}, {duration(passed_s)}, {left}"


def duration(seconds: float) -> str:
    """`42 s`, `3 min 5 s`, `2 h 10 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
