"""What is told of records that were compacted away, and of who asks for them afterwards."""

from __future__ import annotations

from coordinator.events.line import lines_of
from coordinator.history.explain.output import as_plain, as_text, timeline_of
from tests.history.judges.test_cleaned_logs import compacted
from tests.server.brokers.desk import Cluster
from tests.server.brokers.test_log_cleaning import fetch


def _told(cluster: Cluster) -> list[str]:
    timeline = timeline_of(lines_of(cluster.log.events()))
    return [line for line in as_text(timeline, ()) if "compacted" in line]


def test_a_compaction_is_told_with_who_asked_for_what_it_took() -> None:
    cluster = compacted()
    (line,) = cluster.logged("LogCompacted")
    (text,) = _told(cluster)
    assert text.startswith(f"{line['removed']} records of orders-0 below offset 4 were compacted")
    assert text.endswith(f"by {line['reason']}.")

    client = cluster.client(cluster.partition().leader)
    for offset in (0, 1, 4):
        fetch(cluster, client, offset)
    (text,) = _told(cluster)
    assert text.count("asked for") == 1, "once for each client"
    assert " asked for 0 at " in text and text.endswith(" and was given what is left.")
    (told,) = as_plain(timeline_of(lines_of(cluster.log.events())), ())["compacted_records"]
    assert (told["removed"], told["end_offset"], told["text"]) == (line["removed"], 4, text)
    assert len(told["clients"]) == 1


def test_who_reads_behind_what_was_compacted_asked_for_nothing_of_it() -> None:
    cluster = compacted()
    fetch(cluster, cluster.client(cluster.partition().leader), 4)
    (text,) = _told(cluster)
    assert "asked for" not in text
