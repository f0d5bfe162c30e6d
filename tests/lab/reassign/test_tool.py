"""`coordinator reassign` against three brokers: REASN-6 to REASN-10; and the placement it proposes,
REPL-1 to REPL-4."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from coordinator.cli import main
from coordinator.kit.cluster import SlowFollower
from coordinator.kit.emulator.embedded import Emulator
from coordinator.lab.reassign.files import FileError, read_assignment, read_topics
from coordinator.server.cluster.admin_placement import PlacementError, alternated, assign


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator({"foo": 2}, brokers=3, racks=["a", "b", "c"], seed=3) as emulator:
        yield emulator


class Tool:
    def __init__(self, kafka: Emulator, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.kafka = kafka
        self.path = tmp_path / "file.json"
        self.capsys = capsys

    def write(self, *replicas: list[int]) -> None:
        rows = [
            {"topic": "foo", "partition": index, "replicas": each}
            for index, each in enumerate(replicas)
        ]
        self.path.write_text(json.dumps({"version": 1, "partitions": rows}))

    def run(self, action: str, *options: str, status: int = 0) -> str:
        file = [
            "--topics-to-move-json-file" if action == "generate" else "--reassignment-json-file",
            str(self.path),
        ]
        asked = [
            "reassign",
            action,
            "--bootstrap-server",
            self.kafka.bootstrap_servers,
            *(file if action != "list" else []),
            *options,
        ]
        assert main(asked) == status
        captured = self.capsys.readouterr()
        return captured.out if status != 2 and captured.out else captured.err

    def replicas(self, index: int) -> list[int]:
        partition = self.kafka.run(lambda: self.kafka.brokers[1].cluster.partition("foo", index))
        assert partition is not None
        return partition.replicas

    def topic_configs(self) -> dict[str, str]:
        return self.kafka.run(lambda: self.kafka.brokers[1].cluster.topics["foo"].configs)


@pytest.fixture
def tool(kafka: Emulator, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Tool:
    return Tool(kafka, tmp_path, capsys)


def test_from_a_proposal_to_the_end(tool: Tool) -> None:
    """REASN-7, REASN-8, REASN-9"""
    tool.path.write_text('{"version":1,"topics":[{"topic":"foo"}]}')
    said = tool.run("generate", "--broker-list", "1,2,3", "--seed", "1").splitlines()
    assert said[0] == "Current partition replica assignment"
    assert said[2:4] == ["", "Proposed partition reassignment configuration"]
    proposed = read_assignment(said[4])
    assert {len(replicas) for replicas in proposed.values()} == {1}
    tool.write([1, 2, 3], [3, 2, 1])
    said = tool.run("execute").splitlines()
    assert said[0] == "Current partition replica assignment"
    assert said[-1] == "Successfully started partition reassignments for foo-0,foo-1"
    assert (tool.replicas(0), tool.replicas(1)) == ([1, 2, 3], [3, 2, 1])
    said = tool.run("verify").splitlines()
    assert said[:3] == [
        "Status of partition reassignment:",
        "Reassignment of partition foo-0 is completed.",
        "Reassignment of partition foo-1 is completed.",
    ]
    assert said[-2:] == [
        "Clearing broker-level throttles on brokers 1,2,3",
        "Clearing topic-level throttles on topic foo",
    ]
    tool.write([2], [3, 2, 1])
    assert (
        "There is no active reassignment of partition foo-0, but replica set is 1,2,3 rather than 2."
        in tool.run("verify", status=1)
    )


def test_one_that_is_under_way_is_cancelled(tool: Tool) -> None:
    """REASN-8, REASN-10; throttles are set for those involved, and cleared."""
    before = tool.replicas(0)
    target = [node for node in (1, 2, 3) if node not in before][:1]
    tool.kafka.control(SlowFollower(target[0], delay_ms=3_600_000))
    tool.write(target)
    assert "The inter-broker throttle limit was set to 1000 B/s" in tool.run(
        "execute", "--throttle", "1000"
    )
    assert tool.topic_configs() == {
        "leader.replication.throttled.replicas": f"0:{before[0]}",
        "follower.replication.throttled.replicas": f"0:{target[0]}",
    }
    assert "Reassignment of partition foo-0 is still in progress." in tool.run("verify", status=1)
    assert tool.run("list").splitlines() == [
        "Current partition reassignments:",
        f"foo-0: replicas: {target[0]},{before[0]}. adding: {target[0]}. removing: {before[0]}.",
    ]
    assert "Use --additional to override" in tool.run("execute", status=1)
    assert "Successfully cancelled partition reassignment for: foo-0" in tool.run("cancel")
    assert tool.replicas(0) == before
    assert tool.topic_configs() == {}
    assert tool.run("list") == "No partition reassignments found.\n"
    assert "None of the specified partition reassignments are active." in tool.run("cancel")


def test_what_the_tool_refuses(tool: Tool) -> None:
    """REASN-8: nothing is changed."""
    tool.write([1, 9])
    assert "Unknown broker id 9; the brokers are 1, 2, 3" in tool.run("execute", status=2)
    tool.write([1, 1])
    assert "foo-0 contains multiple entries for 1" in tool.run("execute", status=2)
    tool.write([])
    assert (
        "Partition replica lists may not be empty: foo-0; name at least one of the brokers 1, 2, 3"
        in tool.run("execute", status=2)
    )
    tool.path.write_text(
        '{"version":1,"partitions":[{"topic":"nope","partition":0,"replicas":[1]}]}'
    )
    assert "Unable to find partition(s): nope-0" in tool.run("execute", status=2)
    tool.path.write_text("[]")
    assert "an object is meant" in tool.run("execute", status=2)
    tool.path.write_text('{"version":1,"topics":[{"topic":"nope"}]}')
    assert "Topic nope not found." in tool.run("generate", "--broker-list", "1", status=2)
    assert "broker ids are meant" in tool.run("generate", "--broker-list", "x", status=2)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"version":2,"partitions":[]}', "Not supported version field value 2"),
        ('{"version":1,"partitions":[]}', "cannot be empty"),
        (
            '{"partitions":[{"topic":"a","partition":0,"replicas":[1,1]}]}',
            "a-0 contains multiple entries for 1",
        ),
        (
            '{"partitions":[{"topic":"a","partition":0,"replicas":[1]},{"topic":"a","partition":0,"replicas":[2]}]}',
            "duplicate topic partitions: a-0",
        ),
        (
            '{"partitions":[{"topic":"a","partition":0,"replicas":[1],"log_dirs":[]}]}',
            "different from size of log dirs",
        ),
        (
            '{"partitions":[{"topic":"a","partition":"0","replicas":[1]}]}',
            '"partition": a whole number is meant',
        ),
        (
            '{"partitions":[{"topic":"a","partition":0,"replicas":["1"]}]}',
            "replicas are broker ids",
        ),
        (
            '{"partitions":[{"topic":"a","partition":-1,"replicas":[1]}]}',
            "a--1: partitions are counted from 0",
        ),
        ("{", "no JSON"),
    ],
)
def test_files_that_cannot_be(text: str, says: str) -> None:
    """REASN-6"""
    with pytest.raises(FileError, match=says):
        read_assignment(text)


def test_topics_are_named_once() -> None:
    assert read_topics('{"version":1,"topics":[{"topic":"b"},{"topic":"a"}]}') == ["a", "b"]
    with pytest.raises(FileError, match="duplicate entries: a"):
        read_topics('{"topics":[{"topic":"a"},{"topic":"a"}]}')


class RandomSource:
    """Always 0, as Kafka's tests fix the start."""

    def randrange(self, stop: int, /) -> int:
        return 0


class TestPlacement:
    def test_racks_alternate(self) -> None:
        """REPL-3"""
        assert alternated({0: "r1", 1: "r3", 2: "r3", 3: "r2", 4: "r2", 5: "r1"}) == [
            0,
            3,
            1,
            5,
            4,
            2,
        ]

    def test_without_racks(self) -> None:
        """REPL-2: Kafka's own example, five brokers, ten partitions, three replicas."""
        placed = assign(dict.fromkeys(range(5)), 10, 3, RandomSource())
        assert placed == [
            [0, 1, 2],
            [1, 2, 3],
            [2, 3, 4],
            [3, 4, 0],
            [4, 0, 1],
            [0, 2, 3],
            [1, 3, 4],
            [2, 4, 0],
            [3, 0, 1],
            [4, 1, 2],
        ]

    @pytest.mark.parametrize("seed", range(20))
    def test_racks_are_spread(self, seed: int) -> None:
        """REPL-4: no rack twice while another has none."""
        racks: dict[int, str | None] = {0: "r1", 1: "r2", 2: "r2", 3: "r3", 4: "r3", 5: "r1"}
        for replicas in assign(racks, 12, 3, Random(seed)):
            assert len({racks[node] for node in replicas}) == 3

    def test_refusals(self) -> None:
        """REPL-1"""
        for brokers, factor, says in (
            ({0: None}, 2, "larger than available brokers: 1"),
            ({0: None}, 0, "larger than 0"),
            ({0: "a", 1: None}, 1, "Not all brokers"),
        ):
            with pytest.raises(PlacementError, match=says):
                assign(brokers, 1, factor, RandomSource())
        assert assign({0: "a", 1: None}, 1, 1, RandomSource(), racks=False) == [[0]]
