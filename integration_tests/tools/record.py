"""Keep what the tools said of a real broker, for comparison where there is none.

    python -m integration_tests.tools.record ADDRESS [part of a name ...]

One text file a story under integration_tests/golden/tools. Each story is played twice before it is
kept: one whose transcript does not repeat is no truth, and is refused. `--compare` plays it once
and prints where it parts from what is kept; nothing is written.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from integration_tests.tools.divergences import DIVERGENCES
from integration_tests.tools.registry import all_stories
from integration_tests.tools.runner import ToolJvms, run_process, tool_jvms
from integration_tests.tools.shell import Story, play
from integration_tests.tools.transcript import difference
from integration_tests.wire.codec import TableCodec
from integration_tests.wire.recorder import await_coordinator

HOME = Path(__file__).resolve().parents[1] / "golden" / "tools"
JVMS = 2


def load(name: str, home: Path = HOME) -> list[str]:
    """What was kept of a story: nothing, if it was never recorded."""
    path = home / f"{name}.txt"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def recorded(home: Path = HOME) -> set[str]:
    """The names of the stories that are kept."""
    return {path.stem for path in home.glob("*.txt")}


def play_story(story: Story, address: str, jvms: ToolJvms) -> list[str]:
    """The transcript of one story, its tools run in the JVMs or as processes, as it asks."""
    return play(story, address, run_process if story.process else jvms.run)


def expected(name: str, kafka: list[str]) -> list[str]:
    """What the emulator should say in a story where Kafka says this."""
    return DIVERGENCES[name].applied(kafka) if name in DIVERGENCES else kafka


def record_all(
    addresses: Callable[[str], str], parts: Iterable[str] = (), home: Path = HOME
) -> int:
    """Record the stories whose names contain one of the parts (all, if there are none); how many
    did not repeat.

    `addresses`: where the real broker of a profile listens.
    """
    stories = _chosen(parts)
    _await_coordinators(addresses, stories)
    home.mkdir(parents=True, exist_ok=True)
    with tool_jvms(JVMS) as jvms, ThreadPoolExecutor(2 * JVMS) as pool:
        twice = [pool.submit(_twice, story, addresses(story.profile), jvms) for story in stories]
        refused = 0
        for story, played in zip(stories, twice, strict=True):
            first, second = played.result()
            found = difference(first, second)
            if found is None:
                (home / f"{story.name}.txt").write_text("\n".join(first) + "\n", encoding="utf-8")
            else:
                refused += 1
                print(f"does not repeat: {story.name}", *(f"  {line}" for line in found), sep="\n")
    for name in recorded(home) - set(all_stories()):
        (home / f"{name}.txt").unlink()
    return refused


def _twice(story: Story, address: str, jvms: ToolJvms) -> tuple[list[str], list[str]]:
    return play_story(story, address, jvms), play_story(story, address, jvms)


def compare_all(
    addresses: Callable[[str], str], parts: Iterable[str] = (), home: Path = HOME
) -> int:
    """Play the stories once and print where each parts from what is kept; how many do."""
    stories = _chosen(parts)
    _await_coordinators(addresses, stories)
    parted = 0
    with tool_jvms(JVMS) as jvms, ThreadPoolExecutor(2 * JVMS) as pool:
        played = [
            pool.submit(play_story, story, addresses(story.profile), jvms) for story in stories
        ]
        for story, future in zip(stories, played, strict=True):
            found = difference(expected(story.name, load(story.name, home)), future.result())
            if found is not None:
                parted += 1
                print(
                    story.name,
                    *(
                        f"  {label} {line}"
                        for label, line in zip(("after", "Kafka", "here "), found, strict=True)
                    ),
                    sep="\n",
                )
    print(f"{len(stories)} stories, {parted} differ")
    return parted


def _await_coordinators(addresses: Callable[[str], str], stories: Iterable[Story]) -> None:
    for profile in {story.profile for story in stories}:
        await_coordinator(addresses(profile), TableCodec())


def _chosen(parts: Iterable[str]) -> list[Story]:
    wanted = list(parts)
    return [
        story
        for name, story in sorted(all_stories().items())
        if not wanted or any(part in name for part in wanted)
    ]


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m integration_tests.tools.record", description=__doc__
    )
    parser.add_argument("address", metavar="HOST:PORT")
    parser.add_argument(
        "--compare", action="store_true", help="compare with what is kept, and keep nothing"
    )
    parser.add_argument("names", nargs="*", help="parts of story names")
    options = parser.parse_intermixed_args(arguments)
    do = compare_all if options.compare else record_all
    return 1 if do(lambda profile: options.address, options.names) else 0


if __name__ == "__main__":
    sys.exit(main())
