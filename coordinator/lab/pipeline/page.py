"""The report as one HTML page: no scripts, nothing from the network, plots as SVG within the page.
Facts in, text out.

Everything from a log is escaped. The page is readable without its style.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from coordinator.base.counting import how_many

from ..statistics import CONFIDENCE, told
from .measures import MEASURES, Difference, Point, Summary
from .winners import costs, winners

_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;background:#fff}
h1{font-size:1.7rem}h2{margin-top:2.5rem;border-bottom:1px solid #ccd;padding-bottom:.2rem}
table{border-collapse:collapse;margin:1rem 0;font-variant-numeric:tabular-nums}
th,td{border-bottom:1px solid #dde;padding:.25rem .7rem;text-align:left;vertical-align:top}td.n,th.n{text-align:right}
code{background:#f3f4f6;padding:.1rem .3rem;border-radius:3px;font-size:.9em;overflow-wrap:anywhere}
details{margin:.6rem 0}summary{cursor:pointer}figure{margin:1.5rem 0}figure svg{max-width:100%;height:auto}figcaption{color:#556}
.wide{overflow-x:auto}
"""


class Worst(NamedTuple):
    """One of the worst rebalances, with the commands that explain and repeat it. `runs`: the
    number of runs of its variant in which the same rebalance (group and generation) is among the
    worst."""

    run_id: str
    group: str
    generation: int | None
    started_ms: int
    duration_ms: int | None
    outcome: str
    moved: int
    lost: int
    unavailable_ms: int
    why: str
    causes: Sequence[str]
    command: str
    runs: int = 1


def grouped(worst: Iterable[Worst], variant_of: Mapping[str, str], most: int) -> list[Worst]:
    """Return the worst rebalances first, each rebalance of a variant once, whatever the seed.
    `variant_of`: by run."""
    found: dict[tuple[str, str, int | None], Worst] = {}
    for each in worst:
        key = variant_of.get(each.run_id, each.run_id), each.group, each.generation
        known = found.get(key)
        found[key] = each if known is None else known._replace(runs=known.runs + each.runs)
    return list(found.values())[:most]


class Facts(NamedTuple):
    """The facts of a report."""

    title: str
    manifest: Mapping[str, Any]
    runs: Sequence[Sequence[Any]]
    variants: Sequence[str]
    summaries: Sequence[Summary]
    differences: Sequence[Difference]
    weighed: tuple[str, str]
    """The measures of the frontier."""
    frontier: Sequence[Point]
    worst: Sequence[Worst]
    verdicts: Sequence[Sequence[Any]]
    quarantine: Sequence[Sequence[Any]]
    plots: Mapping[str, tuple[str, str]]
    """Caption and SVG by the name of the plot's file."""
    common: Sequence[str] = ()
    """Settings of all variants that are no part of their names."""


RUN_COLUMNS = (
    "run",
    "variant",
    "seed",
    "length",
    "events",
    "rebalances",
    "time in rebalances",
    "unavailable",
    "moved",
    "complete",
)


def page(facts: Facts) -> str:
    """Return the whole page."""
    parts = [
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><meta name='viewport' content='width=device-width'>",
        f"<title>{escape(facts.title)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{escape(facts.title)}</h1>",
        _overview(facts),
        _common(facts),
        *(f"<p class='won'>{escape(sentence)}</p>" for sentence in _sentences(facts)),
        _figures(facts),
        _about_measures(facts),
        _measures(facts),
        _frontier(facts),
        _worst(facts.worst),
        "<h2 id='judges'>Judges</h2>",
        table(
            ("judge", "judgement", "runs", "findings", "promise"), facts.verdicts, numbers=(2, 3)
        ),
        _quarantine(facts),
        "<h2 id='runs'>Runs</h2>",
        table(RUN_COLUMNS, facts.runs, numbers=range(2, 9)),
        "</body></html>\n",
    ]
    return "\n".join(parts)


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], numbers: Iterable[int] = ()) -> str:
    """Return a table; the columns `numbers` are aligned to the right. Cells are escaped."""
    right = frozenset(numbers)

    def cells(kind: str, row: Sequence[Any]) -> str:
        marks = [" class='n'" if at in right else "" for at in range(len(row))]
        return "".join(
            f"<{kind}{mark}>{escape(_told(value))}</{kind}>"
            for mark, value in zip(marks, row, strict=True)
        )

    body = "\n".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f"<div class='wide'><table><thead><tr>{cells('th', head)}</tr></thead>\n<tbody>{body}</tbody></table></div>"


def _told(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return (
        f"{value:,.4g}"
        if isinstance(value, float)
        else f"{value:,}"
        if isinstance(value, int)
        else str(value)
    )


def seconds(ms: int | None) -> str:
    """Return milliseconds as seconds."""
    return "–" if ms is None else f"{ms / 1000:,.3f} s"


def _overview(facts: Facts) -> str:
    manifest = facts.manifest
    said = [
        f"{manifest['runs']:,} runs",
        f"{manifest['rows']['events']:,} events",
        f"{manifest['rows']['rebalances']:,} rebalances",
    ]
    if "lines" in manifest:
        said.append(
            f"{manifest['lines']:,} lines read, of which {manifest['quarantined']:,} are in quarantine, {manifest['cut_short']:,} "
            f"were cut short and {manifest['blank']:,} blank"
        )
    made = f"Tables of schema version {manifest['schema_version']}, made by coordinator {escape(str(manifest['product']))}."
    return f"<p>{'; '.join(said)}. {made}</p>"


def _measures(facts: Facts) -> str:
    medians = {
        (each.variant, each.measure): each for each in facts.summaries if each.quantile == 0.5
    }
    more = {(each.variant, each.measure): each for each in facts.differences}
    parts = []
    for measure in MEASURES.values():
        rows = []
        for variant in facts.variants:
            found, difference = (
                medians.get((variant, measure.name)),
                more.get((variant, measure.name)),
            )
            if found is None:
                continue
            own = [
                each
                for each in facts.summaries
                if (each.variant, each.measure) == (variant, measure.name)
            ]
            tails = [each for each in own if each.quantile > 0.5]
            rows.append(
                (
                    variant or "as it is",
                    _interval(found),
                    *(f"{each.value:.4g}" for each in tails),
                    found.runs,
                    "" if difference is None else _interval(difference),
                )
            )
        if rows:
            unit = f", {measure.unit}" if measure.unit else ""
            parts.append(f"<h3>{escape(measure.title)}{escape(unit)}</h3>")
            parts.append(
                table(
                    ("variant", "median", "90 %", "99 %", "runs", "difference"),
                    rows,
                    numbers=range(1, 6),
                )
            )
    return "\n".join(parts)


def _interval(found: Summary | Difference) -> str:
    return told(found.value, found.low, found.high, found.coverage)


def _frontier(facts: Facts) -> str:
    if len(facts.frontier) < 2:
        return ""
    rows = [
        (point.variant, point.x, point.y, "yes" if point.best else "") for point in facts.frontier
    ]
    x, y = (MEASURES[name] for name in facts.weighed)
    units = tuple(f"{each.title}{f', {each.unit}' if each.unit else ''}" for each in (x, y))
    return (
        f"<h2 id='frontier'>The frontier</h2><p>{escape(x.title)} against {escape(y.title)}, medians. No other variant beats one on the "
        "frontier in both.</p>" + table(("variant", *units, "frontier"), rows, (1, 2))
    )


def _sentences(facts: Facts) -> list[str]:
    given = facts.variants, facts.summaries, facts.differences
    return [sentence for sentence in (costs(*given), *winners(*given)) if sentence]


def _common(facts: Facts) -> str:
    if not facts.common:
        return ""
    told = ", ".join(f"<code>{escape(each)}</code>" for each in facts.common)
    return f"<p>In all variants: {told}. They are named by what differs.</p>"


def _about_measures(facts: Facts) -> str:
    few = {
        each.runs: each.coverage
        for each in facts.summaries
        if each.quantile == 0.5 and each.coverage < CONFIDENCE
    }
    told = "".join(
        f" With {how_many(runs, 'run')} none is that sure: it goes from the least value to the greatest, "
        f"and has the true median with {coverage:.1%}."
        for runs, coverage in sorted(few.items())
    )
    return (
        "<h2 id='measures'>Measures</h2><p>Medians over the runs of a variant; in brackets the interval "
        "that has the true median, and behind it how sure that is: "
        f"{CONFIDENCE:.0%} or more where there are enough runs (by ranks, for any distribution).{told} "
        "The first join of a group that was empty is no rebalance here: it counts neither among them nor in their time; "
        "nobody had a partition before it, so it makes none unavailable. "
        "Differences are from the first variant, paired by seed.</p>"
    )


def _figures(facts: Facts) -> str:
    figures = [
        f"<figure id='{escape(name)}'>{svg}<figcaption>{escape(caption)} ({escape(name)}.svg, {escape(name)}.png)</figcaption></figure>"
        for name, (caption, svg) in facts.plots.items()
    ]
    return "<h2 id='plots'>Plots</h2>" + "\n".join(figures) if figures else ""


def _worst(worst: Sequence[Worst]) -> str:
    if not worst:
        return "<h2 id='worst'>The worst rebalances</h2><p>There were none.</p>"
    parts = [
        "<h2 id='worst'>The worst rebalances</h2><p>By the time that partitions had no owner, then by their length.</p>"
    ]
    for number, each in enumerate(worst, 1):
        generation = "no generation" if each.generation is None else f"generation {each.generation}"
        head = (
            f"{number}. Group {each.group}, {generation}, at {seconds(each.started_ms)}: {seconds(each.duration_ms)}, {each.outcome}, "
            f"{each.moved} moved, {each.lost} lost, {seconds(each.unavailable_ms)} without an owner"
            + (
                f"; the same in {each.runs} runs, of which this is the worst"
                if each.runs > 1
                else ""
            )
        )
        causes = "".join(f"<li><code>{escape(cause)}</code></li>" for cause in each.causes)
        parts.append(
            f"<details open><summary>{escape(head)}</summary><p>{escape(each.why)}</p><p>Run <code>{escape(each.run_id)}</code>. "
            f"To see it: <code>{escape(each.command)}</code></p><p>From its trigger back to the first cause:</p><ul>{causes}</ul></details>"
        )
    return "\n".join(parts)


def _quarantine(facts: Facts) -> str:
    if not facts.quarantine:
        return ""
    return (
        "<h2 id='quarantine'>Quarantine</h2><p>The first lines that could not be read.</p>"
        + table(("log", "line", "offset", "reason", "text"), facts.quarantine, numbers=(1, 2))
    )
