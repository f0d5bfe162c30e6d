"""The page: complete without scripts and network, and everything from a log is escaped."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from coordinator.lab.pipeline.measures import (
    DETECTION,
    MEASURES,
    PRICE,
    Difference,
    Summary,
    compare,
    frontier_of,
    summarise,
    weighed,
)
from coordinator.lab.pipeline.naming import names_of
from coordinator.lab.pipeline.page import RUN_COLUMNS, Facts, Worst, grouped, page
from coordinator.lab.pipeline.winners import costs, winners

from .kit import folded, rows, simulated

EVIL = "<script>alert(1)</script>&'\""


def a_run(seed: int, **changed: Any) -> dict[str, Any]:
    tables, _ = folded(simulated("crash_loop"))
    (run,) = rows(tables, "metrics")
    return {**run, "seed": seed, "number": seed, **changed}


def facts(**changed: Any) -> Facts:
    runs = {
        "a": [a_run(1), a_run(2)],
        EVIL: [a_run(1, moved=0, false_expiries=3), a_run(2, moved=0)],
    }
    summaries = [each for name, found in runs.items() for each in summarise(name, found)]
    given: dict[str, Any] = {
        "title": EVIL,
        "runs": [(EVIL, *range(1, len(RUN_COLUMNS)))],
        "variants": list(runs),
        "summaries": summaries,
        "manifest": {
            "schema_version": 1,
            "product": EVIL,
            "runs": 4,
            "lines": 9,
            "quarantined": 1,
            "cut_short": 0,
            "blank": 0,
            "rows": {"events": 8, "rebalances": 3},
        },
        "differences": compare(EVIL, runs[EVIL], "a", runs["a"]),
        "weighed": DETECTION,
        "frontier": frontier_of(summaries, DETECTION),
        "worst": [Worst(EVIL, EVIL, None, 1, None, EVIL, 0, 0, 0, EVIL, [EVIL], EVIL)],
        "verdicts": [(EVIL, "kept", 1, 0, EVIL)],
        "quarantine": [(EVIL, 1, 2, EVIL, EVIL)],
        "plots": {"moved": (EVIL, "<svg></svg>")},
    }
    return Facts(**{**given, **changed})


class Tags(HTMLParser):
    """All tags and links of a page, and whether each that was opened was closed."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.links: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.links += [str(value) for key, value in attrs if key in ("src", "href")]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_escaped() -> None:
    text = page(facts())
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    assert "script" not in tags.seen and tags.links == []
    assert "<script" not in text and text.count("&lt;script&gt;") >= 15
    for measure in MEASURES.values():
        assert measure.title in text
    assert "1 are in quarantine" in text and "The frontier" in text


def test_a_page_of_little() -> None:
    """A sweep that kept its metrics only, and no frontier."""
    text = page(
        facts(
            worst=[],
            frontier=[],
            quarantine=[],
            plots={},
            manifest={
                "schema_version": 1,
                "product": "1",
                "runs": 1,
                "rows": {"events": 0, "rebalances": 0},
            },
        )
    )
    assert (
        "There were none." in text
        and "Quarantine" not in text
        and "The frontier" not in text
        and "lines read" not in text
    )


def test_measures_are_less_is_better_and_compared_by_seed() -> None:
    base, other = [a_run(1), a_run(2)], [a_run(2, moved=0), a_run(3, moved=0)]
    found = {each.measure: each for each in compare("b", other, "a", base)}
    assert found["moved"].pairs == 1 and found["moved"].value == -base[1]["moved"]
    assert found["rebalances"].value == 0
    assert "detection_s" not in {each.measure for each in summarise("x", [a_run(1, detected=0)])}


def test_an_assignor_is_not_judged_by_how_soon_a_crash_is_noticed() -> None:
    assert weighed(["assignor=range", "assignor=sticky"]) == PRICE
    assert weighed(["members.app.config.session.timeout.ms=6000", ""]) == DETECTION
    assert weighed(["brokers.config.group.consumer.heartbeat.interval.ms=500"]) == DETECTION


def medians(**values: float) -> list[Summary]:
    return [
        Summary(variant, "unavailable_partition_s", 0.5, value, value, value, 0.95, 9)
        for variant, value in values.items()
    ]


def less(variant: str, value: float, low: float, high: float) -> Difference:
    return Difference(variant, "a", "unavailable_partition_s", value, low, high, 0.961, 9)


def test_who_has_least_is_said_with_how_much_and_how_sure() -> None:
    said = winners(["a", "b", "c"], medians(a=30, b=12, c=20), [less("b", -18, -25, -10)])
    assert said == [
        "Partitions unavailable: b has least, 12 partition s (median), 18 [10, 25] 96.1% partition s less than a, seed by seed."
    ]
    said = winners(
        ["a", "b", "c"], medians(a=5, b=12, c=9), [less("b", 7, 6, 8), less("c", 4, 3, 5)]
    )
    assert said == [
        "Partitions unavailable: a has least, 5 partition s (median), 4 [3, 5] 96.1% partition s less than c, the next, seed by seed."
    ]


def test_nobody_wins_by_chance() -> None:
    (said,) = winners(["a", "b"], medians(a=30, b=29), [less("b", -1, -9, 4)])
    assert said.startswith("Partitions unavailable: no variant is better than a")
    (said,) = winners(["a", "b"], medians(a=3, b=3), [less("b", 0, 0, 0)])
    assert said == "Partitions unavailable: all variants have 3 partition s (median)."
    assert winners(["a"], medians(a=3), []) == []


def test_a_lower_median_is_no_win_where_the_seeds_say_otherwise() -> None:
    (said,) = winners(["a", "b"], medians(a=30, b=29), [less("b", 3, 1, 4)])
    assert said.startswith("Partitions unavailable: no variant is better than a")
    assert "b differs by 3 [1, 4]" in said


def test_a_variant_that_is_surely_better_is_named_though_another_has_a_lower_median() -> None:
    differences = [less("b", -1, -9, 4), less("c", -6, -8, -5)]
    (said,) = winners(["a", "b", "c"], medians(a=30, b=20, c=24), differences)
    assert said.startswith("Partitions unavailable: c has less, 24 partition s (median), 6 [5, 8]")


def test_the_same_rebalance_of_many_seeds_is_told_once() -> None:
    one = Worst("r1", "app", 3, 1, None, "stable", 0, 0, 900, "why", [], "command")
    rows = [one, one._replace(run_id="r2", unavailable_ms=800), one._replace(generation=4)]
    told = grouped(rows, {"r1": "range", "r2": "range"}, 10)
    assert [(each.run_id, each.generation, each.runs) for each in told] == [
        ("r1", 3, 2),
        ("r1", 4, 1),
    ]
    assert grouped(rows, {"r1": "range", "r2": "sticky"}, 2) == rows[:2]
    assert "the same in 2 runs, of which this is the worst" in page(facts(worst=told))


def test_what_a_variant_costs_is_one_sentence() -> None:
    values = medians(a=96, b=18)
    said = costs(["a", "b"], values, [less("b", -78, -90, -60)])
    assert said == "a costs 96 partition-seconds without an owner a run, against 18 with b."
    said = costs(["b", "a"], values, [less("a", 78, 60, 90)])
    assert said == "a costs 96 partition-seconds without an owner a run, against 18 with b."
    assert "cannot tell whether that is chance" in costs(
        ["a", "b"], values, [less("b", -78, -90, 1)]
    )
    assert costs(["a", "b"], medians(a=3, b=3), []).startswith("a and b cost the same: 3 ")
    assert costs(["a"], medians(a=3), []) == ""


def test_variants_are_named_by_what_differs() -> None:
    grid = [
        f"duration=4m members.app.static={static} members.app.config.session.timeout.ms=6000"
        for static in ("false", "true")
    ]
    names = names_of(grid)
    assert list(names.of.values()) == ["static=false", "static=true"]
    assert names.common == ["duration=4m", "members.app.config.session.timeout.ms=6000"]
    of_logs = ["deploy []", 'deploy ["members.app.assignor=range,sticky"]']
    assert list(names_of(of_logs).of.values()) == ["as it is", "assignor=range,sticky"]
    assert list(names_of([""]).of.values()) == ["as it is"]
    assert list(names_of(["all runs"]).of.values()) == ["all runs"]
    several = ["members.a.count=1 members.b.count=2", "members.a.count=2 members.b.count=1"]
    assert len(set(names_of(several).of.values())) == 2
    alike = ["members.a.count=1", "members.b.count=1"]
    assert list(names_of(alike).of.values()) == alike, "shorter ones would be the same"


def test_how_sure_few_runs_are_is_explained_and_pictures_come_first() -> None:
    text = page(facts(common=["duration=4m"]))
    assert "With 2 runs none is that sure" in text and "with 50.0%" in text
    assert text.index("id='plots'") < text.index("id='measures'")
    assert "In all variants: <code>duration=4m</code>" in text
