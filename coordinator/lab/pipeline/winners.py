"""Sentences that compare variants: which one has the least of a measure, and by how much.
Statistics in, text out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..statistics import told
from .measures import COST, HEADLINES, MEASURES, Difference, Summary


def winners(
    variants: Sequence[str], summaries: Iterable[Summary], differences: Iterable[Difference]
) -> list[str]:
    """Return one sentence for each of the headline measures; none if there is only one variant."""
    if len(variants) < 2:
        return []
    medians = {
        (each.measure, each.variant): each.value for each in summaries if each.quantile == 0.5
    }
    of = {(each.measure, each.variant): each for each in differences}
    return [
        sentence for name in HEADLINES if (sentence := _of(name, variants, medians, of)) is not None
    ]


def _of(
    name: str,
    variants: Sequence[str],
    medians: dict[tuple[str, str], float],
    of: dict[tuple[str, str], Difference],
) -> str | None:
    """Return the sentence about one measure. Differences, with their intervals, are known only
    against the first variant, so it is one side of each comparison."""
    there = [variant for variant in variants if (name, variant) in medians]
    if len(there) < 2:
        return None
    measure, first = MEASURES[name], there[0]
    others = there[1:]
    better = [each for each in others if (name, each) in of and of[name, each].high < 0]
    other = min(better or others, key=lambda each: medians[name, each])
    least = min(medians[name, variant] for variant in there)
    title = f"{measure.title[:1].upper()}{measure.title[1:]}"
    unit = f" {measure.unit}" if measure.unit else ""
    if least == max(medians[name, variant] for variant in there):
        return f"{title}: all variants have {least:.4g}{unit} (median)."
    difference = of.get((name, other))
    if difference is None:
        return f"{title}: {least:.4g}{unit} is least (median); no seed is in both to compare."
    if not better and (medians[name, first] != least or difference.low <= 0):
        apart = told(difference.value, difference.low, difference.high, difference.coverage)
        return (
            f"{title}: no variant is better than {_called(first)} by what these seeds can tell; "
            f"{_called(other)} differs by {apart}, seed by seed."
        )
    winner = other if better else first
    low, high = sorted((abs(difference.low), abs(difference.high)))
    apart = told(abs(difference.value), low, high, difference.coverage)
    than = f"less than {_called(first)}" if better else f"less than {_called(other)}, the next"
    has = "least" if medians[name, winner] == least else "less"
    value = f"{medians[name, winner]:.4g}{unit}"
    return f"{title}: {_called(winner)} has {has}, {value} (median), {apart}{unit} {than}, seed by seed."


def costs(
    variants: Sequence[str], summaries: Iterable[Summary], differences: Iterable[Difference]
) -> str:
    """Return a sentence about the cost of choosing one variant rather than another, in
    partition-seconds without an owner, and whether the runs are enough to tell; "" if there is
    only one variant."""
    medians = {
        each.variant: each.value
        for each in summaries
        if each.quantile == 0.5 and each.measure == COST
    }
    there = [variant for variant in variants if variant in medians]
    if len(there) < 2:
        return ""
    first = there[0]
    other = min(there[1:], key=lambda variant: medians[variant])
    if medians[first] < medians[other]:
        other = max(there[1:], key=lambda variant: medians[variant])
    dear, cheap = sorted((first, other), key=lambda variant: -medians[variant])
    text = (
        f"{_called(dear)} costs {medians[dear]:.4g} partition-seconds without an owner a run, against "
        f"{medians[cheap]:.4g} with {_called(cheap)}"
    )
    if medians[dear] == medians[cheap]:
        return f"{_called(dear)} and {_called(cheap)} cost the same: {medians[dear]:.4g} partition-seconds without an owner a run."
    known = [each for each in differences if (each.variant, each.measure) == (other, COST)]
    if not known or known[0].low <= 0 <= known[0].high:
        return f"{text}; so few runs, or such different ones, cannot tell whether that is chance."
    return f"{text}."


def _called(variant: str) -> str:
    return variant or "as it is"
