"""Tables that Spark made are the rows of the plain fold, whatever the logs and however they are
packed; others can read the files."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coordinator.lab.pipeline.schemas import SCHEMA_VERSION, TABLES
from coordinator.lab.pipeline.sources import SourceError
from coordinator.lab.pipeline.spark import tables as making
from coordinator.lab.pipeline.spark.folders import manifest_of
from coordinator.lab.pipeline.spark.session import PipelineError
from coordinator.lab.pipeline.spark.tables import make_tables
from coordinator.lab.pipeline.without_spark import tables_of
from tests.lab.pipeline.kit import GOLDEN, SHORT, rows, simulated

LOGS = 5


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Simulated runs, plain and packed, two in one file; golden logs of all streams; a damaged log
    and one that is none."""
    folder = tmp_path_factory.mktemp("logs")
    first, second, third = (simulated(name, 3) for name in sorted(SHORT))
    (folder / "plain.jsonl").write_text(first + second)
    (folder / "packed.jsonl.gz").write_bytes(gzip.compress(third.encode()))
    with pa.CompressedOutputStream(str(folder / "packed.jsonl.zst"), "zstd") as stream:
        stream.write(second.encode())
    for name in ("consumer_story", "long_story"):
        shutil.copy(GOLDEN / f"{name}.jsonl", folder)
    lines = third.splitlines(keepends=True)
    (folder / "damaged.jsonl").write_text(
        "".join([*lines[:50], "damage\n", "\n", *lines[50:99], lines[99][:20]])
    )
    (folder / "other.jsonl").write_text("no log at all\n")
    return folder


@pytest.fixture(scope="module")
def made(spark: Any, logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Their tables, in several chunks."""
    out = tmp_path_factory.mktemp("tables") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "chunk_count", lambda weights, slots: 3)
        make_tables(spark, [str(logs)], out)
    return out


@pytest.mark.parametrize("name", sorted(TABLES))
def test_every_table_is_the_plain_fold(spark: Any, logs: Path, made: Path, name: str) -> None:
    plain, _ = tables_of([str(logs)])
    read = spark.read.parquet(str(made / name)).drop("chunk")
    assert read.columns == TABLES[name].names()
    found = sorted((tuple(row) for row in read.toLocalIterator()), key=repr)
    assert found == sorted(plain[name], key=repr)


def test_counts_add_up(logs: Path, made: Path) -> None:
    _, counts = tables_of([str(logs)])
    manifest = manifest_of(made)
    assert counts.quarantined == 2 and counts.cut_short == 1 and counts.blank == 1
    assert {key: manifest[key] for key in counts._fields} == counts._asdict()
    assert manifest["rows"]["events"] == counts.events
    assert (manifest["files"], manifest["chunks"]) == (7, 3)
    assert not (made / "_STARTED").exists()
    for path in made.rglob("*.parquet"):
        assert not path.name.startswith(".")
        assert (
            pq.read_schema(path).metadata[b"coordinator.schema_version"]
            == str(SCHEMA_VERSION).encode()
        )


def test_runs_are_whole_within_a_chunk_and_in_order(made: Path) -> None:
    seen: set[str] = set()
    for path in sorted(made.glob("events/chunk=*/events.parquet")):
        events = pq.read_table(path, columns=["run_id", "seq"], partitioning=None).to_pylist()
        runs = list(dict.fromkeys(row["run_id"] for row in events))
        assert not seen.intersection(runs)
        seen.update(runs)
        for run in runs:
            seqs = [row["seq"] for row in events if row["run_id"] == run]
            assert seqs == sorted(seqs)
    assert len(seen) == 7


def test_duckdb_computes_the_same_from_the_same_files(logs: Path, made: Path) -> None:
    """Independent of the fold: durations of rebalances and waiting times from table `events` alone,
    in SQL."""
    plain, _ = tables_of([str(logs)])
    database = duckdb.connect()
    for name in TABLES:
        database.execute(
            f"create view {name} as select * from read_parquet('{made}/{name}/*/*.parquet', hive_partitioning = true)"
        )
    durations = database.execute("""
        with begun as (
            select run_id, group_id, seq, at_ms, lead(seq) over (partition by run_id, group_id order by seq) as next
            from events where type = 'RebalanceStarted')
        select begun.run_id, begun.group_id, begun.seq, min(stored.at_ms) - any_value(begun.at_ms)
        from begun join events as stored on stored.type = 'GenerationStored' and stored.run_id = begun.run_id
            and stored.group_id = begun.group_id and stored.seq > begun.seq and (next is null or stored.seq < next)
        group by all order by all""").fetchall()
    columns = ("run_id", "group_id", "seq", "duration_ms")
    expected = [
        tuple(row[column] for column in columns)
        for row in rows(plain, "rebalances")
        if row["duration_ms"] is not None
    ]
    assert durations == sorted(expected) and len(durations) > 20
    waited = database.execute("""
        select seen.run_id, seen.seq, answered.at_ms - seen.at_ms
        from events as seen join events as answered on answered.run_id = seen.run_id and answered.cause = seen.seq
        where seen.type = 'RequestSeen' and answered.type in ('RequestAnswered', 'RequestRefused') order by all""").fetchall()
    seen = [row for row in rows(plain, "requests") if row["answered_seq"] not in (None, row["seq"])]
    assert waited == sorted((row["run_id"], row["seq"], row["waited_ms"]) for row in seen)
    generations = database.execute(
        "select count(*) from events where type = 'GenerationStarted'"
    ).fetchone()
    assert generations == (len(plain["generations"]),)
    (quarantined,) = database.execute("select count(*) from quarantine").fetchone() or (None,)
    assert quarantined == 2


def test_polars_reads_the_same_files(logs: Path, made: Path) -> None:
    """Every table with its rows, and the command of docs/pipeline.md: a median by assignor."""
    plain, _ = tables_of([str(logs)])
    for name in TABLES:
        read = pl.read_parquet(made / name / "**" / "*.parquet", hive_partitioning=True)
        assert read.drop("chunk").columns == TABLES[name].names() and read.height == len(
            plain[name]
        )
    rebalances = pl.scan_parquet(made / "rebalances" / "**" / "*.parquet")
    found = (
        rebalances.group_by("assignor")
        .agg(pl.col("duration_ms").median(), pl.col("moved").sum())
        .sort("assignor")
        .collect()
        .rows()
    )
    by_assignor: dict[str | None, list[Any]] = {}
    for row in rows(plain, "rebalances"):
        by_assignor.setdefault(row["assignor"], []).append(row)
    expected = []
    for name, each in by_assignor.items():
        durations = [row["duration_ms"] for row in each if row["duration_ms"] is not None]
        expected.append(
            (name, median(durations) if durations else None, sum(row["moved"] or 0 for row in each))
        )
    assert found == sorted(expected, key=lambda row: row[0] or "") and len(found) > 1


def test_output_that_is_there_is_not_touched(spark: Any, logs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    log = str(logs / "consumer_story.jsonl")
    make_tables(spark, [log], out)
    with pytest.raises(PipelineError, match="there are tables already; --replace"):
        make_tables(spark, [log], out)
    make_tables(spark, [log, str(logs / "plain.jsonl")], out, replace=True)
    assert manifest_of(out)["runs"] == 3
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    with pytest.raises(PipelineError, match="it is not empty"):
        make_tables(spark, [log], tmp_path / "mine", replace=True)
    with pytest.raises(PipelineError, match="it is a file"):
        make_tables(spark, [log], tmp_path / "mine" / "thesis.tex")
    with pytest.raises(SourceError, match="no such file"):
        make_tables(spark, [str(tmp_path / "nothing")], tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_what_was_interrupted_is_never_taken_for_whole(
    spark: Any, logs: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    log = str(logs / "consumer_story.jsonl")
    make_tables(spark, [log], out)
    (out / "_SUCCESS").unlink()
    (out / "_STARTED").touch()
    (out / "events" / "chunk=00007").mkdir()
    shutil.copy(out / "events" / "chunk=00000" / "events.parquet", out / "events" / "chunk=00007")
    with pytest.raises(PipelineError, match="no whole tables"):
        manifest_of(out)
    made = make_tables(spark, [log], out)
    assert (
        spark.read.parquet(str(out / "events")).count()
        == made.counts.events
        == manifest_of(out)["events"]
    )


def test_a_problem_of_the_file_system_leaves_no_success(
    spark: Any, logs: Path, tmp_path: Path
) -> None:
    """A file where a table's directory should be: what a full disk does, in a form that every
    machine has."""
    out = tmp_path / "out"
    log = str(logs / "consumer_story.jsonl")
    with pytest.MonkeyPatch.context() as patch:
        before = making.prepare

        def obstructed(folder: Path, *, replace: bool) -> None:
            before(folder, replace=replace)
            (folder / "requests").write_text("in the way")

        patch.setattr(making, "prepare", obstructed)
        with pytest.raises(
            PipelineError, match="the tables are not whole; mend that and run the command again"
        ):
            make_tables(spark, [log], out)
    assert not (out / "_SUCCESS").exists()
    assert not list(out.rglob("*.parquet"))
    (out / "requests").unlink()
    make_tables(spark, [log], out)
    assert manifest_of(out)["runs"] == 1


def test_directories_that_are_no_tables(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match="no such directory"):
        manifest_of(tmp_path / "no")
    (tmp_path / "_SUCCESS").touch()
    with pytest.raises(PipelineError, match=r"manifest\.json cannot be read"):
        manifest_of(tmp_path)
    (tmp_path / "manifest.json").write_text(json.dumps({"schema_version": SCHEMA_VERSION + 1}))
    with pytest.raises(PipelineError, match="this version reads"):
        manifest_of(tmp_path)
