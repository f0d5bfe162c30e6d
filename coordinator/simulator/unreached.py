"""What a scenario plans for an instant that the run does not come to: its end is before it.

No error, since a file may be run for a shorter time with `--set duration=1m`. Does not depend on how anything is carried out.
"""

from __future__ import annotations

from collections.abc import Iterator

from .scenario import Scenario


def unreached(scenario: Scenario) -> Iterator[str]:
    """One sentence for each piece of churn, each fault and each kind of client that begins after the end."""
    end = scenario.duration_ms
    for table, kinds in (("members", scenario.members), ("producers", scenario.producers)):
        for kind in kinds:
            if kind.count and kind.start_ms[0] > end:
                yield f"{table} {kind.name} start after the end of the run: from {kind.start_ms[0]} ms on, duration = {end} ms"
    for number, churn in enumerate(scenario.churn):
        if churn["when"] is None and churn["at"] > end:
            where = scenario.lines[f"churn {number}"]
            yield f"{where}: churn {churn['kind']} is after the end of the run: at = {churn['at']} ms, duration = {end} ms"
    for fault in scenario.faults:
        if fault.trigger is None and fault.at_ms > end:
            yield f"{fault.line}: this fault is after the end of the run: at = {fault.at_ms} ms, duration = {end} ms"
