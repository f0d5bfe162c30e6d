"""Values of the wrong kind, words that contradict each other, and nothing are refused at once, with
what exists instead.

`test_bad_input` goes through the verbs one by one.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from coordinator import Emulator
from coordinator.kit.emulator.embedded import EmulatorError
from coordinator.kit.http.client import Client, Refused
from coordinator.kit.http.remote import RemoteKit

HUGE = 2**70
BAD: dict[str, tuple[Callable[[Any], Any], str]] = {
    # topics and records
    "a topic called None": (lambda k: k.create_topic(None), "name: None; a text is meant"),
    "a topic called nothing": (lambda k: k.create_topic(""), "the empty string is not allowed"),
    "a topic with an umlaut": (
        lambda k: k.create_topic("bestell\u00fcngen"),
        "contains one or more characters other than ASCII alphanumerics",
    ),
    "partitions True": (
        lambda k: k.create_topic("t", True),
        "partitions: True; a whole number is meant",
    ),
    "grow beyond what is counted": (
        lambda k: k.grow_topic("orders", 10**10),
        "partitions: 10000000000; at most 2147483647",
    ),
    "a timestamp before 1970": (
        lambda k: k.produce("orders", ["a"], timestamp_ms=-5),
        "timestamp_ms: -5; a whole number from 0 to 92233",
    ),
    "a timestamp beyond 64 bits": (
        lambda k: k.produce("orders", ["a"], timestamp_ms=HUGE),
        "timestamp_ms: .*; a whole number from 0 to",
    ),
    "a header that is a number": (
        lambda k: k.produce("orders", ["a"], headers={1: b"a"}),
        "name of a header: 1; a text is meant",
    ),
    "abort of no transaction": (
        lambda k: k.produce("orders", ["a"], abort=True),
        "abort=True: of which transaction\\? Give transactional_id",
    ),
    "abort as text": (
        lambda k: k.produce("orders", ["a"], transactional_id="t", abort="yes"),
        "abort: 'yes'; true or false",
    ),
    "a transactional id of nothing": (
        lambda k: k.produce("orders", ["a"], transactional_id=""),
        "transactional_id: ''; a text of one letter",
    ),
    "a transactional id that is a number": (
        lambda k: k.produce("orders", ["a"], transactional_id=5),
        "transactional_id: 5; a text of one",
    ),
    "committed as text": (
        lambda k: k.records("orders", committed="yes"),
        "committed: 'yes'; true or false",
    ),
    "truncate partition None": (
        lambda k: k.truncate("orders", None),
        "partition: None; a whole number|'None' is no partition: a number is",
    ),
    # waits
    "assigned to nobody": (
        lambda k: k.group("g").wait(assigned={}),
        "assigned: {}; nothing is named in it",
    ),
    "assigned to a number": (
        lambda k: k.group("g").wait(assigned={1: ["orders-0"]}),
        "assigned: 1 is no name of a member",
    ),
    "committed of nothing": (
        lambda k: k.group("g").wait(committed={}),
        "committed: {}; nothing is named in it",
    ),
    "committed beyond 64 bits": (
        lambda k: k.group("g").wait(committed={("orders", 0): HUGE}),
        "a whole number from 0 on, at most 92233720",
    ),
    "Empty and acted": (
        lambda k: k.group("g").wait(state="Empty", acted=True),
        "a group without members has no assignment: leave acted out",
    ),
    "Empty and assigned": (
        lambda k: k.group("g").wait(state="Empty", assigned="all"),
        "has no assignment: leave assigned out",
    ),
    "nobody has acted": (
        lambda k: k.group("g").wait(members=0, acted=True),
        "a group without members has no assignment: leave acted out",
    ),
    "lag of a half": (lambda k: k.group("g").wait(lag=0.5), "lag: 0.5; a whole number from 0 on"),
    "a time-out of no number": (
        lambda k: k.group("g").wait(members=1, timeout=float("nan")),
        "timeout: nan; a number of seconds from 0 on",
    ),
    "a time-out None": (
        lambda k: k.group("g").wait(members=1, timeout=None),
        "timeout: None; a number of seconds from 0 on",
    ),
    # groups
    "commit of nothing": (
        lambda k: k.group("g").commit({}),
        "offsets: {}; name at least one partition",
    ),
    "commit beyond 64 bits": (
        lambda k: k.group("g").commit({("orders", 0): HUGE}),
        "a whole number from 0 on, at most 9223372036854775807",
    ),
    "remove None": (
        lambda k: k.group("g").remove(None),
        "None is no name of a member|member None; a text|member: None",
    ),
    "a group of bytes": (lambda k: k.group(b"g"), "b'g' is no group id: a text is"),
    # peers
    "a peer of a list of nothing": (
        lambda k: k.peer("g", []),
        "topics=\\[\\]: give one name at least",
    ),
    "a peer of a topic without a name": (
        lambda k: k.peer("g", [""]),
        "topics=\\[''\\]: give a list of names",
    ),
    "a setting that is a number": (
        lambda k: k.peer("g", ["orders"], config={1: 2}),
        "1 is no setting of a member",
    ),
    "a session of no time": (
        lambda k: k.peer("g", ["orders"], config={"session.timeout.ms": 0}),
        "session.timeout.ms 0: at least 1",
    ),
    "heartbeats rarer than sessions": (
        lambda k: k.peer(
            "g", ["orders"], config={"session.timeout.ms": 6000, "heartbeat.interval.ms": 7000}
        ),
        "the first must be lower",
    ),
    # faults and requests
    "a fault of a group without a name": (
        lambda k: k.fail("OffsetCommit", 27, group=""),
        "group: '' names none; leave it out for any",
    ),
    "a fault of a topic without a name": (
        lambda k: k.fail("Fetch", 6, topic=""),
        "topic: '' names none; leave it out for any",
    ),
    "an error that is none": (lambda k: k.fail("OffsetCommit", 0), "NONE is no error to fail with"),
    "a probability of no number": (
        lambda k: k.fail("Heartbeat", 27, probability=float("nan")),
        "probability: nan; above 0, at most 1",
    ),
    "a journal without end": (
        lambda k: k.journal(10**30),
        "most: 1000.*; a whole number from 1 on, at most 100000000|most=1000",
    ),
    "below none of a request": (
        lambda k: k.journal().verify("Fetch", exactly=-1),
        "exactly: -1; a whole number from 0",
    ),
    "a text of requests": (
        lambda k: k.journal().verify("Fetch", at_least="1"),
        "at_least: '1'; a whole number",
    ),
    "requests of two minds": (
        lambda k: k.journal().verify("Fetch", at_least=3, at_most=2),
        "at_least=3 and at_most=2: no number satisfies both",
    ),
    # time and the log
    "a grace below none": (
        lambda k: k.advance(seconds=1, grace=-1),
        "grace: -1; a number of seconds from 0 on",
    ),
    "a grace as text": (
        lambda k: k.advance(seconds=1, grace="x"),
        "grace: 'x'; a number of seconds",
    ),
    "seconds True": (lambda k: k.advance(seconds=True), "seconds: True; a number from 0 on"),
    "events since a text": (
        lambda k: k.events(since="1"),
        "since: '1'; give what mark\\(\\) returned",
    ),
    "events since before": (
        lambda k: k.events(since=-1),
        "since: -1; give what mark\\(\\) returned",
    ),
    # verdicts
    "verify since before": (lambda k: k.verify("g", since=-5), "since: -5; a whole number from 0"),
    "committed to a text": (
        lambda k: k.verify("g").committed({("orders", 0): "x"}),
        "offset of orders-0: 'x'; a whole number is meant",
    ),
    "rebalances exactly and at least": (
        lambda k: k.verify("g").rebalances(2, at_least=5),
        "2 rebalances exactly: give either exactly",
    ),
    "who left by number": (
        lambda k: k.verify("g").left_cleanly(1),
        "name of a member: 1; a text is meant",
    ),
    "gaps in None": (
        lambda k: k.verify("g").no_gaps(None),
        "processed: None; a list with \\(topic, partition, offset\\) of each record",
    ),
    "gaps in a text": (lambda k: k.verify("g").no_gaps("abc"), "processed: 'abc'; a list with"),
    "gaps in pairs": (
        lambda k: k.verify("g").no_gaps([("orders", 0)]),
        "processed: \\('orders', 0\\); \\(topic, partition, offset\\)",
    ),
    "twice in texts": (
        lambda k: k.verify("g").exactly_once([("orders", "0", 1)]),
        "processed: \\('orders', '0', 1\\); .*such as",
    ),
}


@pytest.fixture(scope="module")
def far(served: tuple[Emulator, Client]) -> RemoteKit:
    return RemoteKit(f"{served[1].url}")


@pytest.mark.parametrize("what", BAD)
def test_what_cannot_be_is_refused_at_once(
    served: tuple[Emulator, Client], far: RemoteKit, what: str
) -> None:
    call, said = BAD[what]
    for kit in (served[0], far):
        mark = kit.mark()
        with pytest.raises(Exception, match=said) as refused:
            call(kit)
        assert "mistake of the emulator" not in str(refused.value)
        assert not isinstance(
            refused.value, AttributeError | IndexError | KeyError | TypeError | OverflowError
        ), "from inside"
        changed = [
            line["type"]
            for line in served[0].events(since=mark)
            if line["stream"] in ("group", "cluster", "fault")
        ]
        assert changed == [], "nothing half done"
    assert served[0].faults() == []


@pytest.mark.parametrize(
    ("topic", "partition", "offset", "said"),
    [
        ("odrers", 0, 1, "there is no topic 'odrers'; there are: orders"),
        ("orders", 9, 1, "topic orders has no partition 9: it has 0 to"),
        ("orders", 0, -1, "offset: -1; a whole number from 0 on"),
        (None, 0, 0, "topic: None is no text"),
    ],
)
def test_records_that_nobody_can_have_processed(
    kafka: Emulator, topic: Any, partition: int, offset: int, said: str
) -> None:
    with pytest.raises(Exception, match=said):
        kafka.processed(topic, partition, offset)
    assert kafka.processed_records == []


@pytest.mark.parametrize(
    ("hits", "timeout", "said"),
    [
        (0, 1, "hits: 0; a whole number from 1 on"),
        (1, "1", "timeout: '1'; a number of seconds"),
        (1, -1, "timeout: -1; a number of seconds"),
    ],
)
def test_a_hit_that_cannot_be_waited_for(
    kafka: Emulator, hits: Any, timeout: Any, said: str
) -> None:
    with kafka.observe("Heartbeat", may_miss=True) as seen, pytest.raises(Exception, match=said):
        seen.wait_hit(hits, timeout)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"brokers": "3"}, "brokers='3': give 1 to 100"),
        ({"brokers": True}, "brokers=True: give 1 to 100"),
        ({"brokers": 3, "racks": "abc"}, "racks='abc': give a list with a name for each broker"),
        (
            {"brokers": 2, "racks": ["a", 1]},
            "racks=\\['a', 1\\]: give a list with a name for each broker",
        ),
        ({"remember": -1}, "remember=-1: give a number of lines from 0 on"),
        ({"remember": "many"}, "remember='many': give a number of lines"),
        ({"broker_config": [1]}, "broker_config=\\[1\\]: give settings by broker id"),
    ],
)
def test_options_that_no_emulator_takes(options: dict[str, Any], said: str) -> None:
    with pytest.raises(EmulatorError, match=said):
        Emulator(**options)


def test_use_after_its_end_is_refused_by_every_verb(kafka_factory: Callable[..., Emulator]) -> None:
    with Emulator({"orders": 1}, remember=100) as kafka:
        fault, group = kafka.observe("Heartbeat", may_miss=True), kafka.group("g")
    late: list[Callable[[], Any]] = [
        lambda: kafka.create_topic("t"),
        lambda: kafka.produce("orders", ["a"]),
        group.snapshot,
        lambda: group.wait(members=1),
        lambda: group.peer(["orders"]),
        lambda: kafka.advance(seconds=1),
        kafka.snapshot,
        kafka.journal,
        lambda: kafka.verify("g"),
        lambda: kafka.wait_for("MemberRemoved"),
        lambda: kafka.processed("orders", 0, 0),
        fault.wait_hit,
        fault.remove,
    ]
    for call in late:
        with pytest.raises(EmulatorError, match="the emulator is not running"):
            call()


async def test_an_emulator_of_one_loop_may_be_asked_on_another_that_is_elsewhere() -> None:
    """It answers, or says why not; nobody waits for ever."""
    async with Emulator({"orders": 1}) as kafka:

        async def elsewhere() -> list[Any]:
            return kafka.produce("orders", ["a"])

        (written,) = await asyncio.wait_for(asyncio.to_thread(asyncio.run, elsewhere()), 10)
        assert written.offset == 0


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/topics", {"name": None}),
        ("POST", "/topics", {"name": "t", "partitions": -7}),
        ("POST", "/topics", []),
        ("POST", "/topics/orders/records", {"values": ["a"], "abort": True}),
        ("POST", "/topics/orders/records", {"values": ["a"], "timestamp_ms": HUGE}),
        ("POST", "/topics/orders/records", {"values": None}),
        ("POST", "/topics/orders/grow", {"partitions": 10**10}),
        ("POST", "/groups/g/wait", {}),
        ("POST", "/groups/g/wait", {"members": None, "timeout": "soon"}),
        ("POST", "/groups/g/wait", {"state": "Empty", "acted": True}),
        ("POST", "/groups/g/wait", {"assigned": {}}),
        ("POST", "/peers", {"group": "g", "topics": []}),
        ("POST", "/peers", {"group": "", "topics": ["orders"]}),
        (
            "POST",
            "/faults",
            {"action": "fail", "api": "Fetch", "error": "NOT_COORDINATOR", "times": -1},
        ),
        ("POST", "/faults", {"action": "observe", "group": ""}),
        ("POST", "/advance", {"seconds": 1, "grace": -1}),
        ("POST", "/advance", None),
        ("GET", "/events?since=-1", None),
        ("GET", "/events?since=x", None),
        ("GET", "/nothing/there", None),
    ],
)
def test_over_http_it_is_a_problem_document(
    served: tuple[Emulator, Client], method: str, path: str, body: Any
) -> None:
    with pytest.raises(Refused) as refused:
        served[1].call(method, path, None if body is None else json.dumps(body).encode())
    assert 400 <= refused.value.status < 500
    assert refused.value.error, "it has the name of the error"
    assert "Traceback" not in str(refused.value)
