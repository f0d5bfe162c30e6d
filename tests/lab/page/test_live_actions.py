"""Acting on a live group from its page: what may be done, what stands in the log, and who may not."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coordinator.cli import main
from coordinator.kit.emulator.embedded import Emulator
from coordinator.lab.page.following import Follower
from coordinator.lab.page.live_actions import DEEDS, Deeds
from coordinator.lab.page.server import TOKEN, PageServer, assets
from coordinator.members.live import PeerHandle

Plain = dict[str, Any]
TIMERS = {"heartbeat.interval.ms": 50, "session.timeout.ms": 45_000, "client.id": "app-1"}


@pytest.fixture
def kafka(tmp_path: Path) -> Iterator[Emulator]:
    with Emulator({"orders": 2}, brokers=2, log=tmp_path / "run.jsonl") as running:
        yield running


@pytest.fixture
def peer(kafka: Emulator) -> Iterator[PeerHandle]:
    config = {**TIMERS, "enable.auto.commit": False}  # its next commit is the test's
    with kafka.peer("billing", ["orders"], config=config, keep_going=True) as peer:
        peer.wait_stable()
        yield peer


@pytest.fixture
def deeds(kafka: Emulator) -> Deeds:
    return kafka.run(lambda: Deeds(kafka))


@pytest.fixture
def server(kafka: Emulator, deeds: Deeds) -> Iterator[PageServer]:
    assert kafka.log_path is not None
    served = PageServer(
        "127.0.0.1",
        0,
        assets(),
        "watch.html",
        Follower(kafka.log_path),
        address=kafka.bootstrap_servers,
        acting=deeds,
    )
    served.start()
    yield served
    served.stop()


def ask(
    server: PageServer, body: Plain | bytes, headers: Plain | None = None, method: str = "POST"
) -> tuple[int, str]:
    """A request as the page itself makes it; `headers`: what is otherwise, None leaves one out."""
    own = f"127.0.0.1:{server.port}"
    usual = {
        "Host": own,
        "Origin": f"http://{own}",
        "Content-Type": "application/json",
        TOKEN: server.acting.token if server.acting is not None else "",
    }
    sent = {key: value for key, value in (usual | (headers or {})).items() if value is not None}
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(method, "/acts", text if method == "POST" else None, sent)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def done(server: PageServer, body: Plain) -> Plain:
    status, text = ask(server, body)
    assert status == 200, text
    answer: Plain = json.loads(text)
    return answer


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),  # another page
        ({"Origin": "null"}, 403),  # a page in a sandboxed frame, or a file
        ({"Origin": None}, 403),
        ({"Origin": "https://127.0.0.1:{port}"}, 403),
        ({"Origin": "http://127.0.0.1:{port}.evil.example"}, 403),
        ({"Origin": "http://localhost:{port}"}, 403),  # a name of ours, but not the one asked
        ({"Host": "evil.example:{port}", "Origin": "http://evil.example:{port}"}, 421),  # rebound
        ({"Host": "evil.example:{port}"}, 421),
        ({TOKEN: None}, 401),
        ({TOKEN: ""}, 401),
        ({TOKEN: "x" * 32}, 401),
        ({TOKEN: "\u00e9"}, 401),
        ({"Content-Type": "text/plain"}, 415),  # what a form can send
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content-Type": None}, 415),
        ({"Content-Length": "100000000"}, 413),
        ({"Content-Length": "-1"}, 413),
    ],
)
def test_who_is_not_the_page_itself_changes_nothing(
    kafka: Emulator, peer: PeerHandle, server: PageServer, headers: Plain, status: int
) -> None:
    before = kafka.group("billing").snapshot()
    filled = {
        key: value.replace("{port}", str(server.port)) if value is not None else None
        for key, value in headers.items()
    }
    body = {"do": "remove", "group": "billing", "member": peer.member_id}
    assert ask(server, body, filled)[0] == status
    after = kafka.group("billing").snapshot()
    assert (after.generation, after.members[0].member_id) == (
        before.generation,
        before.members[0].member_id,
    )
    assert not kafka.events("MemberRemoved")


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b"[]", 400, "no JSON object"),
        (b"{", 400, "no JSON object"),
        (b"[" * 60_000, 400, "no JSON object"),
        ({}, 400, "there are expire, remove"),
        ({"do": ["expire"]}, 400, "cannot be done"),
        ({"do": "group_delete", "group": "billing"}, 400, "cannot be done"),
        ({"do": "expire", "group": "billing"}, 400, "takes group, member"),
        ({"do": "expire", "group": "billing", "member": 7}, 400, "as texts"),
        ({"do": "rebalance", "group": "billing", "member": "x"}, 400, "takes group"),
        ({"do": "rebalance", "group": "none"}, 400, "there is no group 'none'"),
        ({"do": "expire", "group": "billing", "member": "none"}, 404, "none"),
        ({"undo": 1}, 400, "in force: nothing"),
        ({"undo": True}, 400, "in force: nothing"),
        ({"undo": {}}, 400, "in force: nothing"),
    ],
)
def test_what_cannot_be_done_says_what_could(
    peer: PeerHandle, server: PageServer, body: Plain | bytes, status: int, said: str
) -> None:
    found, text = ask(server, body)
    assert (found, said in text) == (status, True), text


def test_what_may_be_done_is_told_to_who_has_the_token(server: PageServer) -> None:
    assert ask(server, {}, {TOKEN: "x"}, "GET")[0] == 401
    status, text = ask(server, {}, None, "GET")
    assert status == 200
    told = json.loads(text)
    assert [each["do"] for each in told["deeds"]] == list(DEEDS)
    assert told["in_force"] == []


@pytest.mark.parametrize(("do", "reason"), [("expire", "session expired"), ("remove", "left")])
def test_a_member_is_put_out_and_the_log_has_it(
    kafka: Emulator, peer: PeerHandle, server: PageServer, do: str, reason: str
) -> None:
    mark = kafka.mark()
    done(server, {"do": do, "group": "billing", "member": peer.member_id})
    (line,) = kafka.wait_for("MemberRemoved", group="billing", since=mark)
    assert line["reason"] == reason


def test_a_group_rebalances(kafka: Emulator, peer: PeerHandle, server: PageServer) -> None:
    mark, generation = kafka.mark(), peer.generation
    done(server, {"do": "rebalance", "group": "billing"})
    kafka.wait_for("RebalanceStarted", group="billing", since=mark)
    kafka.group("billing").wait(generation_above=generation, assigned="all")


def test_its_coordinator_moves_and_back(
    kafka: Emulator, peer: PeerHandle, server: PageServer
) -> None:
    before = kafka.group("billing").coordinator
    told = done(server, {"do": "move_coordinator", "group": "billing"})
    assert kafka.group("billing").coordinator != before
    assert kafka.events("MoveCoordinator")
    (in_force,) = told["in_force"]
    assert done(server, {"undo": in_force["number"]})["in_force"] == []
    assert kafka.group("billing").coordinator == before


@pytest.mark.parametrize(
    ("do", "stands"),
    [("pause", "FaultInjected"), ("cut", "CutClient"), ("refuse_commit", "FaultInjected")],
)
def test_what_befalls_a_client_stays_until_it_is_undone(
    kafka: Emulator, peer: PeerHandle, server: PageServer, do: str, stands: str
) -> None:
    mark = kafka.mark()
    told = done(server, {"do": do, "group": "billing", "member": peer.member_id})
    (in_force,) = told["in_force"]
    assert in_force["text"].startswith("app-1: ")
    if do == "refuse_commit":
        peer.seek("orders", 0, 3)
        with pytest.raises(Exception, match="rebalanc"):
            peer.wait_commit()
    kafka.wait_for(stands, stream="fault" if do != "cut" else None, since=mark)
    assert done(server, {"undo": in_force["number"]})["in_force"] == []
    assert not kafka.faults()
    assert bool(kafka.events("HealClient", since=mark)) == (do == "cut")
    assert ask(server, {"undo": in_force["number"]})[0] == 400


def test_a_fault_that_has_met_its_request_is_in_force_no_longer(
    kafka: Emulator, peer: PeerHandle, server: PageServer
) -> None:
    body = {"do": "refuse_commit", "group": "billing", "member": peer.member_id}
    told = done(server, body)
    assert told["done"] == "app-1: refuse its next commit"
    assert [each["do"] for each in told["in_force"]] == ["refuse_commit"]
    peer.seek("orders", 0, 3)
    with pytest.raises(Exception, match="rebalanc"):
        peer.wait_commit()
    status, text = ask(server, {}, None, "GET")
    assert (status, json.loads(text)["in_force"]) == (200, [])
    done(server, body)  # the next one can be refused, too


def test_what_is_in_force_is_not_done_twice(
    kafka: Emulator, peer: PeerHandle, server: PageServer
) -> None:
    body = {"do": "cut", "group": "billing", "member": peer.member_id}
    (in_force,) = done(server, body)["in_force"]
    assert (in_force["group"], in_force["member"]) == ("billing", peer.member_id)
    status, said = ask(server, body)
    assert (status, "in force already" in said) == (400, True)
    assert len(kafka.events("CutClient")) == 1
    done(server, {"undo": in_force["number"]})


@pytest.mark.parametrize("protocol", ["consumer", "share"])
def test_what_a_protocol_does_not_know_is_named_and_refused(
    kafka: Emulator, server: PageServer, protocol: str
) -> None:
    """Members of KIP-848 never rebalance together; those of a share group commit no offsets."""
    if protocol == "share":
        kafka.share_peer("other", topics=["orders"])
    else:
        kafka.peer("other", ["orders"], config={"group.protocol": "consumer"})
    member = kafka.group("other").wait(members=1).members[0].member_id
    unknown = [name for name, deed in DEEDS.items() if protocol not in deed.protocols]
    assert unknown == {"consumer": ["rebalance"], "share": ["refuse_commit", "rebalance"]}[protocol]
    for name in unknown:
        of = {"member": member} if DEEDS[name].of_member else {}
        status, said = ask(server, {"do": name, "group": "other", **of})
        assert (status, f"'other' is of type {protocol}" in said) == (400, True), said
    mark = kafka.mark()
    done(server, {"do": "expire", "group": "other", "member": member})
    kafka.wait_for(f"{protocol.capitalize()}MemberRemoved", group="other", since=mark)


def test_a_page_that_may_not_act_has_nobody_to_ask(kafka: Emulator, peer: PeerHandle) -> None:
    assert kafka.log_path is not None
    served = PageServer("127.0.0.1", 0, assets(), "watch.html", Follower(kafka.log_path))
    served.start()
    try:
        body = {"do": "remove", "group": "billing", "member": peer.member_id}
        assert ask(served, body, {TOKEN: "x"})[0] == 404
        assert ask(served, {}, None, "GET")[0] == 404
        assert "#" not in served.url_to_act
    finally:
        served.stop()
    assert not kafka.events("MemberRemoved")


def test_the_token_is_in_the_fragment_alone_and_another_each_time(
    kafka: Emulator, server: PageServer, deeds: Deeds
) -> None:
    assert server.url_to_act == f"{server.url}#act={deeds.token}"
    assert len(deeds.token) >= 32
    assert kafka.run(lambda: Deeds(kafka)).token != deeds.token
    assert not any(deeds.token in json.dumps(line) for line in kafka.events())


@pytest.mark.parametrize("path", ["/", "/?embed", "/picture?embed", "/watch.js"])
def test_a_live_page_is_never_framed(server: PageServer, path: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", path)
    answer = connection.getresponse()
    assert answer.getheader("X-Frame-Options") == "DENY"
    assert "frame-ancestors 'none'" in (answer.getheader("Content-Security-Policy") or "")
    connection.close()


@pytest.mark.parametrize(("path", "framed"), [("/a.html?embed", True), ("/a.html", False)])
def test_a_page_of_the_static_site_is_framed_if_it_is_asked_to(
    tmp_path: Path, path: str, framed: bool
) -> None:
    (tmp_path / "a.html").write_text("<p>a lesson</p>")
    served = PageServer("127.0.0.1", 0, tmp_path, "a.html")
    served.start()
    try:
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
        connection.request("GET", path)
        answer = connection.getresponse()
        policy = answer.getheader("Content-Security-Policy") or ""
        assert ("frame-ancestors" not in policy) == framed
        assert (answer.getheader("X-Frame-Options") is None) == framed
        connection.close()
    finally:
        served.stop()


def test_to_act_a_page_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--page-act"]) == 2
    assert "--page-act: there is no page; give --page as well" in capsys.readouterr().err
