"""What a release of Kafka does otherwise: `python -m integration_tests.release VERSION [--keep]
[--again] [part of a name ...]`.

Starts plain Java brokers of that exact release (4.2.2), asks what they advertise, plays all raw
scenarios on them, and prints two tables: what they advertise against the emulator as that release,
and each scenario against the record of the reference and against the emulator. What was played is
kept in build/releases, so that `--again` compares without brokers. `--keep` writes what differs from
the reference's record to integration_tests/golden/releases. A release that the emulator does not
know yet is compared with its newest (docs/releases.md, "A new release of Kafka").

Exit status 1 if anything differs that repeats and is not listed, 2 if no broker of the release can be had.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import wait
from pathlib import Path
from typing import NamedTuple

from coordinator.base.releases import NEWEST, Release, ReleaseError, release_named
from coordinator.wire.messages import API_KEYS
from integration_tests.java_broker import archive_classes
from integration_tests.targets import EmulatorTarget, KafkaTarget, NoBroker, Target
from integration_tests.wire.advertised import advertised
from integration_tests.wire.codec import OlderCodec, TableCodec
from integration_tests.wire.compare import Difference, difference, line
from integration_tests.wire.compare import told as shown
from integration_tests.wire.divergences import ADVERTISED, DIVERGENCES, OF_RELEASES
from integration_tests.wire.normal import normal
from integration_tests.wire.raw import Codec, Plain
from integration_tests.wire.record import Recorded, home_of, load, save
from integration_tests.wire.recorder import Step, await_coordinator, complete, new_nonce, play
from integration_tests.wire.registry import all_scenarios, scenarios_of
from integration_tests.wire.together import Part, play_together

BUILD = Path(__file__).resolve().parents[1] / "build" / "releases"


class Played(NamedTuple):
    """What was played on a release, under the marks of the reference's records."""

    facts: dict[str, str]
    """What it advertises."""
    steps: dict[str, list[Step]]
    unsteady: dict[str, str]
    """Where scenarios parted that did not come to the same a second time, or why to no end."""
    beyond: dict[str, list[str]]
    """Versions of requests that a scenario asks for and the release does not have, such as
    `TxnOffsetCommit v6`."""


class _Watching(OlderCodec):
    """A codec that notes which versions are asked for."""

    def __init__(self, release: str) -> None:
        super().__init__(release)
        self.asked: set[tuple[int, int]] = set()

    def encode(self, api: str, version: int, fields: Plain) -> bytes:
        self.asked.add((self.key(api), version))
        return super().encode(api, version, fields)


def play_release(target: Target, names: Iterable[str], release: str) -> Played:
    """Play scenarios on the brokers of a release: once under the mark of the reference's record, and
    once more under a fresh one where they repeat."""
    records, scenarios = load(), all_scenarios()
    chosen = [scenarios[name] for name in names]
    profiles = sorted({one.profile for one in chosen} | {"plain"})
    target.begin(profiles)
    for profile in profiles:
        await_coordinator(target.address(profile), TableCodec())
    codecs: dict[Part, _Watching] = {}

    def codec_of(part: Part) -> Codec:
        return codecs.setdefault(part, _Watching(release))

    first = {
        one.name: Part(one, target.address(one.profile), records[one.name].nonce) for one in chosen
    }
    again = {
        name: part._replace(nonce=new_nonce())
        for name, part in first.items()
        if part.scenario.repeats
    }
    facts = advertised(target.address("plain"))
    futures = play_together([*first.values(), *again.values()], codec_of=codec_of)
    steps = {name: futures[part].result() for name, part in first.items()}
    unsteady = {}
    for name, one in steps.items():
        found = (
            difference(normal(release, one), normal(release, futures[again[name]].result()))
            if name in again
            else None
        )
        if found is not None:
            unsteady[name] = shown(found, "once", "again")
        elif not complete(one):
            unsteady[name] = line(one[-1])
    has = dict(_versions(facts))
    beyond = {name: _beyond(codecs[part].asked, has) for name, part in first.items()}
    return Played(facts, steps, unsteady, {name: gone for name, gone in beyond.items() if gone})


def _versions(facts: dict[str, str]) -> Iterator[tuple[int, range]]:
    for name, versions in facts.items():
        if name.startswith("api "):
            lowest, highest = map(int, versions.split("-"))
            yield int(name.split()[1]), range(lowest, highest + 1)


def _beyond(asked: set[tuple[int, int]], has: dict[int, range]) -> list[str]:
    """Which requests the newest has and the release does not."""
    return [
        f"{API_KEYS[key]} v{version}"
        for key, version in sorted(asked)
        if key in NEWEST.api_versions
        and NEWEST.api_versions[key][0] <= version <= NEWEST.api_versions[key][1]
        and version not in has.get(key, ())
    ]


class Row(NamedTuple):
    """A scenario that is not the same everywhere: how the release stands to the record of the
    reference and to the emulator, and why that is in order, if it is."""

    name: str
    reference: Difference | None
    emulator: Difference | None
    why: str


def facts_apart(played: Played, emulator: Target) -> list[tuple[str, str, str]]:
    """What is advertised differently: the fact, the release's and the emulator's."""
    ours = advertised(emulator.address("plain"))
    return [
        (name, played.facts.get(name, "-"), ours.get(name, "-"))
        for name in sorted(played.facts | ours)
        if played.facts.get(name) != ours.get(name)
    ]


def rows(played: Played, emulator: Target, release: Release) -> list[Row]:
    """Every scenario in which the release, the reference's record and the emulator as that release are
    not all the same. What the emulator does otherwise beside others is decided by a play with
    nothing beside it, unless it is listed."""
    records, scenarios = load(), all_scenarios()
    listed = DIVERGENCES | OF_RELEASES.get(release.name, {})
    there = {
        name: normal(release.name, steps)
        for name, steps in played.steps.items()
        if name in scenarios
    }
    for profile in sorted({scenarios[name].profile for name in there}):
        await_coordinator(emulator.address(profile), TableCodec())
    parts = {
        name: Part(scenarios[name], emulator.address(scenarios[name].profile), records[name].nonce)
        for name in there
    }
    futures = play_together(parts.values(), codec_of=lambda _: OlderCodec(release.name))
    wait(futures.values())
    found = []
    for name, steps in there.items():
        reference = difference(records[name].steps, steps)
        ours = difference(steps, normal(release.name, futures[parts[name]].result()))
        if ours is not None and name not in listed:
            ours = difference(steps, normal(release.name, play_alone(release.name, parts[name])))
        if reference or ours:
            why = listed.get(name, "")
            if name not in scenarios_of(release.name):
                why = f"only since {scenarios[name].since}"
            found.append(Row(name, reference, ours, why))
    return found


def play_alone(release: str, part: Part) -> list[Step]:
    """What a fresh emulator as a release does, with nothing beside it."""
    emulator = EmulatorTarget(release)
    try:
        address = emulator.address(part.scenario.profile)
        await_coordinator(address, TableCodec())
        return play(part.scenario, address, OlderCodec(release), part.nonce)
    finally:
        emulator.close()


def told(played: Played, facts: list[tuple[str, str, str]], apart: list[Row], version: str) -> str:
    """Both tables, as Markdown."""
    lines = [f"| advertised | {version} | emulator | remarks |", "|---|---|---|---|"]
    lines += [
        f"| {name} | {theirs} | {ours} | {ADVERTISED.get(name, '')} |"
        for name, theirs, ours in facts
    ]
    lines += ["", f"| scenario | {NEWEST.number} | emulator | remarks |", "|---|---|---|---|"]
    for row in apart:
        remarks = [row.why] if row.why else []
        if row.name in played.unsteady:
            remarks.append("does not repeat")
        if row.name in played.beyond:
            remarks.append(f"asks for {', '.join(played.beyond[row.name])}")
        lines.append(
            f"| {row.name} | {_word(row.reference)} | {_word(row.emulator)} | {'; '.join(remarks)} |"
        )
    for row in apart:
        if row.emulator and not row.why:
            lines += ["", row.name, shown(row.emulator, f"Kafka {version}", "emulator")]
    for name, where in sorted(played.unsteady.items()):
        lines += ["", f"{name} does not repeat", where]
    same = len(played.steps) - sum(1 for row in apart if row.emulator)
    lines += ["", f"{len(played.steps)} scenarios, {same} as the emulator"]
    return "\n".join(lines)


def _word(found: Difference | None) -> str:
    return "differs" if found else "same"


def keep(played: Played, release: str) -> None:
    """Write the transcripts that differ from the reference's records, with those that were kept
    before."""
    records, scenarios = load(), scenarios_of(release)
    home = home_of(release)
    kept = {name: old for name, old in load(home).items() if name not in played.steps}
    for name, found in played.steps.items():
        steps = normal(release, found)
        if name in scenarios and difference(records[name].steps, steps) is not None:
            kept[name] = Recorded(records[name].nonce, steps)
    for old in home.glob("*.jsonl*"):
        old.unlink()
    save({name: one for name, one in kept.items() if name in scenarios}, home, packed=True)


def _saved(played: Played, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(played._asdict(), ensure_ascii=False))


def _loaded(place: Path) -> Played:
    kept = json.loads(place.read_text())
    return Played(**kept)


def _known(version: str) -> Release:
    """The emulator's release of that name, or its newest."""
    try:
        return release_named(version)
    except ReleaseError:
        return NEWEST


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m integration_tests.release",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("version", help="an exact release that Maven has, such as 4.2.2")
    parser.add_argument("names", nargs="*", help="parts of scenario names; all when none is given")
    parser.add_argument("--keep", action="store_true", help="write the release's records")
    parser.add_argument("--again", action="store_true", help="compare what was played before")
    options = parser.parse_intermixed_args(arguments)
    names = [
        name
        for name in sorted(scenarios_of(_known(options.version).name))
        if not options.names or any(part in name for part in options.names)
    ]
    if not names:
        parser.error(f"no scenario's name contains {' or '.join(map(repr, options.names))}")
    release, place = _known(options.version), BUILD / f"{options.version}.json"
    if options.again:
        if not place.exists():
            parser.error(f"nothing was played on {options.version} yet: leave out --again")
        played = _loaded(place)
        played = played._replace(steps={n: s for n, s in played.steps.items() if n in names})
    else:
        try:
            kafka = KafkaTarget(options.version)
        except NoBroker as reason:
            print(f"no broker of {options.version}: {reason}", file=sys.stderr)
            return 2
        archive_classes(options.version)
        try:
            played = play_release(kafka, names, release.name)
        finally:
            kafka.close()
        if place.exists():
            before = _loaded(place)
            _saved(_joined(before, played), place)
        else:
            _saved(played, place)
    emulator = EmulatorTarget(release.name)
    try:
        facts = facts_apart(played, emulator)
        apart = rows(played, emulator, release)
    finally:
        emulator.close()
    print(told(played, facts, apart, options.version))
    if options.keep:
        keep(played, release.name)
    unlisted = [name for name, _, _ in facts if name not in ADVERTISED]
    parted = [
        row.name
        for row in apart
        if row.emulator and not row.why and row.name not in played.unsteady
    ]
    return 1 if unlisted or parted else 0


def _joined(before: Played, now: Played) -> Played:
    """What is played now in place of what was played before."""
    return Played(
        now.facts,
        before.steps | now.steps,
        {name: told for name, told in before.unsteady.items() if name not in now.steps}
        | now.unsteady,
        {name: gone for name, gone in before.beyond.items() if name not in now.steps} | now.beyond,
    )


if __name__ == "__main__":
    sys.exit(main())
