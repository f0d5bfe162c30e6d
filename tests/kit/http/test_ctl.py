"""`coordinator ctl` as its users type it: what it prints, and its exit status."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from coordinator import Emulator
from coordinator.cli import main
from coordinator.kit.http.client import Client
from coordinator.kit.http.serving import opened
from coordinator.kit.http.table import all_operations

Ctl = Callable[..., tuple[int, str, str]]


@pytest.fixture
def ctl(client: Client, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ctl:
    """Runs a command: status, standard output, standard error."""
    monkeypatch.setenv("COORDINATOR_CONTROL", client.url)

    def run(*words: str) -> tuple[int, str, str]:
        status = main(["ctl", *words])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


class TestGroups:
    def test_a_rebalance_by_commands(self, ctl: Ctl) -> None:
        status, out, _ = ctl(
            "group", "peer", "g", "--topic", "orders", "--config", "heartbeat.interval.ms=50"
        )
        assert status == 0
        assert out.splitlines()[0].split() == [
            "PEER",
            "GROUP",
            "CLIENT",
            "ID",
            "STATE",
            "GENERATION",
            "PARTITIONS",
        ]
        assert out.splitlines()[1].split()[1:4] == ["g", "consumer-g-1", "STABLE"]
        number = out.splitlines()[1].split()[0]
        status, out, _ = ctl(
            "group",
            "wait",
            "g",
            "--state",
            "Stable",
            "--members",
            "1",
            "--assigned",
            "all",
            "--format",
            "json",
        )
        generation = json.loads(out)["generation"]
        assert ctl("group", "rebalance", "g", "--reason", "to see") == (0, "", "")
        mine = "consumer-g-1=orders-0,orders-1,orders-2,orders-3"
        status, out, _ = ctl(
            "group", "wait", "g", "--generation-above", str(generation), "--assigned", mine
        )
        assert "is Stable in generation" in out
        for verb in ("remove", "expire"):
            mark = ctl("mark")[1].strip()
            assert ctl("group", verb, "g", "consumer-g-1")[0] == 0
            assert (
                ctl("events", "wait", "--type", "MemberRemoved", "--group", "g", "--since", mark)[0]
                == 0
            )
            assert ctl("group", "wait", "g", "--state", "Stable", "--members", "1")[0] == 0
        assert ctl("group", "wait", "g", "--assigned", "all", "--heard")[0] == 0
        mark = ctl("mark")[1].strip()
        fault, _, told = ctl("group", "lose", "g", "consumer-g-1")[1].partition(": ")
        assert "Heartbeat of group g" in told
        assert ctl("fault", "wait", fault)[0] == 0
        assert (
            ctl("events", "wait", "--type", "GenerationStored", "--group", "g", "--since", mark)[0]
            == 0
        )
        assert "consumer-g-1" in ctl("group", "describe", "g")[1]
        assert ctl("group", "list")[1].splitlines()[1].split() == ["g", "Stable", "classic", "1"]
        assert "to see" in ctl("group", "explain", "g")[1]
        assert ctl("group", "rebalances", "g")[1].startswith("GENERATION")
        holds = "holds: single_owner\nholds: no_stale_commit\n"
        assert ctl("group", "verify", "g", "--single-owner", "--no-stale-commit") == (0, holds, "")
        status, out, _ = ctl("group", "verify", "g", "--rebalances-at-most", "1")
        assert status == 1
        assert out.startswith("DOES NOT HOLD: rebalances\ngroup 'g' rebalanced ")
        assert ctl("peer", "pause", number)[1].splitlines()[1].split()[3] == "paused"
        assert ctl("peer", "resume", "consumer-g-1")[0] == 0
        assert ctl("peer", "stop", number) == (0, "", "")
        assert ctl("peer", "list")[1].count("\n") == 1
        assert "left" in ctl("story")[1]

    def test_offsets(self, ctl: Ctl) -> None:
        assert ctl("group", "commit", "g", "orders-0=3", "orders-1=4")[0] == 0
        assert (
            ctl("group", "wait", "g", "--committed", "orders-0=3", "--committed", "orders-1=4")[0]
            == 0
        )
        assert ctl("group", "verify", "g", "--committed", "orders-0=3")[0] == 0
        assert ctl("group", "delete", "g")[0] == 0

    def test_what_does_not_come_about_is_status_1(self, ctl: Ctl) -> None:
        status, out, err = ctl("group", "wait", "g", "--members", "1", "--timeout", "0")
        assert (status, out) == (1, "")
        assert "did not reach members=1 within 0 s" in err
        assert ctl("group", "rebalance", "g")[2] == "there is no group 'g'; there are: none\n"
        status, out, _ = ctl("group", "delete", "g", "--format", "json")
        assert (status, json.loads(out)["status"]) == (1, 404)


class TestOthers:
    def test_a_peer_without_topics_is_wrong_use(self, ctl: Ctl) -> None:
        status, _, said = ctl("group", "peer", "billing")
        assert (status, "either topics or a pattern" in said) == (2, True)

    def test_faults(self, ctl: Ctl) -> None:
        status, out, _ = ctl("fault", "add", "hold", "JoinGroup", "--group", "g", "--times", "1")
        number = out.partition(":")[0]
        assert (status, out) == (
            0,
            f"{number}: JoinGroup of group g: hold until released, 1 time: 0 hits of 0 requests\n",
        )
        assert ctl("group", "peer", "g", "--topic", "orders", "--no-wait")[0] == 0
        assert ctl("fault", "wait", number)[0] == 0
        assert ctl("fault", "release", number)[1] == "1\n"
        assert ctl("fault", "list")[1].startswith(f"{number}: ")
        assert ctl("fault", "remove", number)[0] == 0
        added = json.loads(
            ctl(
                "fault",
                "add",
                "lose-answer",
                "--partition",
                "0",
                "--topic",
                "orders",
                "--format",
                "json",
            )[1]
        )
        assert added["fault"] == {"action": "lose_answer", "topic": "orders", "partition": 0}
        added = json.loads(
            ctl("fault", "add", "delay", "Fetch", "--ms", "5", "--answer", "--format", "json")[1]
        )
        assert added["fault"] == {
            "action": "delay",
            "duration_ms": 5,
            "answer": True,
            "api": "Fetch",
        }
        assert (
            ctl("fault", "add", "fail", "OffsetCommit", "--error", "27")[1].count(
                "REBALANCE_IN_PROGRESS"
            )
            == 1
        )
        status, _, err = ctl("fault", "add", "hold", "Fetch", "--topic", "late")
        assert (status, "topic 'late': there is none; there are: orders" in err) == (2, True)
        added = json.loads(
            ctl(
                "fault",
                "add",
                "hold",
                "Fetch",
                "--topic",
                "late",
                "--missing-ok",
                "--may-miss",
                "--format",
                "json",
            )[1]
        )
        assert (added["fault"]["missing_ok"], added["fault"]["may_miss"]) == (True, True)
        assert ctl("fault", "clear")[0] == 0
        assert ctl("fault", "list")[1] == ""

    def test_topics_and_records(self, ctl: Ctl) -> None:
        assert ctl("topic", "create", "t:2", "--config", "max.message.bytes=1000") == (0, "", "")
        assert ctl("topic", "grow", "t", "3")[0] == 0
        assert ctl("topic", "list")[1].splitlines()[-1].split() == ["t", "3"]
        assert ctl(
            "topic",
            "produce",
            "t",
            "coffee",
            "tea",
            "--partition",
            "1",
            "--key",
            "k",
            "--header",
            "h=v",
        )[1] == ("t-1 offset 0\nt-1 offset 1\n")
        assert ctl("topic", "records", "t", "--start", "1", "--partition", "1")[1].splitlines()[
            1
        ].split() == ["t-1", "1", "k", "tea"]
        assert ctl("topic", "ends", "t")[1].splitlines()[2].split() == ["1", "2"]
        assert ctl("topic", "truncate", "t", "1", "--before", "1")[1] == "1\n"
        assert ctl("topic", "delete", "t")[0] == 0

    def test_quotas(self, ctl: Ctl) -> None:
        whose = ("--client-id", "billing")
        rates = ("producer_byte_rate=1000", "request_percentage=0.5")
        assert ctl("quota", "set", *rates, *whose)[0] == 0
        told = "client_id billing: producer_byte_rate=1000, request_percentage=0.5\n"
        assert ctl("quota", "list") == (0, told, "")
        assert ctl("quota", "set", "producer_byte_rate=none", *whose)[0] == 0
        assert ctl("quota", "list")[1] == "client_id billing: request_percentage=0.5\n"
        status, _, said = ctl("quota", "set", "producer_byte_rate=many", *whose)
        assert status == 2 and "write NAME=NUMBER|none" in said

    def test_snapshots(self, ctl: Ctl) -> None:
        ctl("topic", "produce", "orders", "coffee", "--partition", "0")
        number = ctl("snapshot", "take")[1].strip()
        ctl("topic", "delete", "orders")
        assert ctl("snapshot", "list")[1].splitlines()[-1].split()[:3] == [number, "1", "orders:4"]
        assert ctl("snapshot", "restore", number) == (0, "", "")
        assert "coffee" in ctl("topic", "records", "orders")[1]
        assert ctl("snapshot", "forget", number)[0] == 0
        status, _, err = ctl("snapshot", "restore", number)
        assert (status, f"there is no snapshot '{number}'" in err) == (1, True)

    def test_time_and_the_log(self, ctl: Ctl) -> None:
        ctl("group", "commit", "g", "orders-0=1")
        assert "OffsetsRemoved" in ctl("advance", str(8 * 24 * 3600))[1]
        assert (
            "OffsetsCommitted"
            in ctl("events", "list", "--group", "g", "--type", "OffsetsCommitted")[1]
        )
        status, _, err = ctl(
            "events", "wait", "--type", "OffsetsCommitted", "--field", "broker=9", "--timeout", "0"
        )
        assert status == 1
        assert "did not come within 0 s" in err
        assert ctl("broker", "list")[1].splitlines()[1].split()[:2] == ["1", "running"]
        assert ctl("broker", "unload")[0] == ctl("broker", "load")[0] == 0
        assert ctl("reset")[0] == 0


def test_verbs_of_brokers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with (
        Emulator({"orders": 1}, brokers=3, remember=1000, seed=3) as kafka,
        opened(kafka, token="t") as port,
    ):
        monkeypatch.setenv("COORDINATOR_CONTROL_TOKEN", "t")
        stopped = ("stop 2 --how crash", "start 2", "pause 3", "start 3")
        moves = ("reassign orders 0 --to 2", "reassign orders 0")
        for words in (
            *stopped,
            "cut 1 2",
            "heal 1 2",
            "fence 2",
            "unfence 2",
            "slow 2 --ms 5",
            "jump-clock 2 -3600000",
            *moves,
        ):
            assert main(["ctl", "broker", *words.split(), "--control", port.url]) == 0, words
        assert main(["ctl", "broker", "move-coordinator", "g", "9", "--control", port.url]) == 1
        assert (
            main(["ctl", "broker", "reassign", "nope", "0", "--cancel", "--control", port.url]) == 1
        )
        since = kafka.mark()
        cancel = ["ctl", "broker", "reassign", "orders", "0", "--cancel", "--control", port.url]
        assert main(cancel) == 1, "no move is under way, and none begins"
        assert kafka.events("ReassignmentStarted", since=since) == []
        assert main(["ctl", "broker", "jump-clock", "2", "0", "--control", port.url]) == 1
        assert main(["ctl", "broker", "list", "--control", port.url]) == 0
    said = capsys.readouterr()
    assert said.out.count("running") == 3
    assert "9" in said.err
    assert "by_ms=0: the clock would not jump" in said.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["broker", "reassign", "orders", "0", "--to", "2,x"],
            "--to '2,x': write the ids of brokers, preferred leader first, such as 2,3",
        ),
        (["group", "wait", "g"], "wait for what?"),
        (["group", "wait", "g", "--state", "Stabel"], "did you mean stable, Stable"),
        (
            ["group", "wait", "g", "--committed", "orders-0"],
            "--committed 'orders-0': write NAME=VALUE",
        ),
        (
            ["group", "wait", "g", "--committed", "orders-0=x"],
            "write TOPIC-PARTITION=OFFSET, such as orders-0=10",
        ),
        (
            ["group", "wait", "g", "--assigned", "all", "--assigned", "m=orders-0"],
            "--assigned all stands alone",
        ),
        (["group", "verify", "g"], "verify what?"),
        (["fault", "add", "fail", "OffsetComit", "--error", "1"], "did you mean OffsetCommit"),
        (["topic", "create", "t:x"], "write NAME or NAME:PARTITIONS"),
    ],
)
def test_wrong_options_are_status_2(ctl: Ctl, words: list[str], said: str) -> None:
    status, out, err = ctl(*words)
    assert (status, out) == (2, "")
    assert err.startswith("coordinator ctl: error: ")
    assert said in err


def test_every_operation_has_a_command(ctl: Ctl) -> None:
    assert ctl("fault", "missed") == (0, "", "")
    assert ctl("topic", "produce", "orders", "a", "b", "--key", "k", "--partition", "3")[0] == 0
    assert ctl("journal", "requests", "--api", "Fetch") == (0, "", "")
    assert ctl("journal", "verify", "--exactly", "1")[:2] == (
        1,
        "every request: 0 came, not exactly 1\nWhat came: nothing\n",
    )
    for entry in all_operations().values():
        if entry.name == "broker_control":
            continue
        with pytest.raises(SystemExit) as ended:
            ctl(*entry.command, "--help")
        assert ended.value.code == 0, entry.name


def test_without_a_port(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COORDINATOR_CONTROL", raising=False)
    assert main(["ctl", "group", "list"]) == 2
    assert "Give --control http://host:port, or set COORDINATOR_CONTROL" in capsys.readouterr().err
    with Emulator(remember=100) as kafka, opened(kafka) as port:
        pass
    assert main(["ctl", "group", "list", "--control", port.url]) == 1
    assert "cannot be asked" in capsys.readouterr().err
