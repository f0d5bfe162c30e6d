"""kafka-transactions: listed, described, their producers, and one aborted by hand."""

from __future__ import annotations

from integration_tests.tools.registry import story
from integration_tests.tools.shell import Shell
from integration_tests.wire.batches import Producer, batch
from integration_tests.wire.raw import Plain

TOOL = "kafka-transactions"
_TRANSACTIONAL = 1 << 4


def _open(sh: Shell, transactional_id: str, topic: str) -> None:
    """A transaction with two records in the topic's only partition, left open."""
    stage = sh.session.stage()
    made: Plain = {}

    def initialised() -> bool:
        stage.ask_quietly(
            "FindCoordinator", 4, coordinator_keys=[transactional_id], key_type=1
        )  # Kafka makes their topic when asked
        made.update(
            stage.ask_quietly(
                "InitProducerId",
                4,
                transactional_id=transactional_id,
                transaction_timeout_ms=60_000,
            )
        )
        return bool(made["error_code"] == 0)

    sh.until(initialised)
    producer = {"producer_id": made["producer_id"], "producer_epoch": made["producer_epoch"]}

    def added() -> bool:
        asked = {
            "v3_and_below_transactional_id": transactional_id,
            **{f"v3_and_below_{k}": v for k, v in producer.items()},
            "v3_and_below_topics": [{"name": topic, "partitions": [0]}],
        }
        answer = stage.ask_quietly("AddPartitionsToTxn", 3, **asked)
        return bool(
            answer["results_by_topic_v3_and_below"][0]["results_by_partition"][0][
                "partition_error_code"
            ]
            == 0
        )

    sh.until(added)
    records = batch(
        b"one",
        b"two",
        producer=Producer(made["producer_id"], made["producer_epoch"], 0),
        attributes=_TRANSACTIONAL,
    )
    written = [{"name": topic, "partition_data": [{"index": 0, "records": records}]}]
    answer = stage.ask_quietly(
        "Produce",
        9,
        transactional_id=transactional_id,
        acks=-1,
        timeout_ms=5000,
        topic_data=written,
    )
    assert answer["responses"][0]["partition_responses"][0]["error_code"] == 0, answer


def _row(sh: Shell, *arguments: str, hidden: tuple[int, ...]) -> None:
    """The rows of a table, without the columns that are chance."""
    for line in sh.quietly(TOOL, *arguments).output.splitlines():
        cells = line.split()
        if cells and (cells[0][0].isupper() or sh.session.nonce in line or cells[0].isdigit()):
            sh.say(
                "  ".join(
                    "*" if i in hidden and not cells[0][0].isupper() else cell
                    for i, cell in enumerate(cells)
                )
            )


@story()
def listed_and_described(sh: Shell) -> None:
    """A transaction under way, by its id, its state, its producer; one that is not there."""
    mine, name = sh.name("tx"), sh.topic("t")
    _open(sh, mine, name)
    for state in ("Ongoing", "CompleteCommit", "Dead"):
        sh.say(f"listed as {state}: {state in _states(sh, mine)}")
    _row(sh, "describe", "--transactional-id", mine, hidden=(1, 2, 5, 6, 7))
    sh.run(TOOL, "describe", "--transactional-id", sh.name("missing"))
    _row(sh, "describe-producers", "--topic", name, "--partition", "0", hidden=(0, 4))


def _states(sh: Shell, transactional_id: str) -> str:
    return next(
        line for line in sh.quietly(TOOL, "list").output.splitlines() if transactional_id in line
    )


@story()
def aborted_by_hand(sh: Shell) -> None:
    """By its first offset: what was written is not read by those who read committed records."""
    mine, name = sh.name("tx"), sh.topic("t")
    _open(sh, mine, name)
    sh.run("kafka-get-offsets", "--topic", name)
    sh.run(TOOL, "abort", "--topic", name, "--partition", "0", "--start-offset", "0")
    sh.until(
        lambda: (
            "None"
            in sh.quietly(TOOL, "describe-producers", "--topic", name, "--partition", "0").output
        )
    )
    sh.run("kafka-get-offsets", "--topic", name)
    sh.run("kafka-console-producer", "--topic", name, given="three\n")
    read = ("--topic", name, "--partition", "0", "--offset", "earliest", "--timeout-ms", "15000")
    sh.run(
        "kafka-console-consumer",
        *read,
        "--isolation-level",
        "read_committed",
        "--max-messages",
        "1",
    )
    sh.run(
        "kafka-console-consumer",
        *read,
        "--isolation-level",
        "read_uncommitted",
        "--max-messages",
        "3",
    )
    sh.run(TOOL, "abort", "--topic", name, "--partition", "0", "--start-offset", "0")
