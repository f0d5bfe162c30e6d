"""What cannot be is refused at once, with what exists instead: by every verb, in Python and over
HTTP (4xx, a problem document)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from coordinator import Emulator
from coordinator.kit.http.client import Client, Refused
from coordinator.kit.http.remote import RemoteKit

BAD: dict[str, tuple[Callable[[Any], Any], str]] = {
    # topics and records
    "topic that is no text": (lambda k: k.create_topic(["t"]), "name: \\['t'\\]; a text is meant"),
    "topic name": (lambda k: k.create_topic("a b"), "contains one or more characters other than"),
    "partitions 0": (lambda k: k.create_topic("t", 0), "INVALID_PARTITIONS"),
    "partitions as text": (
        lambda k: k.create_topic("t", "3"),
        "partitions: '3'; a whole number is meant",
    ),
    "topic option": (
        lambda k: k.create_topic("t", partitons=3),
        "create_topic has no 'partitons': did you mean partitions",
    ),
    "topic configuration": (
        lambda k: k.create_topic("t", 1, config={"retention": 1}),
        "Unknown topic config name: retention",
    ),
    "value of a configuration": (
        lambda k: k.create_topic("t", 1, config={"retention.ms": "soon"}),
        "Invalid value soon for configuration",
    ),
    "configuration as a list": (
        lambda k: k.create_topic("t", 1, config=["a"]),
        "config: \\['a'\\]; a mapping is meant",
    ),
    "replication": (lambda k: k.create_topic("t", 1, replication=3), "only 1 broker"),
    "grow no topic": (
        lambda k: k.grow_topic("odrers", 9),
        "there is no topic 'odrers'; there are: orders",
    ),
    "grow to fewer": (lambda k: k.grow_topic("orders", 1), "1 would not be an increase"),
    "delete no topic": (
        lambda k: k.delete_topic("odrers"),
        "there is no topic 'odrers'; there are: orders",
    ),
    "truncate no topic": (
        lambda k: k.truncate("odrers", 0),
        "there is no topic 'odrers'; there are: orders",
    ),
    "truncate no partition": (
        lambda k: k.truncate("orders", 9),
        "topic orders has no partition 9: it has 0 to 3",
    ),
    "truncate behind the end": (lambda k: k.truncate("orders", 0, 99), "OFFSET_OUT_OF_RANGE"),
    "ends of no topic": (
        lambda k: k.end_offsets("odrers"),
        "there is no topic 'odrers'; there are: orders",
    ),
    "produce to no topic": (
        lambda k: k.produce("odrers", ["a"]),
        "there is no topic 'odrers'; there are: orders",
    ),
    "produce to no partition": (
        lambda k: k.produce("orders", ["a"], partition=7),
        "topic orders has no partition 7: it has 0 to 3",
    ),
    "values as one text": (lambda k: k.produce("orders", "a"), "values come as a list: \\['a'\\]"),
    "values as a number": (lambda k: k.produce("orders", 7), "values come as a list, not as 7"),
    "a value that is no bytes": (lambda k: k.produce("orders", [1]), "1 cannot stand in a record"),
    "keys as one text": (lambda k: k.produce("orders", ["a"], keys="k"), "keys"),
    "too many keys": (
        lambda k: k.produce("orders", ["a"], keys=["k", "l"]),
        "keys: 2 for 1 values",
    ),
    "partition as text": (
        lambda k: k.produce("orders", ["a"], partition="0"),
        "partition: '0'; a whole number is meant",
    ),
    "headers as a list": (
        lambda k: k.produce("orders", ["a"], headers=["h"]),
        "headers: \\['h'\\]; a mapping is meant",
    ),
    "timestamp": (
        lambda k: k.produce("orders", ["a"], timestamp_ms="now"),
        "timestamp_ms: 'now'; a whole number is meant",
    ),
    "records of a text": (
        lambda k: k.records("orders", "0"),
        "partition: '0'; a whole number is meant|'0' is no whole number",
    ),
    "records of no partition": (
        lambda k: k.records("orders", 9),
        "topic orders has no partition 9: it has 0 to 3",
    ),
    # groups
    "group that is no text": (lambda k: k.group(7), "7 is no group id: a text is"),
    "wait for nothing": (lambda k: k.group("g").wait(), "wait for what\\? Give state, members"),
    "wait for a word": (
        lambda k: k.group("g").wait(member=1),
        "wait has no 'member': did you mean members",
    ),
    "group without a name": (lambda k: k.group(""), "'' is no group id: a text is"),
    "state as a list": (
        lambda k: k.group("g").wait(state=["Stable"]),
        "\\['Stable'\\] is no state of a group: give a text",
    ),
    "acted as text": (lambda k: k.group("g").wait(acted="yes"), "acted: 'yes'; true or false"),
    "heard as text": (lambda k: k.group("g").wait(heard="yes"), "heard: 'yes'; true or false"),
    "committed below 0": (
        lambda k: k.group("g").wait(committed={("orders", 0): -3}),
        "-3; a whole number from 0 on",
    ),
    "committed at a partition as text": (
        lambda k: k.group("g").wait(committed={("orders", "0"): 3}),
        "is no partition",
    ),
    "state": (
        lambda k: k.group("g").wait(state="Stabel"),
        "'Stabel' is no state of a group: did you mean stable, Stable",
    ),
    "members": (lambda k: k.group("g").wait(members="2"), "members: '2'; a whole number from 0 on"),
    "more members than can be": (
        lambda k: k.group("g").wait(members=9_000_000_000),
        "members: 9000000000; this group can have 2147483647",
    ),
    "Empty with members": (
        lambda k: k.group("g").wait(state="Empty", members=1),
        "Empty has no members: members=1 is impossible",
    ),
    "assigned": (
        lambda k: k.group("g").wait(assigned="most"),
        "assigned: 'most'; \"all\", or partitions by member",
    ),
    "assigned as one text": (
        lambda k: k.group("g").wait(assigned={"a": "orders-0"}),
        "of a: 'orders-0'; a list of partitions is meant",
    ),
    "assigned no partition": (
        lambda k: k.group("g").wait(assigned={"a": ["orders-9"]}),
        "topic orders has no partition 9: it has 0 to 3",
    ),
    "assigned no topic": (
        lambda k: k.group("g").wait(assigned={"a": ["odrers-0"]}),
        "there is no topic 'odrers'; there are: orders",
    ),
    "assigned no name": (
        lambda k: k.group("g").wait(assigned={"a": ["orders"]}),
        "'orders' is no partition",
    ),
    "committed no topic": (
        lambda k: k.group("g").wait(committed={("odrers", 0): 1}),
        "there is no topic 'odrers'; there are: orders",
    ),
    "lag": (lambda k: k.group("g").wait(lag=-1), "lag: -1; a whole number from 0 on"),
    "timeout": (
        lambda k: k.group("g").wait(members=1, timeout=-1),
        "timeout: -1; (a number of )?seconds from 0",
    ),
    "timeout without end": (
        lambda k: k.group("g").wait(members=1, timeout=float("inf")),
        "timeout: inf; a number of seconds",
    ),
    "timeout as text": (
        lambda k: k.group("g").wait(members=1, timeout="1"),
        "timeout: '1'; a number",
    ),
    "remove nobody": (
        lambda k: k.group("g").remove("x"),
        "no member 'x' in group 'g': it has no members|there is no group 'g'",
    ),
    "expire nobody": (
        lambda k: k.group("g").expire("x"),
        "no member 'x' in group 'g': it has no members|there is no group 'g'",
    ),
    "fence nobody": (
        lambda k: k.group("g").fence("x"),
        "no member 'x' in group 'g': it has no members|there is no group 'g'",
    ),
    "remove a number": (
        lambda k: k.group("g").remove(1),
        "1 is no name of a member|member: 1; a text",
    ),
    "lose nobody's": (
        lambda k: k.group("g").lose("x"),
        "no member 'x' in group 'g': it has no members|there is no group 'g'",
    ),
    "expire a list": (
        lambda k: k.group("g").expire(["x"]),
        "\\['x'\\] is no name of a member|member: \\['x'\\]; a text",
    ),
    "offset of no partition": (
        lambda k: k.group("g").committed["orders"],
        "'orders' is no partition: give the topic and the index",
    ),
    "offset of nothing": (
        lambda k: k.group("g").committed["orders", 1],
        "no committed offset of orders-1; there is of: none",
    ),
    "lag of nothing": (
        lambda k: k.group("g").lag["orders", 1],
        "group 'g' has neither an assignment nor a committed offset of orders-1",
    ),
    "rebalance no group": (
        lambda k: k.group("g").rebalance(),
        "there is no group 'g'; there are: none",
    ),
    "delete no group": (
        lambda k: k.group("g").delete(),
        "GROUP_ID_NOT_FOUND|there is no group 'g'; there are: none",
    ),
    "commit in no topic": (
        lambda k: k.group("g").commit({("odrers", 0): 1}),
        "there is no topic 'odrers'; there are: orders",
    ),
    "commit no partition": (
        lambda k: k.group("g").commit({"orders": 1}),
        "'orders' is no partition",
    ),
    "commit at no offset": (
        lambda k: k.group("g").commit({("orders", 0): -5}),
        "-5; a whole number from 0 on",
    ),
    "commit a list": (
        lambda k: k.group("g").commit([("orders", 0)]),
        "offsets: \\[\\('orders', 0\\)\\]; a mapping is meant",
    ),
    # peers
    "peer of no topics": (lambda k: k.peer("g"), "give a peer either topics or a pattern"),
    "peer of a number": (lambda k: k.peer("g", 7), "topics=7: give a list of names"),
    "peer of a text": (lambda k: k.peer("g", "orders"), "topics='orders' is one text"),
    "peer of a text, by its group": (
        lambda k: k.group("g").peer("orders"),
        "topics='orders' is one text",
    ),
    "peer of a wrong pattern": (
        lambda k: k.peer("g", pattern="("),
        "pattern='\\(': .*; a regular expression is meant",
    ),
    "peer of a pattern that nests too deeply": (
        lambda k: k.peer("g", pattern="(" * 5_000 + ")" * 5_000),
        "a regular expression is meant",
    ),
    "peer of a pattern that repeats too often": (
        lambda k: k.peer("g", pattern="a{99999999999}"),
        "a regular expression is meant",
    ),
    "settings as text": (
        lambda k: k.peer("g", ["orders"], config="x"),
        "config: 'x'; a mapping is meant",
    ),
    "setting of a peer": (
        lambda k: k.peer("g", ["orders"], config={"heartbeat.interval": 1}),
        "heartbeat.interval.ms is",
    ),
    "value of a setting": (
        lambda k: k.peer("g", ["orders"], config={"session.timeout.ms": "soon"}),
        "'soon' is no whole number",
    ),
    "assignor": (
        lambda k: k.peer("g", ["orders"], config={"partition.assignment.strategy": "rnage"}),
        "there are range, roundrobin",
    ),
    "protocol": (
        lambda k: k.peer("g", ["orders"], protocol="modern"),
        "'modern' is none of classic, consumer",
    ),
    # faults and requests
    "API": (
        lambda k: k.fail("OfsetCommit", "REBALANCE_IN_PROGRESS"),
        "'OfsetCommit' is no API: did you mean OffsetCommit",
    ),
    "error": (
        lambda k: k.fail("OffsetCommit", "REBALANCE_IN_PROGES"),
        "did you mean REBALANCE_IN_PROGRESS",
    ),
    "error by number": (
        lambda k: k.fail("OffsetCommit", 9999),
        "9999 is no error code of Kafka: they go from -1 to 136",
    ),
    "phase": (lambda k: k.fail("Heartbeat", 27, phase="stabel"), "did you mean stable"),
    "word of a fault": (
        lambda k: k.fail("Heartbeat", 27, grup="g"),
        "'grup' is no key .* did you mean group",
    ),
    "topic as a list": (
        lambda k: k.fail("Fetch", 6, topic=["orders"]),
        "topic: \\['orders'\\] is no text",
    ),
    "partition of no topic": (
        lambda k: k.fail("Fetch", 6, partition=0),
        "partition 0: of which topic\\?",
    ),
    "times": (lambda k: k.fail("Heartbeat", 27, times=0), "times: 0; at least 1"),
    "topic of a Heartbeat": (
        lambda k: k.fail("Heartbeat", 27, topic="orders"),
        "a request of Heartbeat names no topic: leave it out",
    ),
    "generation of a Fetch": (
        lambda k: k.fail("Fetch", 6, generation=1),
        "a request of Fetch names no generation",
    ),
    "member of a Produce": (
        lambda k: k.fail("Produce", 6, member="a"),
        "a request of Produce names no member",
    ),
    "group of a CreateTopics": (
        lambda k: k.fail("CreateTopics", 7, group="g"),
        "a request of CreateTopics names no group",
    ),
    "instance of a Metadata": (
        lambda k: k.delay("Metadata", seconds=1, instance_id="i"),
        "names no group instance id",
    ),
    "transaction of a Heartbeat": (
        lambda k: k.hold("Heartbeat", transactional_id="t"),
        "names no transactional id",
    ),
    "generation below none": (
        lambda k: k.fail("Heartbeat", 27, generation=-3),
        "generation: -3; generations count from 0",
    ),
    "delay for ever": (
        lambda k: k.delay("Heartbeat", seconds=float("nan")),
        "seconds: nan; a number from 0 on",
    ),
    "broker of a fault": (
        lambda k: k.fail("Heartbeat", 27, broker=9),
        "broker 9: there is none; there are: 1",
    ),
    "API of the journal": (
        lambda k: k.journal().requests("OfsetCommit"),
        "did you mean OffsetCommit",
    ),
    "word of the journal": (lambda k: k.journal().requests(grup="g"), "there are group, topic"),
    # time, the log, brokers
    "advance back": (lambda k: k.advance(seconds=-1), "seconds: -1; a number from 0 on"),
    "advance for ever": (
        lambda k: k.advance(seconds=1e12),
        "a number from 0 on, at most 31622400 \\(366 days\\)",
    ),
    "advance by no number": (
        lambda k: k.advance(seconds=float("nan")),
        "seconds: nan; a number from 0 on",
    ),
    "silent nobody": (
        lambda k: k.advance(seconds=1, silent=["nobody"]),
        "silent: no member is called 'nobody'; there are: none",
    ),
    "explain no group": (
        lambda k: k.explain("nope"),
        "nothing has happened to a group 'nope'; the groups of this run are: none",
    ),
    "promises of no group": (
        lambda k: k.group("nope").verify().single_owner(),
        "nothing happened to a group 'nope'; the groups",
    ),
    "who left no group": (
        lambda k: k.group("nope").verify().left_cleanly(),
        "not judged: nothing happened to a group 'nope'",
    ),
    "rebalances of no number": (
        lambda k: k.group("g").verify().rebalances(),
        "how many rebalances\\? Give a number",
    ),
    "rebalances below 0": (
        lambda k: k.group("g").verify().rebalances(at_most=-1),
        "at_most: -1; a whole number from 0 on",
    ),
    "rebalances of two minds": (
        lambda k: k.group("g").verify().rebalances(at_least=5, at_most=2),
        "at_least=5 and at_most=2: no number",
    ),
    "rebalances since a text": (
        lambda k: k.group("g").verify().rebalances(1, since="x"),
        "since: 'x'; a whole number is meant",
    ),
    "committed as a text": (
        lambda k: k.group("g").verify().committed("orders"),
        "offsets: 'orders'; a mapping is meant",
    ),
    "silent as one text": (
        lambda k: k.advance(seconds=1, silent="app"),
        "silent come as a list: \\['app'\\]",
    ),
    "wait for no event": (lambda k: k.wait_for(), "wait for which event\\?"),
    "stream": (
        lambda k: k.wait_for(stream="grupo"),
        "there is no stream 'grupo'; there are: run, group",
    ),
    "count of events": (
        lambda k: k.wait_for("MemberRemoved", count=0),
        "count: 0; a whole number from 1 on",
    ),
    "broker": (lambda k: k.stop_broker(9), "there is no broker 9: the broker is 1"),
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
        assert "Traceback" not in str(refused.value)
        changed = [
            line["type"]
            for line in served[0].events(since=mark)
            if line["stream"] in ("group", "cluster", "fault")
        ]
        assert changed == [], "nothing half done"
    assert served[0].faults() == []


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/topics", {"nmae": "t"}),
        ("POST", "/topics", {"name": 7}),
        ("POST", "/topics/odrers/grow", {"partitions": 9}),
        ("DELETE", "/topics/odrers", None),
        ("POST", "/topics/orders/records", {"values": "a"}),
        ("GET", "/topics/orders/records?start=x", None),
        ("POST", "/groups/g/wait", {"state": "Stabel"}),
        ("POST", "/groups/g/wait", {"members": 9_000_000_000}),
        ("POST", "/groups/g/wait", {"assigned": {"a": ["odrers-0"]}}),
        ("POST", "/groups/g/members/x/expire", {}),
        ("POST", "/peers", {"group": "g", "pattern": "("}),
        ("POST", "/peers", {"group": "g", "topics": "orders"}),
        ("GET", "/peers/nobody", None),
        ("POST", "/faults", {"action": "fail", "api": "Fetch", "error": "NO"}),
        ("GET", "/faults/77", None),
        ("GET", "/journal?api=Fecth", None),
        ("POST", "/journal/verify", {"api": "Fetch"}),
        ("POST", "/advance", {"seconds": -1}),
        ("POST", "/events/wait", {"stream": "grupo"}),
        ("GET", "/events?limit=0", None),
        ("POST", "/brokers/control", {"verb": "explode"}),
    ],
)
def test_over_http_it_is_a_problem_document(
    served: tuple[Emulator, Client], method: str, path: str, body: dict[str, Any] | None
) -> None:
    with pytest.raises(Refused) as refused:
        served[1].call(method, path, None if body is None else json.dumps(body).encode())
    assert refused.value.status in (400, 404, 409)
    assert refused.value.error, "it has the name of the error"
