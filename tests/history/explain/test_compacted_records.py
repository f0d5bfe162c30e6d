"""What is told of records that were compacted away, and of who asks for them afterwards."""

from __future__ import annotations

import pytest

from coordinator.events.line import lines_of
from coordinator.history.explain.output import as_plain, as_text, timeline_of
from coordinator.server.data_log import first_left
from coordinator.server.storage.record_codec import Record, build_batch
from coordinator.server.storage.records import CONTROL, HEADER_SIZE, seal, sole_batch
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
    for offset in (1, 0, 3, 4):
        fetch(cluster, client, offset)
    (text,) = _told(cluster)
    assert text.count("asked for") == 1, "once for each client"
    assert " asked for 1 at " in text and text.endswith(" and the first record kept is 3.")
    (told,) = as_plain(timeline_of(lines_of(cluster.log.events())), ())["compacted_records"]
    assert (told["removed"], told["end_offset"], told["text"]) == (line["removed"], 4, text)
    assert len(told["clients"]) == 1


@pytest.mark.parametrize("offset", [3, 4])
def test_who_asks_for_a_record_that_is_there_asked_for_nothing_of_it(offset: int) -> None:
    cluster = compacted()
    fetch(cluster, cluster.client(cluster.partition().leader), offset)
    (text,) = _told(cluster)
    assert "asked for" not in text


def rebuilt(kept: list[int], *, base: int, last: int, control: bool = False) -> bytes:
    """A batch as compaction leaves it: some of its records, under its former offsets."""
    records = [Record(offset - base, 0, b"k", b"v") for offset in kept]
    data = build_batch(records or [b"x"], timestamp=0, attributes=CONTROL if control else 0)
    payload = data[HEADER_SIZE:] if records else b""
    header = sole_batch(data, 12)._replace(
        base_offset=base,
        length=HEADER_SIZE - 12 + len(payload),
        last_offset_delta=last - base,
        record_count=len(kept),
    )
    return seal(header, payload)


@pytest.mark.parametrize(
    ("records", "offset", "first"),
    [
        (rebuilt([17, 20], base=17, last=20), 17, None),
        (rebuilt([17, 20], base=17, last=20), 18, 20),
        (rebuilt([20, 21], base=20, last=21), 17, 20),
        (rebuilt([], base=10, last=12) + rebuilt([14], base=13, last=14), 10, 14),
        (rebuilt([15], base=15, last=15, control=True) + rebuilt([16], base=16, last=16), 15, None),
        (b"", 3, None),
    ],
    ids=["there", "within a batch", "before a batch", "an empty batch", "a marker", "nothing"],
)
def test_the_first_record_that_is_left(records: bytes, offset: int, first: int | None) -> None:
    assert first_left(records, offset) == first
