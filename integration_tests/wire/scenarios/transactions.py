"""What asks for transactions: served by Kafka, refused by us for now."""

from __future__ import annotations

from integration_tests.wire.batches import Producer, batch
from integration_tests.wire.people import topic
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.produce import producer, request


@scenario()
def a_transactional_id(s: Session) -> None:
    """InitProducerId in each version, once the broker coordinates transactions at all."""
    a = s.connect()
    name = s.name("tx")
    for _ in range(200):
        if a.ask_quietly("FindCoordinator", 4, coordinator_keys=[name], key_type=1)["coordinators"][0]["error_code"] == 0:
            break
        s.wait(50)
    for version in range(6):
        fields: Plain = {"transactional_id": name, "transaction_timeout_ms": 60_000}
        answer: Plain = {}
        for _ in range(200):
            answer = a.ask_quietly("InitProducerId", version, **fields)
            if answer["error_code"] not in (14, 15, 16, 51):
                break
            s.wait(50)
        s.say("answer", answer)


@scenario()
def produce_under_a_transactional_id(s: Session) -> None:
    """Produce that names a transactional id: with a batch that is not transactional, and with one of an unknown producer."""
    a = s.connect()
    name = topic(s, "t")
    a.ask("Produce", 9, **request(name, batch(b"x"), transactional_id=s.name("tx")))
    a.ask("Produce", 9, **request(name, batch(b"x", producer=Producer(producer(s), 0, 0), attributes=16), transactional_id=s.name("tx")))
    a.ask("Produce", 12, **request(name, batch(b"x", producer=Producer(producer(s), 0, 0), attributes=16), transactional_id=s.name("tx")))
