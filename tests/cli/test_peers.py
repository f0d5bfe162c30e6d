"""`coordinator peers` as its users run it."""

from __future__ import annotations

import io
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from assignors import TopicPartition
from coordinator.cli import main
from coordinator.cli.members.table import Table, View, partitions_text
from coordinator.kit.emulator.embedded import Emulator
from coordinator.members import MemberConfig
from coordinator.members.live import Fleet

PEERS = [sys.executable, "-m", "coordinator", "peers"]


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator({"orders": 6, "orders-eu": 2}) as kafka:
        yield kafka


def command(kafka: Emulator, *options: str) -> list[str]:
    return [*PEERS, "--bootstrap", kafka.bootstrap_servers, "--group", "g", *options]


def start(kafka: Emulator, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(kafka, *options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def run(kafka: Emulator, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(kafka, *options), capture_output=True, text=True, check=False, timeout=300
    )


def until(process: subprocess.Popen[str], pattern: str) -> str:
    """Read lines up to one that matches."""
    assert process.stdout is not None
    for line in process.stdout:
        if re.search(pattern, line):
            return line
    raise AssertionError(f"ended without {pattern!r}: {process.communicate()}")


def leave(process: subprocess.Popen[str]) -> str:
    """Wait for a clean end; what was printed since `until`. Popen.communicate would miss what
    `until` has read ahead."""
    assert process.stdout is not None and process.stderr is not None
    with process:
        out, err = process.stdout.read(), process.stderr.read()
    assert (process.returncode, err) == (0, "")
    return out


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_members_come_show_what_they_own_and_leave_on_a_signal(
    kafka: Emulator, stop: signal.Signals
) -> None:
    process = start(kafka, "--topics", "orders", "-n", "3", "--assignor", "cooperative-sticky")
    until(
        process,
        "generation .*: 3 members here with 6 partitions, assigned by peer-[123] with cooperative-sticky$",
    )
    assert kafka.run(lambda: len(kafka.coordinator.groups["g"].members)) == 3
    process.send_signal(stop)
    out = leave(process)
    assert re.search(r"^  peer-[123]: orders \d[,-]\d\n", out, re.MULTILINE), (
        "somebody's share is new in the generation of all"
    )
    assert out.endswith("\nleaving: 3 members\ngone\n")
    assert kafka.run(lambda: len(kafka.coordinator.groups["g"].members)) == 0


def test_static_members_by_pattern_stay_in_the_group(kafka: Emulator) -> None:
    """CLI-14: static members send no LeaveGroup."""
    options = [
        "--pattern",
        "orders.*",
        "-n",
        "2",
        "--static",
        "--client-id",
        "p",
        "--seed",
        "1",
        "--racks",
        "a,b",
    ]
    process = start(kafka, *options)
    until(process, "2 members here with 8 partitions")
    process.send_signal(signal.SIGTERM)
    leave(process)
    assert kafka.run(lambda: sorted(kafka.coordinator.groups["g"].membership.static_members)) == [
        "p-1",
        "p-2",
    ]


def test_members_of_the_consumer_protocol() -> None:
    """KIP-848: what is shown is an epoch at which all are settled; the coordinator assigns, and
    matches the pattern."""
    config = {
        "group.consumer.min.heartbeat.interval.ms": "100",
        "group.consumer.heartbeat.interval.ms": "100",
    }
    with Emulator({"orders": 6, "orders-eu": 2}, config) as kafka:
        process = start(
            kafka,
            "--pattern",
            "orders.*",
            "-n",
            "1",
            "--protocol",
            "consumer",
            "--server-assignor",
            "range",
        )
        told = until(process, "epoch .* 8 part")
        assert re.fullmatch(
            r"epoch \d+: 1 member here with 8 partitions, assigned by the coordinator\n", told
        )
        assert (
            process.stdout is not None
            and process.stdout.readline() == "  peer-1: orders 0-5; orders-eu 0-1\n"
        )
        process.send_signal(signal.SIGINT)
        assert leave(process).splitlines()[-1] == "gone"


def test_a_member_that_fails_is_told_and_the_status_says_so(kafka: Emulator) -> None:
    options = ["--topics", "orders", "--assignor", "tests.members.kit:Eager"]
    done = run(kafka, *options)
    assert done.returncode == 1
    assert "peer-1: assignor 'mine' broke the rule 'assigns'" in done.stderr


OK = ["--bootstrap", "h:1", "--group", "g", "--topics", "t"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--bootstrap", "nowhere", "--group", "g", "--topics", "t"],
            "--bootstrap: 'nowhere' is no address of a broker: give host:port",
        ),
        (
            ["--bootstrap", "h:1", "--group", "g"],
            "give either --topics orders,payments or --pattern",
        ),
        ([*OK, "--pattern", "x"], "give either"),
        (
            ["--bootstrap", "h:1", "--group", "g", "--topics", "a,,b"],
            "--topics 'a,,b': names with commas",
        ),
        (["--bootstrap", "h:1", "--group", "g", "--topics", "a,a"], "twice"),
        (["--bootstrap", "h:1", "--group", "g", "--pattern", "("], "--pattern '(':"),
        ([*OK, "-n", "0"], "-n 0: at least 1 member"),
        ([*OK, "--for", "-1"], "--for -1"),
        (
            [*OK, "--protocol", "consumer", "--assignor", "range"],
            "--assignor: with --protocol consumer the coordinator assigns",
        ),
        (
            [*OK, "--server-assignor", "range"],
            "--server-assignor: in the classic protocol the group's leader assigns",
        ),
        (
            [*OK, "--config", "group.protocol=consumer"],
            "--config group.protocol: there is --protocol for this",
        ),
        (
            [*OK, "--protocol", "consumer", "--config", "session.timeout.ms=9000"],
            "session.timeout.ms cannot be set with group.protocol",
        ),
        ([*OK, "--assignor", "nope"], "--assignor: partition.assignment.strategy: nope"),
        ([*OK, "--static", "--client-id", "a/b"], "--static: group.instance.id"),
        ([*OK, "--config", "session.timeout.ms"], "write NAME=VALUE"),
        ([*OK, "--config", "session.timeout=1"], "session.timeout.ms is"),
        ([*OK, "--config", "group.id=x"], "there is --group for this"),
        (["--bootstrap", "h:1", "--group", "", "--topics", "t"], "--group: group.id is missing"),
    ],
)
def test_wrong_options_say_what_would_be_right(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["peers", *options]) == 2
    assert said in capsys.readouterr().err


def test_nobody_reached_within_a_short_time_is_a_failure(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with socket.socket() as deaf:  # bound, and does not listen
        deaf.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{deaf.getsockname()[1]}"
        status = main(
            ["peers", "--bootstrap", address, "--group", "g", "--topics", "t", "--for", "0.3"]
        )
    assert status == 1
    assert f"no broker could be reached: {address}" in capsys.readouterr().err


def test_partitions_read_as_runs() -> None:
    owned = [
        TopicPartition(topic, n)
        for topic, n in (("b", 1), ("a", 3), ("a", 0), ("a", 1), ("a", 2), ("a", 7))
    ]
    assert partitions_text(owned) == "a 0-3,7; b 1"
    assert partitions_text([]) == "-"


def test_one_member_is_no_members(kafka: Emulator) -> None:
    process = start(kafka, "--topics", "orders", "--assignor", "range")
    until(process, "^1 member on its way into group g$")
    until(process, "^generation 1: 1 member here with 6 partitions, assigned by peer-1 with range$")
    process.send_signal(signal.SIGTERM)
    assert leave(process).endswith("\nleaving: 1 member\ngone\n")


async def test_a_generation_on_the_way_is_shown_too() -> None:
    """KIP-429: in cooperative-sticky's middle generation partitions are given up, and assigned in
    the next."""
    out = io.StringIO()
    async with Emulator({"orders": 4}) as kafka, Fleet(kafka.bootstrap_servers) as fleet:
        view = View(fleet, "g", out)
        config = MemberConfig(
            group_id="g",
            client_id="first",
            assignors=("cooperative-sticky",),
            heartbeat_interval_ms=50,
        )
        first = fleet.peer(config, topics=["orders"])
        view.start([first])
        await fleet.stable()
        view.draw()
        fleet.peer(config.having(client_id="second"), topics=["orders"])
        await fleet.stable()
        view.draw()
        lines = out.getvalue().splitlines()
    given_up = "2 given up, to be assigned in the next generation"
    assert lines == [
        "1 member on its way into group g",
        "generation 1: 1 member here with 4 partitions, assigned by first with cooperative-sticky",
        "  first: orders 0-3",
        f"generation 2: 1 member here with 2 partitions, assigned by first with cooperative-sticky; {given_up}",
        "  first: orders 0-1",
        "generation 3: 1 member here with 2 partitions, assigned by first with cooperative-sticky",
    ]


async def test_on_a_terminal_a_table_is_drawn_over() -> None:
    out = io.StringIO()
    async with Emulator({"orders": 4}) as kafka, Fleet(kafka.bootstrap_servers) as fleet:
        view = Table(fleet, "g", out)
        peers = [
            fleet.peer(
                MemberConfig(group_id="g", client_id=f"c{i}", assignors=("range",)),
                topics=["orders"],
            )
            for i in range(2)
        ]
        view.start(peers)
        await fleet.stable()
        view.draw()
        view.draw()
        text = out.getvalue()
    assert "\x1b[3F" in text and "orders 0-1" in text and text.count("* c") >= 1
