"""Judges of event logs: does a run keep Kafka's promises? Each reads the log alone, whoever wrote
it.

    for verdict in judge(read("run.jsonl")):
        print(verdict)

A judge names the streams that it needs. Where one of them is not in the log it says "not judged",
and never that all is well. It shares nothing with what it judges.
"""

from __future__ import annotations

from .base import Finding, Judge, Judgement, Verdict
from .judging import ALL, OF_VIRTUAL_TIME, Panel, judge
from .sharing import OF_SHARE_GROUPS

__all__ = [
    "ALL",
    "OF_SHARE_GROUPS",
    "OF_VIRTUAL_TIME",
    "Finding",
    "Judge",
    "Judgement",
    "Panel",
    "Verdict",
    "judge",
]
