"""The all-zero topic id in each request that names topics by id, of a user with and without rights:
it is an unknown id, not a hidden topic."""

from __future__ import annotations

from integration_tests.wire.batches import batch
from integration_tests.wire.people import ZERO_ID, topic, topic_id
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.sasl import as_user, grant, new_user

NOBODYS_ID = "ab" * 16


def _people(s: Session) -> tuple[str, str, list[Link]]:
    """A topic's id, a group, and connections: without rights, with those that are needed, and of a
    super user."""
    name, group = topic(s, "t", 1), s.name("g")
    nobody, reader = new_user(s, "nobody"), new_user(s, "reader")
    grant(s, nobody, f"Read group {group}")
    grant(s, reader, f"Read group {group}", f"Read topic {name}", f"Write topic {name}")
    links = [as_user(s, nobody, "nobody"), as_user(s, reader, "reader"), s.connect("super")]
    return topic_id(s, name), group, links


def _lists(known: str) -> list[list[str]]:
    return [
        [ZERO_ID],
        [ZERO_ID, ZERO_ID],
        [ZERO_ID, NOBODYS_ID],
        [ZERO_ID, known],
        [known, ZERO_ID, known, ZERO_ID, NOBODYS_ID],
    ]


@scenario("security", since="4.4")
def offsets_fetched(s: Session) -> None:
    """OffsetFetch v10: each zero id is an entry of its own (REF-5)."""
    known, group, links = _people(s)
    for link in links:
        for ids in _lists(known):
            topics = [{"topic_id": of, "partition_indexes": [0, 1]} for of in ids]
            groups = [{"group_id": group, "member_epoch": -1, "topics": topics}]
            link.ask("OffsetFetch", 10, groups=groups)


@scenario("security", since="4.4")
def offsets_committed(s: Session) -> None:
    """OffsetCommit v10."""
    known, group, links = _people(s)
    rows = [{"partition_index": 0, "committed_offset": 1, "committed_leader_epoch": -1}]
    for link in links:
        for ids in _lists(known):
            topics = [{"topic_id": of, "partitions": rows} for of in ids]
            fields: Plain = {"generation_id_or_member_epoch": -1, "member_id": ""}
            link.ask("OffsetCommit", 10, group_id=group, **fields, topics=topics)


@scenario("security", since="4.4")
def records_produced(s: Session) -> None:
    """Produce v13."""
    known, _, links = _people(s)
    rows = [{"index": 0, "records": batch(b"v")}]
    for link in links:
        for ids in ([ZERO_ID], [ZERO_ID, NOBODYS_ID], [ZERO_ID, known]):
            topics = [{"topic_id": of, "partition_data": rows} for of in ids]
            link.ask(
                "Produce", 13, shuffled="responses", acks=-1, timeout_ms=5_000, topic_data=topics
            )


@scenario("security", since="4.4")
def records_fetched(s: Session) -> None:
    """Fetch v17."""
    known, _, links = _people(s)
    rows = [{"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1_000}]
    limits: Plain = {"max_wait_ms": 0, "min_bytes": 0, "max_bytes": 1_000, "session_epoch": -1}
    for link in links:
        for ids in ([ZERO_ID], [ZERO_ID, known], [NOBODYS_ID, ZERO_ID]):
            topics = [{"topic_id": of, "partitions": rows} for of in ids]
            link.ask("Fetch", 17, shuffled="responses", **limits, topics=topics)


@scenario("security", since="4.4")
def share_fetches_and_acknowledgements(s: Session) -> None:
    """ShareFetch and ShareAcknowledge v2."""
    _, group, links = _people(s)
    rows = [{"partition_index": 0, "acknowledgement_batches": []}]
    acks = [{"first_offset": 0, "last_offset": 0, "acknowledge_types": [1]}]
    said = [{"partition_index": 0, "acknowledgement_batches": acks}]
    limits: Plain = {"max_wait_ms": 0, "min_bytes": 0, "max_bytes": 1_000, "max_records": 1}
    for link in links:
        of_session: Plain = {"group_id": group, "member_id": f"m-{link.name}"}
        for ids in ([ZERO_ID], [ZERO_ID, NOBODYS_ID]):
            topics = [{"topic_id": of, "partitions": rows} for of in ids]
            link.ask("ShareFetch", 2, **of_session, share_session_epoch=0, **limits, topics=topics)
            acked = [{"topic_id": of, "partitions": said} for of in ids]
            link.ask("ShareAcknowledge", 2, **of_session, share_session_epoch=1, topics=acked)


@scenario("security", since="4.4")
def topics_described_and_deleted(s: Session) -> None:
    """Metadata v12 and DeleteTopics v6."""
    _, _, links = _people(s)
    for link in links:
        for ids in ([ZERO_ID], [NOBODYS_ID, ZERO_ID]):
            by_id = [{"topic_id": of, "name": None} for of in ids]
            link.ask(
                "Metadata",
                12,
                only="topics",
                topics=by_id,
                allow_auto_topic_creation=False,
            )
            link.ask("DeleteTopics", 6, shuffled="responses", topics=by_id, timeout_ms=5_000)
