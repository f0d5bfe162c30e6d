"""The diagnosis for people: on a terminal, or as Markdown for a ticket. Every sentence has the
lines that show it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from coordinator.base.printable import printable, shortened
from coordinator.events.seen import cause

from ..diagnosis import Diagnosis
from ..facts import Evidence
from ..lines.stamps import iso
from ..reading import LOOKED_FOR, FileReport
from ..stories.story import GroupStory, Rebalance
from .redaction import Redaction

_QUOTED = 240


class Page:
    """Lines of text. `markdown`: for a ticket."""

    def __init__(self, diagnosis: Diagnosis, redaction: Redaction, *, markdown: bool) -> None:
        self.diagnosis = diagnosis
        self.redaction = redaction
        self.markdown = markdown

    def lines(self) -> Iterator[str]:
        """Yield the lines of the whole page."""
        for story in self.diagnosis.groups.values():
            yield from self._group(story)
        for name, report in self.diagnosis.reports.items():
            yield from self._file(name, report)

    def _group(self, story: GroupStory) -> Iterator[str]:
        name = self._said(story.group)
        group = f"Group {name}" if story.group != "?" else "A group that no line names"
        kind = f" ({story.protocol})" if story.protocol else ""
        counted = Counter(each.cause for each in story.rebalances)
        number = len(story.rebalances)
        yield from self._head(
            f"{group}{kind}: {number} rebalance{'' if number == 1 else 's'}"
            + (
                ": " + ", ".join(f"{count} x {cause}" for cause, count in counted.most_common())
                if counted
                else (" in these files" if story.broker else ", as far as these files can tell")
            )
        )
        if story.findings:
            yield from self._title("What is wrong")
            for finding in story.findings:
                yield self._item(
                    f"{finding.id} ({finding.certainty}): {self._said(finding.sentence)}"
                )
                yield from self._quotes(finding.evidence, most=3)
        if story.rebalances:
            yield from self._title("Rebalances")
            for rebalance in story.rebalances:
                yield self._item(self._rebalance(story, rebalance))
                yield from self._quotes(rebalance.evidence, most=4)
        if story.events or story.states:
            yield from self._title("Besides")
            for event in story.events:
                yield self._item(
                    f"{self._at(story, event.at)}{event.kind}: {self._said(event.sentence)}"
                )
                yield from self._quotes(event.evidence, most=2)
            for state in story.states:
                yield self._item(self._state(story, state.at, state.described._asdict()))
                yield from self._quotes([state.evidence], most=1)
        if story.not_known:
            yield from self._title("Not known from these files")
            for sentence in story.not_known:
                yield self._item(self._said(sentence))

    def _rebalance(self, story: GroupStory, each: Rebalance) -> str:
        who = self._said(each.member) if each.member else None
        said = cause(each.cause, who)
        sure = f" ({each.certainty})" if each.certainty and each.certainty != "shown" else ""
        more: list[str] = []
        if each.returns:
            more.append("it was in the group before")
        if each.join_phase_ms is not None:
            more.append(f"join phase {each.join_phase_ms / 1000:.1f} s")
        if each.held_up_by:
            more.append(f"held up by {self._said(each.held_up_by)}")
        if each.removed:
            more.append(f"removed: {', '.join(map(self._said, each.removed))}")
        if each.empty:
            more.append("the group is empty from then on")
        elif each.members is not None:
            more.append(f"{each.members} member{'' if each.members == 1 else 's'}")
        word = "epoch" if story.protocol in ("consumer", "share", "streams") else "generation"
        tail = f"; {', '.join(more)}" if more else ""
        return f"{self._at(story, each.at)}{word} {each.generation}: {said}{sure}{tail}"

    def _state(self, story: GroupStory, at: int | None, described: dict[str, object]) -> str:
        owners = described["owners"]
        assert isinstance(owners, tuple)
        shown = f"owners {', '.join(map(self._said, owners))}" if owners else "no owners shown"
        parts = [
            str(described["state"] or "state not shown"),
            shown,
            *([f"{described['members']} members"] if described["members"] is not None else []),
            f"lag {described['lag']}"
            if described["lag"] is not None
            else "lag not told for all partitions",
        ]
        return f"{self._at(story, at)}described: {', '.join(parts)}"

    def _file(self, name: str, report: FileReport) -> Iterator[str]:
        shown = printable(self.redaction.file(name))
        if report.understood:
            clock = (
                f", clock {report.clock_offset_ms / 1000:+.1f} s"
                if report.clock_offset_ms and abs(report.clock_offset_ms) >= 1000
                else ""
            )
            yield f"{shown}: {report.dialect}; {report.understood} of {report.lines} lines understood{clock}"
            return
        yield f"{shown}: nothing understood in {report.lines} lines. Looked for: {LOOKED_FOR}."
        if not self.redaction.on:
            for shape, count in report.shapes.most_common(3):
                yield f"    {count} x {shortened(shape, 100)}"

    def _said(self, text: str) -> str:
        return printable(self.redaction.text(text))

    def _at(self, story: GroupStory, at: int | None) -> str:
        shown = iso(at, story.offset)
        return f"{shown}  " if shown else ""

    def _head(self, text: str) -> Iterator[str]:
        yield f"## {text}" if self.markdown else text
        yield ""

    def _title(self, text: str) -> Iterator[str]:
        yield f"**{text}**" if self.markdown else f"  {text}"
        yield ""

    def _item(self, text: str) -> str:
        return f"- {text}" if self.markdown else f"  - {text}"

    def _quotes(self, evidence: list[Evidence], *, most: int) -> Iterator[str]:
        lines = list(dict.fromkeys(evidence))
        for line in lines[:most]:
            place = f"{printable(self.redaction.file(line.file))}:{line.line}"
            if self.redaction.on or not line.text:
                yield f"  - {place}" if self.markdown else f"      {place}"
            elif self.markdown:
                yield f"  - {place}: `{shortened(line.text).replace('`', chr(39))}`"
            else:
                yield f"      {place}: {shortened(line.text, _QUOTED)}"
        if len(lines) > most:
            yield f"{'  - ' if self.markdown else '      '}and {len(lines) - most} more"
        yield ""
