"""A timeline with its sentences: what `coordinator.history` cannot say, because it has no words."""

from __future__ import annotations

from ..event_log.reader import Line
from ..history.filed import LogFile
from ..history.shares.groups import ShareGroup
from ..history.shares.records import ShareRecords
from ..history.timeline import Timeline
from ..history.views import GroupView
from . import consumer_story, share_group_story, share_story


class Sentences:
    """The words of a timeline."""

    def consumer_event(self, group: GroupView, line: Line, *, new: bool) -> str:
        """As of `Words`."""
        return consumer_story.sentence(group, line, new=new)

    def share_group_event(self, group: ShareGroup, line: Line) -> str:
        """As of `Words`."""
        return share_group_story.sentence(group, line)

    def share_event(self, known: ShareRecords, line: Line) -> str:
        """As of `Words`."""
        return share_story.sentence(known, line)


def told_timeline(
    *, details: bool = False, from_text: bool = False, file: LogFile | None = None
) -> Timeline:
    """A timeline whose notes have their sentences; `details`, `from_text` and `file` as of
    Timeline."""
    return Timeline(details=details, words=Sentences(), from_text=from_text, file=file)
