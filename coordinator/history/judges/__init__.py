"""Judges of event logs: does a run keep Kafka's promises? A judge reads the log alone, whichever
program wrote it.

    for verdict in judge(read("run.jsonl")):
        print(verdict)

A judge names the streams that it needs. If the log lacks one of them, its verdict is "not
judged". A judge shares no code with what it judges. Begin with `base.py`, then `judging.py`,
which lists all judges.
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
