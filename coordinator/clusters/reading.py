"""Files in, facts out: each line is freed of its wrappings and given to the dialect that its words
indicate.

For each file it counts the lines that were understood, their dialects, and the shapes of the
others. `joining.py` puts the facts together.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from .dialects import (
    brod,
    describes,
    franz_go,
    java_broker,
    java_client,
    kafka_go,
    kafka_python,
    kafkajs,
    librdkafka,
    redpanda,
    sarama,
    scala_broker,
)
from .facts import (
    ClientPollExpired,
    ClientStarted,
    CommitRefused,
    Evidence,
    Fact,
    Joined,
    Prepared,
    Seen,
    Settings,
    TransactionTimedOut,
)
from .lines.packed import Line
from .lines.patterns import without_logger
from .lines.prefilter import may_matter, of_other_group
from .lines.stamps import DAY_MS, Stamp
from .lines.unwrapping import decoded, unwrapped
from .lines.wrappings import peel

LOOKED_FOR = (
    "a broker's [GroupCoordinator ...] lines, Redpanda's [N:group S:state G:n] lines, a Java client's "
    "[Consumer clientId=...] lines, librdkafka's lines (%7|...), those of kafka-python, aiokafka, franz-go, sarama, kafka-go, "
    "brod and KafkaJS, and tables of kafka-consumer-groups --describe"
)
_QUOTED_CHARACTERS = 2_000
_MOST_SHAPES = 500
_BARE = re.compile(
    r"Preparing to rebalance group |Stabilized group |Assignment received from leader "
    r"|(?:Static|Dynamic|Pending dynamic) member with |\[GroupId |\[GroupId="
)
_FAILED = re.compile(r"Member \S{1,400} in group \S{1,300} has failed")
_SHARE = re.compile(
    r"\[(?:Share)?Consumer (?:instanceId=|clientId=)|\[Worker (?:instanceId=|clientId=)|\[ShareConsumer "
    r"|\[Producer clientId="
)
_VALUE = re.compile(r"\s{1,8}(?P<key>[a-z][a-z0-9._]{2,80}) = (?P<value>.{0,300})$")
_ROLLED_BACK = re.compile(
    r"Completed rollback of ongoing transaction for transactionalId (?P<id>\S{1,300}) due to timeout"
)
_DIGITS = re.compile(r"\d+")


class FileReport:
    """Statistics about the reading of one file."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lines = 0
        self.understood = 0
        self.too_long = 0
        self.dialects: Counter[str] = Counter()
        self.shapes: Counter[str] = Counter()
        self.groups: set[str] = set()
        self.later = self.earlier = 0
        self.offset: int | None = None
        self.clock_offset_ms: int | None = None

    @property
    def newest_first(self) -> bool:
        """Return True if the file is an export that begins with its latest line."""
        return self.earlier > 2 * self.later

    @property
    def dialect(self) -> str | None:
        """Return the dialects that were found, the most frequent first; None if none was found."""
        return " + ".join(name for name, _ in self.dialects.most_common()) or None

    def passed_over(self, text: str) -> None:
        """Count the shape of a line that no dialect understands."""
        shape = _DIGITS.sub("N", text[:100]).strip()
        if shape and (shape in self.shapes or len(self.shapes) < _MOST_SHAPES):
            self.shapes[shape] += 1


class _Source:
    """A file, or a pod within it: the instant of its last line, and its client's identity."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.client = name
        self.at: int | None = None
        self.midnights = 0
        self.settings: dict[str, str] | None = None
        self.java: tuple[str, str | None] | None = None

    def moment(self, stamp: Stamp | None) -> int | None:
        """Return the time of a line: its own stamp, or that of the line before it. If a clock
        without dates goes backwards, a new day has begun."""
        if stamp is not None:
            ms = stamp.ms
            if 0 <= ms < DAY_MS:
                if self.at is not None and ms + self.midnights * DAY_MS < self.at - DAY_MS // 2:
                    self.midnights += 1
                ms += self.midnights * DAY_MS
            self.at = ms
        return self.at


class FileReader:
    """Reads one file's lines. `zone`: minutes east of UTC of stamps that carry no zone."""

    def __init__(self, name: str, zone: int | None, group: str | None = None) -> None:
        self.report = FileReport(name)
        self.zone = zone
        self.report.offset = zone
        self.sources: dict[str, _Source] = {}
        self.rdkafka = librdkafka.Reader()
        self.franz = franz_go.Reader()
        self.kafkajs = kafkajs.Reader()
        self.sarama = sarama.Reader()
        self.redpanda = redpanda.Reader()
        self.kafka_go = kafka_go.Reader()
        self.brod = brod.Reader()
        self.tables = describes.Reader()
        self.table_line = Evidence(name, 0, "")
        self.group = group
        self._group = group.encode() if group is not None and group.isascii() else None
        self.in_settings = 0
        self._every = False
        self._skipped: bytes | None = None

    def read(self, lines: Iterable[Line]) -> Iterator[Seen]:
        """Yield the facts of the lines, in the lines' order; if one group was asked for, without
        those of other groups."""
        group, report, tables = self._group, self.report, self.tables
        for number, line in unwrapped(lines):
            if isinstance(line, bytes):
                # Nearly all lines of a long log end here: keep it short.
                if (
                    (group is not None and of_other_group(line, group)) or not may_matter(line)
                ) and not (
                    self.in_settings
                    or tables.columns
                    or tables.state
                    or self._every
                    or self.brod.open
                ):
                    report.lines += 1
                    self._skipped = line
                    continue
                line = decoded(line)
            for seen in self.take(number, line):
                if self.group is None or self._of_interest(seen.fact):
                    yield seen
        yield from self.end()

    def _of_interest(self, fact: Fact) -> bool:
        group = getattr(fact, "group", None)
        if group is not None:
            self.report.groups.add(group)
        return group is None or group == self.group

    def take(self, number: int, line: str | None) -> list[Seen]:
        """Return the facts of one line, and of a table or block that it ends."""
        report = self.report
        report.lines += 1
        if line is None:
            report.too_long += 1
            return []
        peeled = peel(line)
        if peeled.stamp is None and self._skipped is not None:
            before = peel(self._skipped.decode("utf-8", "replace"))
            if before.source == peeled.source and before.stamp is not None:
                peeled = peeled._replace(stamp=before.stamp)
        self._skipped = None
        if peeled.stamp is not None and 0 <= peeled.stamp.ms < DAY_MS:
            self._every = True  # without a day, every line counts: a midnight may lie in between
        source = self.sources.get(peeled.source)
        if source is None:
            name = peeled.source.rpartition("/")[0] or peeled.source
            source = self.sources[peeled.source] = _Source(name or _base(report.name))
        last = source.at
        at = source.moment(self._zoned(peeled.stamp))
        if last is not None and at is not None and at != last:
            if at > last:
                report.later += 1
            else:
                report.earlier += 1
        evidence = Evidence(report.name, number, line.rstrip("\r\n")[:_QUOTED_CHARACTERS])
        found = list(self._settings(source, peeled.text, at, evidence))
        if source.settings is not None:
            report.understood += 1
            return found
        dialect, facts = self._dialect(source, peeled.text, peeled.fields)
        if dialect == describes.NAME:
            found += self._table(facts, last, source)
            if self.table_line.line == 0 or not self.tables.rows:
                self.table_line = evidence
        elif dialect is None:
            found += self._table(facts, last, source)
            report.passed_over(peeled.text)
            return found
        else:
            found += [Seen(at, source.name, evidence, fact) for fact in facts]
        report.understood += 1
        report.dialects[dialect] += 1
        return found

    def end(self) -> Iterator[Seen]:
        """Yield the facts of tables and blocks that are still open when the file ends."""
        for source in self.sources.values():
            if source.settings is not None:
                yield from self._end_settings(
                    source, Evidence(self.report.name, self.report.lines, "")
                )
        last = next(reversed(self.sources.values()), None)
        if last is not None:
            yield from self._table(self.tables.end(), last.at, last)

    def _zoned(self, stamp: Stamp | None) -> Stamp | None:
        if stamp is None:
            return None
        if stamp.offset is not None:
            if self.report.offset is None:
                self.report.offset = stamp.offset
            return stamp
        if self.zone is None:
            return stamp
        return Stamp(stamp.ms - self.zone * 60_000, self.zone)

    def _table(self, facts: list[Fact], at: int | None, source: _Source) -> Iterator[Seen]:
        for fact in facts:
            yield Seen(at, source.name, self.table_line, fact)

    def _dialect(
        self, source: _Source, text: str, fields: dict[str, Any] | None
    ) -> tuple[str | None, list[Fact]]:
        """Return the dialect of a line and its facts; None if no dialect knows it."""
        found = _read_broker(text)
        if found is None:
            found = self._read_client(source, text) or self._read_others(source, text, fields)
        if found is not None:
            return found
        belongs, facts = self.tables.read(text)
        return (describes.NAME if belongs else None), facts

    def _read_client(self, source: _Source, text: str) -> tuple[str | None, list[Fact]] | None:
        java = _SHARE.search(text, 0, 4_000)
        if java:
            understood, facts = java_client.read(text[java.start() :])
            for fact in facts:
                source.java = (getattr(fact, "client", ""), getattr(fact, "group", None))
            return (java_client.NAME if understood else None), facts
        understood, facts = self.rdkafka.read(text, source.name)
        if understood:
            return librdkafka.NAME, facts
        if "KafkaError{code=" in text[:400] and self.rdkafka.last is not None:
            if "Commit failed" in text and ("UNKNOWN_MEMBER" in text or "ILLEGAL_GEN" in text):
                return librdkafka.NAME, [CommitRefused(self.rdkafka.last, None)]
        if "CommitFailedException: " in text[:400]:
            client, group = source.java or (source.name, None)
            return java_client.NAME, [CommitRefused(client, group)]
        missed = librdkafka.MISSED_POLL.search(text, 0, 1_000)
        if missed:
            client = self.rdkafka.last or source.name
            interval = int(missed["ms"]) if missed["ms"] else None
            return librdkafka.NAME, [ClientPollExpired(client, None, interval)]
        if text.find("TransactionCoordinator id=", 0, 300) >= 0:
            rolled = _ROLLED_BACK.search(text, 0, 600)
            return java_broker.NAME, [TransactionTimedOut(rolled["id"])] if rolled else []
        for anchor in kafka_python.ANCHORS:
            begin = text.find(anchor, 0, 200)
            if begin >= 0 and not text.startswith("kafka.coordinator.group.", begin):
                understood, facts = kafka_python.read(source.client, text[begin:])
                if understood:
                    return kafka_python.NAME, facts
                break
        bare = kafka_python.BARE.search(text, 0, 4_000)
        if bare:
            old = kafka_python.OLD_JAVA.search(text, 0, bare.start()) is not None
            understood, facts = kafka_python.told(
                source.client, without_logger(text[bare.start() :])
            )
            name = java_client.NAME if old else kafka_python.NAME
            return (name if understood else None), facts
        named = kafka_python.CLIENT.search(text, 0, 400)
        if named and "kafka." in text[:100]:
            source.client = named["client"]
            started = " starting" in text[:200]
            return kafka_python.NAME, [ClientStarted(source.client, None)] if started else []
        return None

    def _read_others(
        self, source: _Source, text: str, fields: dict[str, Any] | None
    ) -> tuple[str | None, list[Fact]] | None:
        """Read lines of clients in Go, Erlang and JavaScript, and of Redpanda."""
        facts = self.brod.read(source.name, text)
        if facts is not None:
            return brod.NAME, facts
        begin = text.find(redpanda.ANCHORS[0], 0, 300)
        if begin >= 0:
            facts = self.redpanda.read(text[begin:])
            return None if facts is None else (redpanda.NAME, facts)
        for anchor in sarama.ANCHORS:
            begin = text.find(anchor, 0, 300)
            if begin >= 0:
                facts = self.sarama.read(source.name, text[begin:])
                return None if facts is None else (sarama.NAME, facts)
        for anchor in kafka_go.ANCHORS:
            begin = text.find(anchor, 0, 300)
            if begin >= 0:
                facts = self.kafka_go.read(source.name, text[begin:])
                if facts is not None:
                    return kafka_go.NAME, facts
        if fields is not None:
            facts = self.kafkajs.read(source.name, text, fields)
            if facts is not None:
                return kafkajs.NAME, facts
        facts = self.franz.read(source.name, text, fields)
        return None if facts is None else (franz_go.NAME, facts)

    def _settings(
        self, source: _Source, text: str, at: int | None, evidence: Evidence
    ) -> Iterator[Seen]:
        """Collect the configuration that a Java client logs when it starts."""
        if source.settings is not None:
            row = _VALUE.match(text)
            if row:
                source.settings[row["key"]] = row["value"].strip()
                return
            yield from self._end_settings(source, evidence)
        if text.rstrip().endswith("ConsumerConfig values:"):
            source.settings = {}
            self.in_settings += 1

    def _end_settings(self, source: _Source, evidence: Evidence) -> Iterator[Seen]:
        values, source.settings = source.settings or {}, None
        self.in_settings -= 1
        client, group = values.get("client.id"), values.get("group.id")
        if client:
            known = group if group and group != "null" else None
            yield Seen(source.at, source.name, evidence, Settings(client, known, values))


def _base(name: str) -> str:
    return name.replace("\\", "/").rstrip("/").rpartition("/")[2] or name


def _read_broker(text: str) -> tuple[str | None, list[Fact]] | None:
    for module in (java_broker, scala_broker):
        for anchor in module.ANCHORS:
            begin = text.find(anchor, 0, 4_000)
            if begin >= 0:
                message = without_logger(text[begin:])
                understood, facts = module.read(message)
                return (module.NAME if understood else None), facts
    bare = _BARE.search(text, 0, 400) or _FAILED.search(text, 0, 400)
    if bare and "clientId=" not in text[: bare.start()]:
        message = without_logger(text[bare.start() :])
        understood, facts = java_broker.read(message)
        if understood and facts:
            old = any(isinstance(fact, Joined | Prepared) for fact in facts) and (
                "(__consumer_offsets-" in message
            )
            return (scala_broker.NAME if old else java_broker.NAME), facts
    return None
