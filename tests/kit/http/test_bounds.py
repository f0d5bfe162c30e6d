"""Numbers that nothing can be, and names that are none, are refused by the kit at both ends, and over
HTTP: nothing is put in force that fails later, when a client meets it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from coordinator import Emulator
from coordinator.kit.http.client import Client, Refused
from coordinator.kit.http.remote import RemoteKit

HUGE = 2**70
REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a fault's name that is a number": (
        lambda k: k.observe("Heartbeat", name=7),
        "name: 7; a text is meant",
    ),
    "a fault's name that is a list": (
        lambda k: k.observe("Heartbeat", name=[]),
        "name: \\[\\]; a text is meant",
    ),
    "a probability that is true": (
        lambda k: k.observe("Heartbeat", probability=True),
        "probability: True; above 0, at most 1",
    ),
    "a share consumer that works for ever": (
        lambda k: k.share_peer("workers", ["orders"], processing_ms=HUGE),
        "processing_ms=1180591620717411303424: whole milliseconds, from 0 to 2147483647",
    ),
    "a share consumer whose work is true": (
        lambda k: k.share_peer("workers", ["orders"], processing_ms=True),
        "processing_ms",
    ),
    "a share consumer that renews in an age": (
        lambda k: k.share_peer("workers", ["orders"], renew_ms=HUGE),
        "renew_ms=1180591620717411303424: whole milliseconds up to 2147483647",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_is_refused_before_a_client_meets_it(
    served: tuple[Emulator, Client], what: str
) -> None:
    call, said = REFUSED[what]
    kafka, client = served
    for kit in (kafka, RemoteKit(client.url)):
        mark = kafka.mark()
        with pytest.raises(Exception, match=said) as refused:
            call(kit)
        assert not isinstance(refused.value, TypeError | OverflowError), "from inside"
        changed = [line["type"] for line in kafka.events(since=mark) if line["stream"] != "wire"]
        assert (changed, kafka.faults()) == ([], [])


@pytest.mark.parametrize("offset", [-1, HUGE, True])
def test_a_peer_reads_up_to_no_offset_that_cannot_be(kafka: Emulator, offset: int) -> None:
    with kafka.peer("billing", topics=["orders"], config={"enable.auto.commit": False}) as peer:
        peer.wait_stable()
        with pytest.raises(ValueError, match=f"offset {offset}: a whole number from 0 to 92233"):
            peer.seek("orders", 0, offset)
        peer.seek("orders", 0, 2)
        peer.wait_commit()
    assert kafka.group("billing").committed["orders", 0].offset == 2


@pytest.mark.parametrize("count", [0, -1, HUGE, True])
def test_so_many_requests_cannot_be_let_go(kafka: Emulator, count: int) -> None:
    with kafka.hold("Heartbeat", may_miss=True) as held, pytest.raises(Exception, match="count: "):
        held.release(count)


@pytest.mark.parametrize("partition", [-1, 50, True])
def test_the_coordinator_loses_no_partition_that_there_is_not(
    kafka: Emulator, partition: int
) -> None:
    mark = kafka.mark()
    said = f"partition: {partition}; one of __consumer_offsets is meant, from 0 to 49"
    for verb in (kafka.unload_coordinator, kafka.load_coordinator):
        with pytest.raises(Exception, match=said):
            verb(partition)
    assert kafka.events("PartitionsUnloaded", since=mark) == []
    kafka.unload_coordinator(49)
    kafka.load_coordinator(49)


def test_a_query_is_not_called_a_body(served: tuple[Emulator, Client]) -> None:
    for path, said in (
        ("/client-config?user=app", "the query: the field 'library' is missing"),
        ("/mark?bogus=1", "the query: there is no field 'bogus'"),
    ):
        with pytest.raises(Refused, match=said):
            served[1].call("GET", path, None)
