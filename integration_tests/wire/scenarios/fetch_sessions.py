"""Fetch sessions beyond their first requests: in which order they keep their partitions, and topics
that have neither name nor id."""

from __future__ import annotations

from integration_tests.wire.batches import batch
from integration_tests.wire.people import ZERO_ID, await_topic, topic, topic_id
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.fetch import fetch, fill, wanted

UNKNOWN_ID = "f" * 32


def _in_session(
    link: Link, session: int, epoch: int, *topics: Plain, version: int, **other: object
) -> Plain:
    return fetch(link, *topics, version=version, session_id=session, session_epoch=epoch, **other)


def _deleted(s: Session, name: str) -> None:
    """Delete a topic, without a step."""
    s.stage().ask_quietly(
        "DeleteTopics", 6, topics=[{"name": name, "topic_id": ZERO_ID}], timeout_ms=5_000
    )
    await_topic(s.stage(), name, None)


@scenario()
def a_session_keeps_the_order_of_its_first_answer(s: Session) -> None:
    """Partitions that are unknown at first come last then, and stay behind the others that have
    gone since."""
    a = s.connect()
    for version in (12, 17):
        by_id = version >= 13
        names = [topic(s, f"t{i}-{version}", 2) for i in range(3)]
        keys = [topic_id(s, name) if by_id else name for name in names]
        fill(s, names[1], batch(b"a"))
        asked = [
            wanted(keys[0], 0, version=version, partitions=(9,)),
            wanted(keys[1], 9, 0, version=version),
            wanted(keys[2], 0, version=version),
        ]
        session = int(_in_session(a, 0, 0, *asked, version=version)["session_id"])
        _in_session(a, session, 1, version=version)
        _deleted(s, names[2])
        _in_session(a, session, 2, version=version)
        _deleted(s, names[1])
        _in_session(a, session, 3, version=version)
        _in_session(a, session, 4, wanted(keys[0], 0, version=version), version=version)
        _in_session(a, session, -1, version=version)


@scenario()
def topics_without_name_and_id(s: Session) -> None:
    """The zero id is unknown (100), and a request in whose answer anything comes behind it fails
    (-1): the session goes on, its next epoch is due."""
    a = s.connect()
    name = topic(s, "t", 2)
    identity = topic_id(s, name)
    fill(s, name, batch(b"a"))
    zero, unknown, known = (wanted(key, 0, version=17) for key in (ZERO_ID, UNKNOWN_ID, identity))
    two = wanted(ZERO_ID, 0, 0, version=17)
    missing = wanted(identity, 0, version=17, partitions=(9,))
    for epoch in (-1, 0):
        for asked in (
            [zero],
            [zero, zero],
            [two],
            [zero, known],
            [zero, unknown],
            [unknown, zero, known],
            [zero, missing],
        ):
            _in_session(a, 0, epoch, *asked, version=17)
    session = int(_in_session(a, 0, 0, known, version=17)["session_id"])
    _in_session(a, session, 1, zero, version=17)
    _in_session(a, session, 2, unknown, version=17)
    _in_session(a, session, 2, version=17)
    _in_session(a, session, 3, version=17)
    forgotten = [{"topic_id": ZERO_ID, "partitions": [0]}]
    _in_session(a, session, 4, version=17, forgotten_topics_data=forgotten)
    _in_session(a, session, 5, version=17)
