"""Topics that a share session names: deleted ones, and those that there are not where an authorizer
is to judge them (SH-SES-5, REF-10)."""

from __future__ import annotations

from itertools import count
from typing import Any

from integration_tests.wire.people import await_topic
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.sasl import as_user, grant, new_user
from integration_tests.wire.sharing import ACCEPT, PROFILE, Shared, Sharer

_NOBODY = "00" * 16
_UNINITIALIZED = 42


class _Counted:
    """A member whose requests take the next number, whatever comes of them."""

    def __init__(self, a: Sharer) -> None:
        self.a = a
        self.epochs = count(a.epoch)

    def fetch(self, *partitions: int, **other: Any) -> None:
        """A fetch of one record."""
        epoch = {"share_session_epoch": next(self.epochs), "max_records": 1}
        self.a.link.ask(
            "ShareFetch",
            2,
            shuffled="responses",
            **self.a.fields(*partitions, **({"share_acquire_mode": 1} | epoch | other)),
        )

    def acknowledge(self, *acks: tuple[int, ...], partition: int = 0, **other: Any) -> None:
        """Acknowledgements of one partition."""
        epoch = {"share_session_epoch": next(self.epochs)}
        self.a.name(self.a.part(partition, *acks), **(epoch | other))

    def unknown(self, *acks: tuple[int, ...]) -> list[dict[str, Any]]:
        """A topic that there is not."""
        return [{"topic_id": _NOBODY, "partitions": [self.a.part(0, *acks)]}]


@scenario(PROFILE, since="4.2")
def deleted_while_they_are_read(s: Session) -> None:
    """Partitions are unknown from then on; one that is named once more is of no known topic. What is
    stored of them is deleted."""
    shared = Shared(s, 5, partitions=2)
    a = shared.sharer()
    a.begin(0)
    a.fetch(1, max_wait_ms=500)
    s.stage().ask_quietly(
        "DeleteTopics", 6, topics=[{"name": shared.topic, "topic_id": "00" * 16}], timeout_ms=10_000
    )
    await_topic(s.stage(), shared.topic, None)
    link = s.stage()

    def forgotten() -> bool:
        asked = {"partition": 0, "leader_epoch": 0}
        answer = link.ask_quietly(
            "ReadShareGroupState",
            0,
            group_id=shared.group,
            topics=[{"topic_id": shared.id, "partitions": [asked]}],
        )
        error: int = answer["results"][0]["partitions"][0]["error_code"]
        return error == _UNINITIALIZED

    s.until(forgotten, "the state stayed")
    of = _Counted(a)
    of.fetch()
    of.fetch(acks=((0, 0, ACCEPT),))
    of.acknowledge((0, 0, ACCEPT))
    of.acknowledge((1, 1, ACCEPT), partition=1)
    of.fetch(forgotten_topics_data=[{"topic_id": shared.id, "partitions": [0]}])
    of.fetch(0)
    of.fetch(0, 1, share_session_epoch=0)
    shared.state()
    shared.state(partition=1)
    of.acknowledge((0, 0, ACCEPT), share_session_epoch=-1)


def _unknown(shared: Shared, a: Sharer) -> None:
    part = a.part(0, (0, 0, ACCEPT))
    known = [{"topic_id": shared.id, "partitions": [part]}]
    a.begin(0, max_records=2, share_acquire_mode=1)
    of = _Counted(a)
    of.acknowledge(topics=of.unknown())
    of.acknowledge(topics=[*of.unknown((0, 0, ACCEPT)), *known])
    of.acknowledge(topics=[{"topic_id": _NOBODY, "partitions": []}])
    shared.state()
    of.fetch(topics=of.unknown())
    of.fetch(acks=((0, 0, ACCEPT),))
    of.acknowledge((1, 1, ACCEPT))
    shared.state()
    of.fetch(forgotten_topics_data=[{"topic_id": _NOBODY, "partitions": [0]}])
    of.acknowledge(topics=of.unknown(), share_session_epoch=-1)
    next(of.epochs)
    of.fetch(topics=[*of.unknown(), *known], share_session_epoch=-1)
    next(of.epochs)
    of.fetch(topics=of.unknown(), share_session_epoch=0)
    of.fetch(share_session_epoch=1)
    of.fetch(
        share_session_epoch=2, forgotten_topics_data=[{"topic_id": _NOBODY, "partitions": [0]}]
    )


@scenario("security", since="4.2")
def judged_without_a_name(s: Session) -> None:
    """Who asks for a topic that there is not is answered nothing, and the session's number goes on;
    its acknowledgements are not taken."""
    alice = new_user(s, "alice")
    shared = Shared(s, 6)
    grant(s, alice, f"Read group {shared.group}", f"Read topic {shared.topic}")
    _unknown(shared, Sharer(shared, "a", as_user(s, alice, "a")))


@scenario("security", since="4.2")
def a_super_user_is_judged_too(s: Session) -> None:
    """The same of a user who may do everything."""
    shared = Shared(s, 6)
    _unknown(shared, shared.sharer())


@scenario(PROFILE, since="4.2")
def nobody_judges(s: Session) -> None:
    """The same without an authorizer."""
    shared = Shared(s, 6)
    _unknown(shared, shared.sharer())
