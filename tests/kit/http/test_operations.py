"""The control port as its callers use it: every operation on a running emulator, over a socket."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from coordinator import Emulator
from coordinator.kit.http.client import Client, Refused, path_of
from coordinator.kit.http.table import all_operations

_FAST = {"heartbeat.interval.ms": 50}


def peer(client: Client, group: str = "g", **options: Any) -> dict[str, Any]:
    started: dict[str, Any] = client.post(
        "/peers", {"group": group, "topics": ["orders"], "config": _FAST, **options}
    )
    return started


def status_of(client: Client, path: str, body: dict[str, object]) -> int:
    """What a client sees that looks at the status alone."""
    request = Request(
        client.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urlopen(request, timeout=60) as answer:
            return int(answer.status)
    except HTTPError as error:
        return error.code


class TestGroups:
    def test_a_rebalance_from_afar(self, client: Client) -> None:
        assert client.get("/groups/g")["state"] == "Dead"
        one = peer(client)
        first = client.post("/groups/g/wait", {"state": "stable", "members": 1, "assigned": "all"})
        two = peer(client)
        seen = client.post(
            "/groups/g/wait",
            {"members": 2, "assigned": "all", "generation_above": first["generation"]},
        )
        assert sorted(p for member in seen["members"] for p in member["assignment"]) == [
            ["orders", index] for index in range(4)
        ]
        assert client.get("/groups") == {
            "groups": [{"group_id": "g", "state": "Stable", "type": "classic", "members": 2}]
        }
        client.post(f"/peers/{two['peer']}/stop")
        after = client.post(
            "/groups/g/wait",
            {
                "members": 1,
                "assigned": {one["client_id"]: [f"orders-{index}" for index in range(4)]},
            },
        )
        assert after["generation"] > seen["generation"]
        rebalances = client.get("/groups/g/rebalances")["rebalances"]
        assert [row["generation"] for row in rebalances] == list(range(1, after["generation"] + 1))
        assert "left" in client.get("/groups/g/explain")["text"]
        verified = client.post(
            "/groups/g/verify",
            {"checks": [{"check": "single_owner"}, {"check": "rebalances", "at_most": 1}]},
        )
        assert [row["holds"] for row in verified["checks"]] == [True, False]
        assert not verified["holds"]
        assert "rebalanced" in verified["checks"][1]["failure"]
        assert status_of(client, "/groups/g/verify", {"checks": [{"check": "single_owner"}]}) == 200
        none = {"checks": [{"check": "rebalances", "at_most": 0}]}
        assert status_of(client, "/groups/g/verify", none) == 409

    def test_members_are_removed_expired_and_fenced(self, client: Client) -> None:
        member = peer(client, config={**_FAST, "group.instance.id": "i"}, keep_going=True)[
            "client_id"
        ]
        generation = client.post("/groups/g/wait", {"state": "Stable", "members": 1})["generation"]
        for verb in ("remove", "expire"):
            client.post(f"/groups/g/members/{member}/{verb}")
            seen = client.post(
                "/groups/g/wait", {"state": "Stable", "members": 1, "generation_above": generation}
            )
            generation = seen["generation"]
        before = seen["members"][0]["member_id"]
        client.post("/groups/g/members/i/fence")
        assert before not in [row["member_id"] for row in client.get("/groups/g")["members"]]

    def test_a_member_loses_its_partitions_by_a_fault_that_is_shown(self, client: Client) -> None:
        member = peer(client, config=_FAST)["client_id"]
        generation = client.post(
            "/groups/g/wait", {"state": "Stable", "members": 1, "assigned": "all"}
        )["generation"]
        fault = client.post(f"/groups/g/members/{member}/lose")
        assert (fault["fault"]["api"], fault["fault"]["error"]) == (
            "Heartbeat",
            "ILLEGAL_GENERATION",
        )
        assert client.post(f"/faults/{fault['number']}/wait")["hits"] == 1
        client.post(
            "/groups/g/wait", {"state": "Stable", "members": 1, "generation_above": generation}
        )

    def test_a_group_rebalances_for_a_reason_that_the_log_keeps(self, client: Client) -> None:
        peer(client)
        generation = client.post("/groups/g/wait", {"state": "Stable", "members": 1})["generation"]
        client.post("/groups/g/rebalance", {"reason": "to see what happens"})
        client.post("/groups/g/wait", {"state": "Stable", "generation_above": generation})
        assert "to see what happens" in client.get("/groups/g/explain")["text"]

    def test_offsets_are_set_and_the_group_goes(self, client: Client) -> None:
        client.post("/topics/orders/records", {"values": ["a", "b", "c"], "partition": 2})
        client.post("/groups/g/commit", {"offsets": {"orders-2": 1}})
        seen = client.post("/groups/g/wait", {"committed": {"orders-2": 1}, "lag": 2})
        assert seen["committed"][0]["offset"] == 1
        assert seen["lag"] == [{"topic": "orders", "partition": 2, "lag": 2}]
        client.delete("/groups/g")
        assert client.get("/groups/g")["state"] == "Dead"


class TestRequests:
    def test_requests_have_their_fields_by_kafkas_names(self, client: Client) -> None:
        client.post("/journal", {})
        client.delete("/journal")
        client.post(f"/peers/{peer(client)['peer']}/wait", {})
        told = client.get("/journal", api="SyncGroup", group="g")
        (sync,) = told["requests"]
        assert (
            sync["api"],
            sync["request"]["group_id"],
            sync["answer"]["error_code"],
            sync["error"],
        ) == ("SyncGroup", "g", 0, None)
        assert told["dropped"] == 0
        counted = client.post("/journal/verify", {"api": "SyncGroup", "group": "g", "exactly": 1})
        assert (counted["holds"], counted["failure"], len(counted["requests"])) == (True, None, 1)
        counted = client.post("/journal/verify", {"api": "LeaveGroup", "at_least": 1})
        assert (counted["holds"], counted["requests"]) == (False, [])
        assert "0 came, not at least 1" in counted["failure"]
        counts = {"api": "LeaveGroup", "at_least": 1}
        assert status_of(client, "/journal/verify", counts) == 409

    def test_words_that_cannot_be(self, client: Client) -> None:
        for path, words, said in [
            ("/journal", {"api": "OfsetCommit"}, "did you mean OffsetCommit"),
            ("/journal", {"grupo": "g"}, "did you mean group"),
            ("/journal", {"limit": 0}, "limit: 0; at least 1"),
            ("/journal", {"partition": 0}, "topic"),
        ]:
            with pytest.raises(Refused, match=said) as refused:
                client.get(path, **words)
            assert refused.value.status == 400


class TestTopics:
    def test_make_grow_write_read_truncate_delete(self, client: Client) -> None:
        client.post(
            "/topics", {"name": "t", "partitions": 1, "config": {"max.message.bytes": 1000}}
        )
        client.post("/topics/t/grow", {"partitions": 2})
        assert {"name": "t", "partitions": 2} in client.get("/topics")["topics"]
        body = {
            "values": ["coffee", {"base64": "/wA="}, None],
            "keys": ["k"] * 3,
            "partition": 1,
            "headers": {"h": "v"},
            "timestamp_ms": 7,
        }
        written = client.post("/topics/t/records", body)["written"]
        assert [row["offset"] for row in written] == [0, 1, 2]
        rows = client.get("/topics/t/records", partition=1, start=1, limit=1)["records"]
        header = [{"name": "h", "value": "v"}]
        assert rows == [
            {
                "topic": "t",
                "partition": 1,
                "offset": 1,
                "timestamp_ms": 7,
                "key": "k",
                "value": {"base64": "/wA="},
                "headers": header,
            }
        ]
        assert client.get("/topics/t/end-offsets")["offsets"] == [
            {"partition": 0, "offset": 0},
            {"partition": 1, "offset": 3},
        ]
        assert client.post("/topics/t/partitions/1/truncate", {"before": 2}) == {"start": 2}
        client.delete("/topics/t")
        assert "t" not in [row["name"] for row in client.get("/topics")["topics"]]

    def test_a_transaction_is_whole_or_not_there(self, client: Client) -> None:
        client.post(
            "/topics/orders/records",
            {"values": ["gone"], "partition": 0, "transactional_id": "x", "abort": True},
        )
        client.post(
            "/topics/orders/records", {"values": ["kept"], "partition": 0, "transactional_id": "x"}
        )
        assert [
            row["value"] for row in client.get("/topics/orders/records", committed=True)["records"]
        ] == ["kept"]


class TestFaults:
    def test_a_fault_is_met_waited_for_and_told(self, client: Client) -> None:
        started, mark = peer(client)["peer"], client.get("/mark")["mark"]
        client.post(f"/peers/{started}/wait")
        body = {
            "action": "fail",
            "error": "COORDINATOR_LOAD_IN_PROGRESS",
            "api": "offset_commit",
            "group": "g",
            "times": 1,
        }
        fault = client.post("/faults", body)
        assert fault["fault"]["api"] == "OffsetCommit"
        assert client.get("/faults/missed")["faults"] == [
            "OffsetCommit of group g: fail with COORDINATOR_LOAD_IN_PROGRESS, 1 time"
        ]
        client.post(f"/peers/{started}/seek", {"topic": "orders", "partition": 0, "offset": 3})
        client.post(f"/peers/{started}/commit")
        assert client.post(f"/faults/{fault['number']}/wait")["hits"] == 1
        assert client.get("/groups/g")["committed"][0]["offset"] == 3
        (line,) = client.get("/events", type="FaultInjected", group="g", since=mark)["events"]
        assert line["api"] == "OffsetCommit"

    def test_what_is_held_is_released(self, client: Client) -> None:
        number = client.post(
            "/faults", {"action": "hold", "api": "JoinGroup", "group": "g", "times": 1}
        )["number"]
        started = peer(client)["peer"]
        assert client.post(f"/faults/{number}/wait")["held"] == 1
        assert client.post(f"/faults/{number}/release") == {"released": 1}
        assert client.post(f"/peers/{started}/wait")["state"] == "STABLE"
        assert [row["number"] for row in client.get("/faults")["faults"]] == [number]
        client.delete(f"/faults/{number}")
        assert client.get("/faults")["faults"] == []
        assert not client.get(f"/faults/{number}")["in_force"]
        client.delete("/faults")


class TestPeersAndTime:
    def test_a_paused_peer_expires_when_the_clock_jumps(self, client: Client) -> None:
        peer(client)
        frozen = peer(client)["peer"]
        client.post(
            "/groups/g/wait", {"state": "Stable", "members": 2, "assigned": "all", "acted": True}
        )
        assert client.post(f"/peers/{frozen}/pause")["paused"]
        mark = client.get("/mark")["mark"]
        fell = client.post("/advance", {"seconds": 45})["events"]
        assert [line["detail"] for line in fell if line["type"] == "MemberRemoved"] == ["45000 ms"]
        (line,) = client.post(
            "/events/wait", {"type": "MemberRemoved", "group": "g", "since": mark}
        )["events"]
        assert line["reason"] == "session expired"
        client.post("/groups/g/wait", {"members": 1, "assigned": "all"})
        client.post(f"/peers/{frozen}/resume")
        client.post("/groups/g/wait", {"members": 2, "assigned": "all"})
        assert "g" in client.get("/story")["text"]

    def test_a_peer_stalls_rebalances_and_crashes(self, client: Client) -> None:
        started = peer(client)
        path = path_of("peers", started["client_id"])
        settled = client.post(f"{path}/wait", {"members": 1})
        assert settled["owned"] == [f"orders-{index}" for index in range(4)]
        client.post(f"{path}/rebalance")
        client.post(f"{path}/wait", {"after_generation": settled["generation"]})
        client.post(f"{path}/stall")
        assert client.get("/peers")["peers"][0]["group"] == "g"
        client.post(f"{path}/crash")
        assert client.get("/peers") == {"peers": []}


class TestTheLog:
    def test_an_event_that_comes_later_is_waited_for(self, client: Client, kafka: Emulator) -> None:
        found: list[Any] = []
        body = {"type": "TopicCreated", "since": kafka.mark()}
        waiting = threading.Thread(target=lambda: found.append(client.post("/events/wait", body)))
        waiting.start()
        client.post("/topics", {"name": "later", "partitions": 1})
        waiting.join(60)
        assert found[0]["events"][0]["topic"] == "later"

    def test_what_nearly_came_is_told(self, client: Client) -> None:
        mark = client.get("/mark")["mark"]
        client.post("/topics", {"name": "one", "partitions": 1})
        with pytest.raises(
            Refused, match=r"Nearly:\n.*TopicCreated with topic 'one', not 'two'"
        ) as refused:
            client.post(
                "/events/wait",
                {"type": "TopicCreated", "since": mark, "fields": {"topic": "two"}, "timeout": 0},
            )
        assert refused.value.error == "WaitTimeoutError"

    def test_the_log_comes_as_server_sent_events(self, client: Client) -> None:
        client.post("/topics", {"name": "before", "partitions": 1})
        host, port = client.url.removeprefix("http://").split(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=60)
        connection.request("GET", "/events/stream?type=TopicCreated")
        topics, last = [], 0
        with closing(connection), closing(connection.getresponse()) as answer:
            assert answer.headers.get_content_type() == "text/event-stream"
            client.post("/topics", {"name": "after", "partitions": 1})
            while "after" not in topics:
                line = answer.readline().decode()
                if line.startswith("id: "):
                    last = int(line.removeprefix("id: "))
                elif line.startswith("data: "):
                    topics.append(json.loads(line.removeprefix("data: "))["topic"])
        assert topics[-2:] == ["before", "after"]
        again = http.client.HTTPConnection(host, int(port), timeout=60)
        again.request(
            "GET", "/events/stream?type=TopicCreated", headers={"Last-Event-ID": str(last - 1)}
        )
        with closing(again), closing(again.getresponse()) as answer:
            line = ""
            while not line.startswith("id: "):
                line = answer.readline().decode()
            assert line == f"id: {last}\n"

    def test_where_a_stream_begins_is_a_number_of_the_log(self, client: Client) -> None:
        host, port = client.url.removeprefix("http://").split(":")
        client.post("/topics", {"name": "first", "partitions": 1})
        for path, header, status in (
            ("/events/stream?since=" + "9" * 5_000, "", 400),
            ("/events/stream?since=soon", "", 400),
            ("/events/stream?type=TopicCreated", "9" * 5_000, 200),
        ):
            connection = http.client.HTTPConnection(host, int(port), timeout=60)
            connection.request("GET", path, headers={"Last-Event-ID": header})
            with closing(connection), closing(connection.getresponse()) as answer:
                assert answer.status == status
                while status == 200 and not answer.readline().startswith(b"id: "):
                    pass  # as without one: it begins with the log


class TestTheWhole:
    def test_it_says_what_is_served(self, client: Client, kafka: Emulator) -> None:
        about = client.get("/")
        assert about["bootstrap_servers"] == kafka.bootstrap_servers
        assert client.get("/brokers")["brokers"] == [
            {"id": 1, "running": True, "address": kafka.bootstrap_servers}
        ]

    def test_the_only_broker_loses_its_coordinator_and_gets_it_back(self, client: Client) -> None:
        client.post("/groups/g/commit", {"offsets": {"orders-0": 1}})
        client.post("/coordinator/unload")
        assert 'num_partitions{state="active"} 0' in client.get("/metrics")
        client.post("/coordinator/load")
        assert client.post("/groups/g/wait", {"committed": {"orders-0": 1}})["state"] == "Empty"

    def test_reset_leaves_nothing(self, client: Client) -> None:
        client.post("/groups/g/commit", {"offsets": {"orders-0": 1}})
        client.post("/reset")
        assert client.get("/groups") == {"groups": []}
        assert client.get("/topics") == {"topics": []}

    def test_reset_stops_peers(self, client: Client) -> None:
        started = peer(client)
        client.post("/share-peers", {"group": "w", "topics": ["orders"]})
        client.post("/groups/g/wait", {"state": "Stable", "members": 1})
        client.post("/reset")
        assert client.get("/groups") == {"groups": []}
        assert client.get("/peers") == {"peers": []}
        assert client.get("/share-peers") == {"share_peers": []}
        with pytest.raises(Refused, match="there are: none"):
            client.get(f"/peers/{started['peer_id']}")

    def test_metrics_are_named_as_kafkas(self, client: Client) -> None:
        peer(client)
        client.post("/groups/g/wait", {"state": "Stable", "members": 1})
        lines = client.get("/metrics").splitlines()
        assert 'kafka_server_group_coordinator_metrics_group_count{protocol="classic"} 1' in lines
        assert (
            'kafka_server_group_coordinator_metrics_classic_group_count{state="Stable"} 1' in lines
        )
        assert "kafka_coordinator_group_groupmetadatamanager_numgroups 1" in lines
        (count,) = [
            line
            for line in lines
            if line.startswith(
                "kafka_server_group_coordinator_metrics_group_completed_rebalance_count"
            )
        ]
        assert int(count.split()[1]) >= 1


def test_verbs_of_a_cluster_and_their_inverses() -> None:
    from coordinator.kit.http.serving import opened

    with Emulator({"orders": 1}, brokers=2, remember=1000, seed=3) as kafka, opened(kafka) as port:
        client = Client(port.url)
        inverse = client.post(
            "/brokers/control", {"verb": "StopBroker", "broker": 2, "how": "crash"}
        )["inverse"]
        assert inverse == {"verb": "StartBroker", "broker": 2, "kafka_version": None}
        assert [row["running"] for row in client.get("/brokers")["brokers"]] == [True, False]
        client.post("/brokers/control", inverse)
        assert [row["running"] for row in client.get("/brokers")["brokers"]] == [True, True]
        with pytest.raises(Refused, match="'Stop' is no verb: they are StopBroker"):
            client.post("/brokers/control", {"verb": "Stop", "broker": 2})
        with pytest.raises(Refused, match="no broker 9") as refused:
            client.post("/brokers/control", {"verb": "StopBroker", "broker": 9})
        assert refused.value.status == 409


def kinds(schema: Any) -> Iterator[dict[str, Any]]:
    """Every object of a document."""
    if isinstance(schema, dict):
        yield schema
        for each in schema.values():
            yield from kinds(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from kinds(each)


def test_the_document_has_an_older_form(client: Client) -> None:
    """For generators: nothing in it is of 3.1 alone, and no operation is missing."""
    newest, older = client.get("/openapi.json"), client.get("/openapi.json?version=3.0")
    assert client.get("/openapi.json?version=3.1") == newest
    assert (newest["openapi"], older["openapi"]) == ("3.1.0", "3.0.3")
    assert {path: set(methods) for path, methods in older["paths"].items()} == {
        path: set(methods) for path, methods in newest["paths"].items()
    }
    for schema in kinds(older):
        assert not isinstance(schema.get("type"), list)
        assert schema.get("type") != "null"
        assert not {"anyOf", "const", "prefixItems"} & {
            name for name, value in schema.items() if name != "properties" and value is not None
        }
    body = older["paths"]["/topics"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body["properties"]["config"]["additionalProperties"] == {
        "description": "string or integer or number or boolean"
    }
    wait = older["paths"]["/groups/{group}/wait"]["post"]["requestBody"]["content"]
    properties = wait["application/json"]["schema"]["properties"]
    assert properties["timeout"]["type"] == "number" and properties["timeout"]["nullable"]
    with pytest.raises(Refused, match=r"version='2': the document exists as 3\.1 and as 3\.0"):
        client.get("/openapi.json?version=2")


def test_every_operation_is_described(client: Client) -> None:
    document = client.get("/openapi.json")
    described = {
        (method.upper(), path) for path, methods in document["paths"].items() for method in methods
    } - {("GET", "/metrics"), ("GET", "/events/stream")}
    assert described == {(entry.method, entry.path) for entry in all_operations().values()}
    for entry in all_operations().values():
        assert entry.summary.endswith("."), entry.name
        about = document["paths"][entry.path][entry.method.lower()]
        assert [
            row["name"] for row in about.get("parameters", ()) if row["in"] == "path"
        ] == entry.parameters
    fault = document["paths"]["/faults"]["post"]["requestBody"]["content"]["application/json"][
        "schema"
    ]
    assert {"fail", "hold", "garble"} <= set(fault["properties"]["action"]["enum"])
    assert "OffsetCommit" in fault["properties"]["api"]["enum"]
