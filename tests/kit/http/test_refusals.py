"""What the control port refuses: callers that are not let in, bodies that are not as they should
be, and nothing is half done."""

from __future__ import annotations

import http.client
import json
import re
from typing import Any

import pytest

from coordinator import Emulator
from coordinator.base.installing import lacks
from coordinator.kit.http.client import Client, NoControlPort, Refused
from coordinator.kit.http.guard import Guard
from coordinator.kit.http.serving import ControlPort, ControlPortError, opened

JSON = {"Content-Type": "application/json"}


def raw(
    client: Client, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[int, Any, Any]:
    """A request with just these headers: status, headers and JSON of the answer."""
    connection = http.client.HTTPConnection(client.url.removeprefix("http://"), timeout=60)
    try:
        connection.request(
            method, path, body, {name.replace("_", "-"): value for name, value in headers.items()}
        )
        answer = connection.getresponse()
        data = answer.read()
        return answer.status, answer.headers, json.loads(data) if data else None
    finally:
        connection.close()


class TestCallers:
    def test_another_name_of_this_machine_is_refused(self, client: Client) -> None:
        status, headers, problem = raw(client, "GET", "/", Host="rebound.example:80")
        assert (status, headers.get_content_type()) == (403, "application/problem+json")
        assert "'rebound.example' is not a name of this port" in problem["detail"]

    def test_a_page_of_another_site_is_refused(self, client: Client) -> None:
        status, _, problem = raw(client, "GET", "/", Origin="https://site.example")
        assert status == 403
        assert "--control-allow-origin https://site.example" in problem["detail"]

    def test_a_body_that_is_not_declared_as_json_is_refused(self, client: Client) -> None:
        status, _, problem = raw(client, "POST", "/reset", b"{}", Content_Type="text/plain")
        assert status == 415
        assert "Content-Type: application/json" in problem["detail"]

    @pytest.mark.parametrize("length", ["0", None])
    def test_without_a_body_none_is_declared(self, client: Client, length: str | None) -> None:
        given = {} if length is None else {"Content_Length": length}
        status, _, answer = raw(client, "POST", "/reset", None, **given)
        assert (status, answer) == (200, {"done": True})

    @pytest.mark.parametrize("how", [{"Content_Length": "2"}, {"Transfer_Encoding": "chunked"}])
    def test_a_body_that_is_not_declared_at_all_is_refused(
        self, client: Client, how: dict[str, str]
    ) -> None:
        body = b"{}" if "Content_Length" in how else b"2\r\n{}\r\n0\r\n\r\n"
        status, _, problem = raw(client, "POST", "/reset", body, **how)
        assert status == 415
        assert "Content-Type '': send a JSON body" in problem["detail"]

    def test_an_allowed_origin_may_read_the_answers(self) -> None:
        with (
            Emulator(remember=100) as kafka,
            opened(kafka, origins=["https://site.example"]) as port,
        ):
            client = Client(port.url)
            status, headers, _ = raw(client, "GET", "/", Origin="https://site.example")
            assert (status, headers["access-control-allow-origin"]) == (200, "https://site.example")
            status, headers, _ = raw(client, "OPTIONS", "/topics", Origin="https://site.example")
            assert status == 204
            assert "authorization" in headers["access-control-allow-headers"]

    def test_a_token_is_asked_for(self) -> None:
        with Emulator(remember=100) as kafka, opened(kafka, token="secret") as port:
            with pytest.raises(Refused, match="a token is needed") as refused:
                Client(port.url).get("/")
            assert refused.value.status == 401
            with pytest.raises(Refused, match="the token is wrong"):
                Client(port.url, "guess").get("/")
            assert Client(port.url, "secret").get("/")["version"]

    @pytest.mark.parametrize(
        "host", ["localhost:1", "127.0.0.1", "127.1.2.3:4", "[::1]:5", "named.example:6"]
    )
    def test_names_that_are_let_in(self, host: str) -> None:
        assert Guard(["named.example"]).objection("GET", {"host": host}, "/") is None

    @pytest.mark.parametrize(
        "host", ["", "localhost.example", "127.0.0.1.example", "[::2]:5", "10.0.0.1"]
    )
    def test_names_that_are_not(self, host: str) -> None:
        objection = Guard(["named.example"]).objection("GET", {"host": host}, "/")
        assert objection is not None
        assert objection.status == 403


class TestAddresses:
    def test_beyond_loopback_has_to_be_asked_for_and_draws_a_token(self) -> None:
        with Emulator(remember=100) as kafka:
            with pytest.raises(ControlPortError, match="--allow-remote"):
                ControlPort(kafka, "0.0.0.0:0")
            assert len(ControlPort(kafka, "0.0.0.0:0", allow_remote=True).token) >= 32
            assert ControlPort(kafka, "0.0.0.0:0", allow_remote=True, token="mine").token == "mine"
            assert ControlPort(kafka, "127.0.0.1:0").token == ""
            with pytest.raises(ControlPortError, match="'nowhere' is no address"):
                ControlPort(kafka, "nowhere")
            with pytest.raises(ControlPortError, match="visible ASCII"):
                ControlPort(kafka, "127.0.0.1:0", token="two words")

    def test_an_address_in_use_is_told(self) -> None:
        with Emulator(remember=100) as kafka, opened(kafka) as port:
            with (
                pytest.raises(
                    ControlPortError,
                    match=r"cannot listen on 127\.0\.0\.1:.*port 0 takes a free one",
                ),
                opened(kafka, port.url.removeprefix("http://")),
            ):
                pass

    def test_without_the_extra_it_says_what_to_install(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(
            "coordinator.kit.http.serving.find_spec",
            lambda name: None if name == "uvicorn" else object(),
        )
        with pytest.raises(
            ControlPortError,
            match=re.escape(lacks("the control port needs the package uvicorn", "control")),
        ):
            ControlPort(Emulator())

    @pytest.mark.parametrize(
        "url", ["https://127.0.0.1:1", "127.0.0.1", "http://h:1/path", "http://h:x"]
    )
    def test_an_address_that_is_none(self, url: str) -> None:
        with pytest.raises(NoControlPort, match="is no address of a control port"):
            Client(url)

    def test_nobody_there(self) -> None:
        with Emulator(remember=100) as kafka, opened(kafka) as port:
            pass
        with pytest.raises(NoControlPort, match="cannot be asked"):
            Client(port.url).get("/")


@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        (
            "/groups/g/wait",
            {"stat": "Stable"},
            400,
            "there is no field 'stat'; did you mean state?",
        ),
        ("/groups/g/wait", {"state": "Stabel"}, 400, "did you mean stable, Stable"),
        ("/groups/g/wait", {}, 400, "wait for what?"),
        ("/groups/g/wait", {"members": "two"}, 400, "members: 'two'; a whole number is meant"),
        ("/groups/g/wait", {"members": True}, 400, "members: true; a whole number is meant"),
        ("/groups/g/wait", {"state": "Empty", "members": 2}, 400, "has no members"),
        ("/groups/g/wait", {"committed": {"orders": 1}}, 400, "'orders' is no partition"),
        ("/groups/g/wait", {"assigned": "some"}, 400, "assigned: 'some'"),
        (
            "/groups/g/wait",
            {"assigned": {"a": "orders-0"}},
            400,
            "a text or a JSON object is meant",
        ),
        ("/groups/g/wait", {"members": 1, "timeout": 1e9}, 400, "seconds from 0 to 3600"),
        ("/groups/g/rebalance", {}, 404, "there is no group 'g'; there are: none"),
        ("/groups/g/members/m/remove", {}, 404, "there is no group 'g'"),
        ("/groups/g/verify", {"checks": []}, 400, "give at least one of single_owner"),
        ("/groups/g/verify", {"checks": [{"check": "single"}]}, 400, "'single' is no check"),
        (
            "/groups/g/verify",
            {"checks": [{"check": "single_owner", "at_most": 1}]},
            400,
            "single_owner has no 'at_most'",
        ),
        (
            "/groups/g/verify",
            {"checks": [{"check": "rebalances"}]},
            400,
            "give at_least or at_most or exactly",
        ),
        (
            "/groups/g/verify",
            {"checks": "single_owner"},
            400,
            "checks: 'single_owner'; a list is meant",
        ),
        (
            "/peers",
            {"group": "g", "topics": "orders"},
            400,
            "topics: 'orders'; a list is meant, such as ['orders']",
        ),
        ("/peers", {"topics": ["orders"]}, 400, "the field 'group' is missing"),
        ("/peers", {"group": "g"}, 400, "give a peer either topics or a pattern"),
        ("/peers", {"group": "g", "topics": ["orders"], "config": {"nix": 1}}, 400, "nix"),
        (
            "/peers",
            {"group": "g", "topics": ["orders"], "listener": "x"},
            400,
            "Python code, which cannot be given over HTTP",
        ),
        ("/peers/7/pause", {}, 404, "there is no peer '7'; there are: none"),
        (
            "/faults",
            {"action": "fail", "api": "OffsetComit", "error": 27},
            400,
            "did you mean OffsetCommit",
        ),
        ("/faults", {"api": "Fetch"}, 400, "action is missing: one of fail, delay"),
        ("/faults", {"acton": "fail"}, 400, "'acton' is no key of a fault: did you mean action"),
        ("/faults", {"duration_ms": 5, "nosuch": 1}, 400, "'nosuch' is no key of a fault"),
        ("/faults", {"action": "hold", "grup": "g"}, 400, "did you mean group"),
        ("/faults", {"action": "delay", "duration_ms": "1"}, 400, "give whole milliseconds"),
        ("/faults", [], 400, "a JSON object is meant"),
        ("/faults/7/wait", {}, 404, "there is no fault '7'"),
        ("/journal/verify", {}, 400, "verify what? Give exactly, at_least or at_most"),
        ("/journal/verify", {"exactly": -1}, 400, "exactly: -1; a whole number from 0 to"),
        (
            "/shares/g/start",
            {"topic": "t", "partition": 0, "offset": -1},
            400,
            "offset: -1; a whole",
        ),
        ("/topics", {"name": "orders"}, 409, "Topic 'orders' already exists"),
        ("/topics", {"name": "a b"}, 409, "a b"),
        (
            "/topics/nix/records",
            {"values": ["x"]},
            404,
            "there is no topic 'nix'; there are: orders",
        ),
        (
            "/topics/orders/records",
            {"values": ["x"], "partition": 9},
            409,
            "has no partition 9: it has 0 to 3",
        ),
        (
            "/topics/orders/records",
            {"values": ["x", 1]},
            400,
            "values[1]: 1 cannot stand in a record",
        ),
        ("/topics/orders/records", {"values": [{"base64": "?"}]}, 400, "'?' is no base64"),
        ("/topics/orders/partitions/x/truncate", {}, 400, "'x' is no partition"),
        ("/brokers/control", {"verb": "StopBroker", "broker": 2}, 409, "there is no broker 2"),
        ("/advance", {"seconds": -1}, 400, "a number from 0 on"),
        ("/events/wait", {}, 400, "wait for which event?"),
        (
            "/events/wait",
            {"type": "MemberJoined", "count": 0},
            400,
            "count: 0; a whole number from 1 on",
        ),
    ],
)
def test_wrong_requests_are_told_what_is_right(
    client: Client, kafka: Emulator, path: str, body: Any, status: int, said: str
) -> None:
    before = (
        kafka.topics(),
        kafka.groups(),
        kafka.end_offsets("orders"),
        len(kafka.faults()),
        client.get("/peers"),
    )
    with pytest.raises(Refused) as refused:
        client.call("POST", path, json.dumps(body).encode())
    assert said in str(refused.value)
    assert refused.value.status == status
    assert "Traceback" not in json.dumps(refused.value.problem)
    assert (
        kafka.topics(),
        kafka.groups(),
        kafka.end_offsets("orders"),
        len(kafka.faults()),
        client.get("/peers"),
    ) == before


class TestBodiesAndPaths:
    @pytest.mark.parametrize(
        ("body", "told"),
        [(b"{", "no JSON"), (b"\xff", "no JSON"), (b"[" * 100_000, "nested more deeply")],
    )
    def test_what_is_no_json(self, client: Client, body: bytes, told: str) -> None:
        status, _, problem = raw(client, "POST", "/topics", body, Content_Type="application/json")
        assert status == 400
        assert told in problem["detail"]

    def test_a_body_is_bounded(self, client: Client) -> None:
        with Emulator(remember=100) as kafka, opened(kafka, most_body_bytes=1000) as port:
            status, _, problem = raw(
                Client(port.url), "POST", "/topics", b" " * 5000, Content_Type="application/json"
            )
            assert (status, problem["detail"]) == (413, "the body has more than 1000 bytes")
            assert kafka.topics() == {}

    def test_paths_and_methods_that_are_not_there(self, client: Client) -> None:
        with pytest.raises(
            Refused, match=r"there is no /nix: /openapi\.json lists the paths"
        ) as refused:
            client.get("/nix")
        assert refused.value.status == 404
        with pytest.raises(Refused, match=r"/reset has no GET: it has POST$"):
            client.get("/reset")
        with pytest.raises(
            Refused,
            match=r"/peers has no DELETE: it has GET, POST; below it there are .*POST /peers/\{peer_id\}/stop",
        ):
            client.delete("/peers")

    def test_queries_are_checked_too(self, client: Client) -> None:
        with pytest.raises(Refused, match="the query: partition: 'x'; a whole number is meant"):
            client.get("/topics/orders/records", partition="x")
        with pytest.raises(Refused, match="there is no field 'offset'"):
            client.get("/topics/orders/records", offset=1)
        with pytest.raises(Refused, match="limit: 0; at least 1"):
            client.get("/events", limit=0)
        with pytest.raises(Refused, match="since: 'x'"):
            client.get("/events/stream", since="x")

    def test_a_fault_of_ours_is_one_sentence(
        self, client: Client, kafka: Emulator, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken() -> list[str]:
            raise RuntimeError("a planted mistake")

        monkeypatch.setattr(kafka, "groups", broken)
        with pytest.raises(
            Refused, match="RuntimeError: a planted mistake; this is a mistake of the emulator"
        ) as refused:
            client.get("/groups")
        assert refused.value.status == 500
        assert "Traceback" not in json.dumps(refused.value.problem)


def test_a_client_that_hangs_up_waits_no_longer(client: Client, kafka: Emulator) -> None:
    session = kafka._session
    connection = http.client.HTTPConnection(client.url.removeprefix("http://"), timeout=60)
    connection.request("POST", "/groups/g/wait", b'{"members": 5, "timeout": 3000}', JSON)
    kafka.group("other").wait(state="Dead")
    while not kafka.run(lambda: bool(session.waits)):
        client.get("/")
    connection.close()
    while kafka.run(lambda: bool(session.waits)):
        client.get("/")
