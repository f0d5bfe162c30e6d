"""kafka-get-offsets and kafka-delete-records: where logs begin and end, and how a beginning is
moved."""

from __future__ import annotations

from integration_tests.tools.registry import story
from integration_tests.tools.shell import Shell

GET, DELETE = "kafka-get-offsets", "kafka-delete-records"


@story()
def of_a_topic(sh: Shell) -> None:
    """Latest, earliest, by time, by highest timestamp; some partitions."""
    name = sh.topic("t", 3, records=4)
    sh.run(GET, "--topic", name)
    for when in (
        "-1",
        "-2",
        "-3",
        "-4",
        "-5",
        "latest",
        "earliest",
        "max-timestamp",
        "1700000060000",
        "1700000060001",
        "9999999999999",
        "nonsense",
    ):
        sh.run(GET, "--topic", name, "--time", when)
    sh.run(GET, "--topic", name, "--partitions", "0,2")
    sh.run(GET, "--topic", name, "--partitions", "7")
    sh.run(GET, "--topic-partitions", f"{name}:1,{name}:0-1")


@story()
def of_several_topics(sh: Shell) -> None:
    """By pattern; internal topics unless excluded; what is not there."""
    for label, partitions in (("many.a", 2), ("many.b", 1)):
        sh.topic(label, partitions, records=1)
    sh.run(GET, "--topic", sh.name("many.*"))
    sh.run(GET, "--topic", sh.name("missing"))
    sh.run(GET, "--topic", "__consumer_offsets", "--exclude-internal-topics")
    sh.run(GET, "--topic-partitions", "not:a:partition")


@story()
def records_deleted(sh: Shell) -> None:
    """Up to an offset, to the end (-1); beyond it, twice, in badly written plans."""
    name = sh.topic("t", 2, records=5)
    first = sh.file("first.json", _plan((name, 0, 2), (name, 1, -1)))
    sh.run(DELETE, "--offset-json-file", first, shuffled=True)
    sh.run(GET, "--topic", name, "--time", "earliest")
    sh.run(
        DELETE,
        "--offset-json-file",
        sh.file("beyond.json", _plan((name, 0, 9), (name, 1, 3))),
        shuffled=True,
    )
    sh.run(DELETE, "--offset-json-file", sh.file("twice.json", _plan((name, 0, 3), (name, 0, 4))))
    sh.run(DELETE, "--offset-json-file", sh.file("bad.json", '{"version": 1}'))
    sh.run(GET, "--topic", name, "--time", "earliest")


def _plan(*parts: tuple[str, int, int]) -> str:
    listed = ",".join(
        f'{{"topic": "{name}", "partition": {index}, "offset": {offset}}}'
        for name, index, offset in parts
    )
    return f'{{"partitions": [{listed}], "version": 1}}'
