"""The diagnosis as JSON, in the format of docs/diagnose.md. HTML is made from it."""

from __future__ import annotations

from typing import Any

from ..diagnosis import Diagnosis
from ..facts import Evidence
from ..lines.stamps import iso
from ..reading import FileReport
from ..stories.story import GroupStory
from .redaction import Redaction

VERSION = 1


def as_plain(diagnosis: Diagnosis, redaction: Redaction) -> dict[str, Any]:
    """Return the frame as plain values."""
    return {
        "version": VERSION,
        "files": {
            redaction.file(name): _file(report) for name, report in diagnosis.reports.items()
        },
        "groups": {
            redaction.text(name): _group(story, redaction)
            for name, story in diagnosis.groups.items()
        },
    }


def quoted(diagnosis: Diagnosis) -> dict[tuple[str, int], str]:
    """Return the text of the lines that the frame points to."""
    lines: dict[tuple[str, int], str] = {}
    for story in diagnosis.groups.values():
        told = [each.evidence for each in story.rebalances]
        told += [each.evidence for each in story.events]
        told += [each.evidence for each in story.findings]
        for evidence in told:
            lines.update({(line.file, line.line): line.text for line in evidence})
        for state in story.states:
            lines[state.evidence.file, state.evidence.line] = state.evidence.text
    return lines


def zone_text(offset: int | None) -> str | None:
    """Return a zone as it is written behind a time: `Z`, `+02:00`; None if it is not known."""
    if offset is None:
        return None
    if offset == 0:
        return "Z"
    return f"{'+' if offset > 0 else '-'}{abs(offset) // 60:02d}:{abs(offset) % 60:02d}"


def _file(report: FileReport) -> dict[str, Any]:
    return {
        "dialect": report.dialect,
        "lines": report.lines,
        "understood": report.understood,
        "passed_over": report.lines - report.understood,
        "clock_offset_ms": report.clock_offset_ms,
        "zone": zone_text(report.offset),
    }


def _group(story: GroupStory, redaction: Redaction) -> dict[str, Any]:
    def named(text: str | None) -> str | None:
        return None if text is None else redaction.text(text)

    def evidence(lines: list[Evidence]) -> list[dict[str, Any]]:
        return [
            {"file": redaction.file(line.file), "line": line.line} for line in dict.fromkeys(lines)
        ]

    offset = story.offset
    return {
        "protocol": story.protocol,
        "rebalances": [
            {
                "generation": each.generation,
                "at": iso(each.at, offset),
                "cause": each.cause,
                "member": named(each.member),
                "held_up_by": named(each.held_up_by),
                "removed": [redaction.text(one) for one in each.removed],
                "join_phase_s": None
                if each.join_phase_ms is None
                else round(each.join_phase_ms / 1000, 3),
                "members": each.members,
                "returns": each.returns,
                "empty": each.empty,
                "certainty": each.certainty,
                "evidence": evidence(each.evidence),
            }
            for each in story.rebalances
        ],
        "events": [
            {
                "at": iso(each.at, offset),
                "kind": each.kind,
                "member": named(each.member),
                "by": named(each.by),
                "sentence": redaction.text(each.sentence),
                "certainty": each.certainty,
                "evidence": evidence(each.evidence),
            }
            for each in story.events
        ],
        "findings": [
            {
                "id": each.id,
                "member": named(each.member),
                "setting": each.setting,
                "certainty": each.certainty,
                "sentence": redaction.text(each.sentence),
                "evidence": evidence(each.evidence),
            }
            for each in story.findings
        ],
        "states": [
            {
                "at": iso(each.at, offset),
                "state": each.described.state,
                "members": each.described.members,
                "owners": [redaction.text(one) for one in each.described.owners],
                "lag": each.described.lag,
                "evidence": evidence([each.evidence]),
            }
            for each in story.states
        ],
        "not_known": [redaction.text(sentence) for sentence in story.not_known],
    }
