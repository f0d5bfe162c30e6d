"""Plays many stories at once, prints transcripts: the workbench of the matrix.

python -m integration_tests.clients.perform ADDRESS [part of "variant story" ...] [--workers N]
[--show]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, Generic, TypeVar

from integration_tests.clients.agents_running import Agents
from integration_tests.clients.stage import Transcript, play
from integration_tests.clients.story import all_stories
from integration_tests.clients.variants import VARIANTS

STORIES: Final = all_stories()
T = TypeVar("T")
Part = tuple[str, str]
"""A variant's name and a story's."""

WORKERS: Final = 16
"""Stories at a time: they mostly wait."""


def parts(chosen: Iterable[str] = ()) -> list[Part]:
    """Every variant with every story that suits it; those that have one of the texts in "variant
    story"."""
    chosen = list(chosen)
    return [
        (variant.name, story.name)
        for story in STORIES.values()
        for variant in VARIANTS.values()
        if story.suits(variant)
        and (not chosen or any(text in f"{variant.name} {story.name}" for text in chosen))
    ]


class Performance(Generic[T]):
    """Some parts, each given to `perform` from now on by threads of a pool."""

    def __init__(
        self, perform: Callable[[Part], T], chosen: Iterable[Part], workers: int = WORKERS
    ) -> None:
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="story")
        self.began_s = time.monotonic()
        self.ended_s = self.began_s
        self.played: dict[Part, Future[T]] = {}
        for part in chosen:
            future = self._pool.submit(perform, part)
            future.add_done_callback(self._ended)
            self.played[part] = future

    def _ended(self, _: Future[T]) -> None:
        self.ended_s = time.monotonic()

    @property
    def took_s(self) -> float:
        """From the beginning to the end of what ended last, in seconds."""
        return self.ended_s - self.began_s

    def close(self) -> None:
        """Begin nothing more; wait for what was begun."""
        self._pool.shutdown(cancel_futures=True)


def played_on(address: str, agents: Agents) -> Callable[[Part], Transcript]:
    """Plays a part on this address."""
    return lambda part: play(STORIES[part[1]].play, VARIANTS[part[0]], address, agents)


def shown(transcript: Transcript) -> str:
    """A transcript for people."""
    lines = []
    for member, steps in transcript.items():
        if isinstance(steps, str):
            lines.append(f"    {member}: {steps}")
        else:
            lines += [f"    {member}  {step}" for step in steps]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m integration_tests.clients.perform", description=__doc__
    )
    parser.add_argument("address", metavar="HOST:PORT")
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--workers", type=int, default=WORKERS)
    parser.add_argument(
        "--show",
        action="store_true",
        help="print all transcripts, not only of stories that were stuck",
    )
    options = parser.parse_intermixed_args(arguments)
    stuck = 0
    with Agents() as agents:
        performance = Performance(
            played_on(options.address, agents), parts(options.parts), options.workers
        )
        for (variant, story), future in performance.played.items():
            transcript = future.result()
            stuck += "stuck" in transcript
            if options.show or "stuck" in transcript:
                print(f"{variant} {story}", shown(transcript), sep="\n", flush=True)
        print(f"{len(performance.played)} stories, {stuck} stuck, {performance.took_s:.1f} s")
        performance.close()
    return 1 if stuck else 0


if __name__ == "__main__":
    sys.exit(main())
