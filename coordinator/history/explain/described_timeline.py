"""A timeline together with the functions that make its sentences. `coordinator/history/world/`
must not know words, so it is given them here."""

from __future__ import annotations

from coordinator.events.line import Line

from ..world.deleted_records import Asked, Deletion
from ..world.packed_stories import LogFile
from ..world.shares.groups import ShareGroup
from ..world.shares.records import ShareRecords
from ..world.timeline import Timeline
from ..world.views import GroupView
from . import consumer_story, deleted_records, seen_story, share_group_story, share_story


class Sentences:
    """The sentences of a timeline."""

    def consumer_event(self, group: GroupView, line: Line, *, new: bool) -> str:
        """See `Words`."""
        return consumer_story.sentence(group, line, new=new)

    def share_group_event(self, group: ShareGroup, line: Line) -> str:
        """See `Words`."""
        return share_group_story.sentence(group, line)

    def share_event(self, known: ShareRecords, line: Line) -> str:
        """See `Words`."""
        return share_story.sentence(known, line)

    def seen_event(self, line: Line) -> str:
        """See `Words`."""
        return seen_story.sentence(line)

    def deleted_records(self, deletion: Deletion, asked: Asked) -> str:
        """See `Words`."""
        return deleted_records.of_reader(deletion, asked)


def told_timeline(
    *, details: bool = False, from_text: bool = False, file: LogFile | None = None
) -> Timeline:
    """Return a timeline whose notes have sentences. `details`, `from_text` and `file`: see
    Timeline."""
    return Timeline(details=details, words=Sentences(), from_text=from_text, file=file)
