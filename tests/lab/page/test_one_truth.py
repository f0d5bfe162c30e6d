"""No number, mark or sentence of a lesson disagrees with another one, or with a plain recount of
the raw lines of its log."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import pytest

from coordinator.lab.page.differing import lost_ms
from coordinator.lab.page.lessons import load, slugs
from tests.recount import Lost

Window = tuple[int, int]
_LOST = re.compile(r"([\d.]+) partition-seconds?")
_INSTEAD = re.compile(r"instead of ([\d.]+)(?: partition-seconds?)?[.,]")
_MORE = re.compile(r"([\d.]+) partition-seconds? (more|fewer)")
_SHARED = "17_queue_on_a_log"
"""Its group works on records; partitions have no owners."""


class Card(NamedTuple):
    """A sentence of a lesson with the picture beside it."""

    name: str
    says: str
    named_ms: tuple[int, ...]
    window_ms: Window
    raw: tuple[dict[str, Any], ...]
    before: tuple[dict[str, Any], ...]
    """The raw lines of the run that it is compared with; the same for the lesson's own."""
    truth_ms: int
    truth_seq: int
    truth_lane: str | None
    group: dict[str, Any]
    group_before: dict[str, Any]
    changed: tuple[str, ...]


@cache
def _cards() -> tuple[Card, ...]:
    return tuple(card for slug in slugs() for card in _of(slug))


def _of(slug: str) -> Iterator[Card]:
    lesson = load(slug)
    raw = tuple(map(json.loads, lesson.lines))
    own = lesson.plain()["picture"]
    (group,) = own["groups"]
    seen = lesson.truth_ms, lesson.truth_seq, lesson.truth_lane
    for at, (says, named) in enumerate(zip(lesson.explanation, lesson.named_ms, strict=True)):
        name, window = f"{slug}: paragraph {at}", lesson.window_ms
        yield Card(name, says, named, window, raw, raw, *seen, group, group, ())
    for each in lesson.tries:
        run, lines = each.run(own), tuple(map(json.loads, each.lines))
        (after,) = run["picture"]["groups"]
        mark = each.truth_ms, each.truth_seq, each.truth_lane
        told = each.says, each.named_ms, each.window_ms
        name, said = f"{slug}: {each.id}", tuple(run["changed"])
        yield Card(name, *told, lines, raw, *mark, after, group, said)


CARDS = [pytest.param(at, id=card.name) for at, card in enumerate(_cards())]


@pytest.fixture(params=CARDS)
def card(request: pytest.FixtureRequest) -> Card:
    at: int = request.param
    return _cards()[at]


def test_the_number_above_a_picture_is_a_plain_recount(card: Card) -> None:
    if card.name.startswith(_SHARED):
        return
    for lines, group in ((card.raw, card.group), (card.before, card.group_before)):
        assert lost_ms(group, card.window_ms) == Lost(lines).within(*card.window_ms)


def test_a_sentence_has_the_numbers_of_the_recount(card: Card) -> None:
    """What it says is lost is lost in its own run; what it compares with, in the other."""
    own, other = Lost(card.raw), Lost(card.before)
    for said in _LOST.findall(_INSTEAD.sub("", card.says)):
        assert round(float(said) * 1000) in _parts(own, card.window_ms), card.says
    for said in _INSTEAD.findall(card.says) if _LOST.search(card.says) else ():
        assert round(float(said) * 1000) in _parts(other, card.window_ms), card.says
    for text in card.changed:
        for said, how in _MORE.findall(text):
            more = own.within(*card.window_ms) - other.within(*card.window_ms)
            assert more == round(float(said) * 1000) * (1 if how == "more" else -1), text


def _parts(lost: Lost, window_ms: Window) -> Sequence[int]:
    """The whole, and both of its parts: without an owner, and with one who did not work."""
    whole, unowned = (lost.within(*window_ms, owned=each) for each in (None, False))
    return whole, unowned, whole - unowned


def test_each_instant_that_a_sentence_names_is_that_of_a_line_and_they_stand_in_its_order(
    card: Card,
) -> None:
    happened = {line["at_ms"] for line in card.raw}
    assert set(card.named_ms) <= happened, card.says
    assert [f"{at / 1000:g} s" for at in card.named_ms] == [
        each for each in re.findall(r"[\d.]+ s\b", card.says) if each in _words(card.named_ms)
    ]
    assert sorted(card.named_ms) == list(card.named_ms), card.says


def _words(named_ms: Sequence[int]) -> set[str]:
    return {f"{at / 1000:g} s" for at in named_ms}


def test_a_sentence_about_a_try_names_the_instant_at_which_the_cursor_stands(card: Card) -> None:
    if card.named_ms and ": paragraph" not in card.name:
        near = (at for at in card.named_ms if abs(at - card.truth_ms) <= 300)
        assert next(near, None) is not None, card.says
    low, high = card.window_ms
    assert low < card.truth_ms <= high


def test_a_mark_stands_at_its_line_and_in_the_lane_of_the_member_that_the_line_is_about(
    card: Card,
) -> None:
    (line,) = [each for each in card.raw if each["seq"] == card.truth_seq]
    assert line["at_ms"] == card.truth_ms
    if card.truth_lane is None:
        return
    assert card.truth_lane in {lane["name"] for lane in card.group["lanes"]}
    clients = {
        each["member"]: each["client_id"]
        for each in card.raw
        if each.get("client_id") and each.get("member")
    }
    about = {line.get("client"), line.get("leader"), clients.get(line.get("member", ""))}
    about |= {line.get("member")} | {
        each for each in line.get("members", ()) if isinstance(each, str)
    }
    records = line["type"] == "RecordsReleased"
    assert records or any(
        who == card.truth_lane or who.startswith(f"{card.truth_lane}-") for who in about if who
    ), line


def test_who_loses_its_coordinator_is_not_dead_and_who_has_no_leader_does_not_work() -> None:
    """Broker 1 leads orders-0 and orders-3, and coordinates; nobody knows that it has crashed until
    the controller fences it."""
    (group,) = load("16_broker_crashes").plain()["picture"]["groups"]
    states = [state for begin, end, state in group["states"] if begin < 31_000 and end > 20_000]
    assert states == ["coordinator unavailable"]
    for row in group["raster"]:
        (during,) = [span for span in row["spans"] if span[0] <= 25_000 < span[1]]
        assert during[2], "it has its owner all the time"
        assert during[3] is (row["partition"] in (0, 3))


def test_a_group_whose_policy_forbids_the_move_is_looked_at_until_it_has_lost() -> None:
    (each,) = [each for each in load("15_migration_in_place").tries if each.id == "disabled"]
    assert Lost(map(json.loads, each.lines)).within(*each.window_ms) > 30_000
