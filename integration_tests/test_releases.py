"""Older releases: what a real broker of each answered in the raw scenarios is what the emulator answers
as that release.

Kept are the transcripts that differ from the newest release's; all others are the newest's
(`integration_tests.wire.record.load_release`). The gate plays those that differ, `-m thorough` all.
All are under way at once, those of all releases together.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, wait

import pytest

from coordinator.base.releases import NEWEST, RELEASES
from integration_tests.release import play_alone
from integration_tests.targets import EmulatorTarget
from integration_tests.wire.codec import OlderCodec, TableCodec
from integration_tests.wire.compare import difference, told
from integration_tests.wire.divergences import DIVERGENCES, OF_RELEASES
from integration_tests.wire.normal import normal
from integration_tests.wire.record import Recorded, home_of, load, load_release
from integration_tests.wire.recorder import Step, await_coordinator
from integration_tests.wire.registry import scenarios_of
from integration_tests.wire.together import Part, play_together

OLDER = [name for name in RELEASES if name != NEWEST.name]


class Played:
    """A release's transcripts, and those of the emulator as that release."""

    def __init__(self, release: str, target: EmulatorTarget, names: set[str]) -> None:
        self.recorded = {
            name: kept for name, kept in load_release(release).items() if name in names
        }
        scenarios = scenarios_of(release)
        for profile in sorted({scenarios[name].profile for name in self.recorded}):
            await_coordinator(target.address(profile), TableCodec())
        self._parts = {
            name: Part(scenarios[name], target.address(scenarios[name].profile), kept.nonce)
            for name, kept in self.recorded.items()
        }
        self._release = release
        self._futures: dict[Part, Future[list[Step]]] = play_together(
            self._parts.values(), codec_of=lambda _: OlderCodec(release)
        )

    def steps(self, name: str) -> list[Step]:
        """The emulator's; awaited."""
        return self._futures[self._parts[name]].result()

    def alone(self, name: str) -> list[Step]:
        """That of a fresh emulator, when all others are done."""
        wait(self._futures.values())
        return play_alone(self._release, self._parts[name])


@pytest.fixture(params=OLDER)
def release(request: pytest.FixtureRequest) -> str:
    """Each older release."""
    return str(request.param)


@pytest.fixture(scope="module")
def emulated() -> Iterator[dict[str, EmulatorTarget]]:
    """The emulator as each older release."""
    targets = {name: EmulatorTarget(name) for name in OLDER}
    yield targets
    for target in targets.values():
        target.close()


@pytest.fixture(scope="module")
def different(emulated: dict[str, EmulatorTarget]) -> dict[str, Played]:
    """Those that differ from the newest, of each release."""
    return {name: Played(name, emulated[name], set(load(home_of(name)))) for name in OLDER}


@pytest.fixture(scope="module")
def everything(emulated: dict[str, EmulatorTarget]) -> dict[str, Played]:
    """All of each release."""
    return {name: Played(name, emulated[name], set(scenarios_of(name))) for name in OLDER}


def test_the_emulator_answers_as_the_release_did(
    release: str, different: dict[str, Played]
) -> None:
    _judge(release, different[release])


@pytest.mark.thorough
def test_the_emulator_answers_all_as_the_release_did(
    release: str, everything: dict[str, Played]
) -> None:
    _judge(release, everything[release])


def _judge(release: str, plays: Played) -> None:
    """One that differs beside others is decided by a play with nothing beside it: with many under
    way a session may end before its member was heard."""
    listed = DIVERGENCES | OF_RELEASES[release]
    found = {
        name: difference(recorded.steps, normal(release, plays.steps(name)))
        for name, recorded in plays.recorded.items()
    }
    for name in [name for name, part in found.items() if part is not None and name not in listed]:
        found[name] = difference(plays.recorded[name].steps, normal(release, plays.alone(name)))
    parted = {name: part for name, part in found.items() if part is not None}
    unlisted = [
        f"{name}:\n{told(part, f'Kafka {release}', 'we')}"
        for name, part in parted.items()
        if name not in listed
    ]
    assert not unlisted, "\n".join(unlisted)
    gone = [name for name in listed if name in found and name not in parted]
    assert not gone, f"no longer differ: take them out of the divergences: {gone}"


def test_what_is_kept_of_a_release_differs_from_the_newest(release: str) -> None:
    """What is the same is not kept twice."""
    newest: dict[str, Recorded] = load()
    own = load(home_of(release))
    assert own, f"nothing is recorded of {release}"
    assert set(own) <= set(scenarios_of(release))
    assert [
        name for name, kept in own.items() if difference(kept.steps, newest[name].steps) is None
    ] == []
