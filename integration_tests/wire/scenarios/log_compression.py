"""compression.type: the leader keeps batches in the codec of their topic."""

from __future__ import annotations

import gzip
from functools import partial

from integration_tests.wire.batches import TIMESTAMP_MS, batch, record
from integration_tests.wire.log_people import PROFILE, SINCE, log, tell
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.fetch import fill
from integration_tests.wire.scenarios.log_compaction import sealed
from integration_tests.wire.scenarios.produce import request

of_logs = partial(scenario, PROFILE, since=SINCE)
TEXT = b"coffee " * 30


def zipped(*values: bytes, step_ms: int = 0) -> str:
    """A batch whose records are compressed by gzip."""
    plain = bytes.fromhex(batch(*values, step_ms=step_ms))
    body = gzip.compress(plain[61:], mtime=0)
    head = (
        plain[:8] + (len(body) + 49).to_bytes(4, "big") + plain[12:21] + b"\x00\x01" + plain[23:61]
    )
    return sealed(head + body)


def kept(s: Session, link: Link, name: str) -> None:
    """Say how batches are kept: all that does not depend on a library's way to compress."""
    answer: Plain = link.ask_quietly(
        "Fetch",
        12,
        replica_id=-1,
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=1 << 20,
        isolation_level=0,
        session_id=0,
        session_epoch=-1,
        topics=[
            {
                "topic": name,
                "partitions": [{"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 20}],
            }
        ],
        forgotten_topics_data=[],
    )
    raw = bytes.fromhex(answer["responses"][0]["partitions"][0]["records"] or "")
    found = []
    while raw:
        end = 12 + int.from_bytes(raw[8:12], "big")
        one, raw = raw[:end], raw[end:]
        codec = one[22] & 7
        payload = gzip.decompress(one[61:]) if codec == 1 else one[61:]
        shown = payload.hex() if codec in (0, 1) else "some"
        found.append([one[:8].hex(), one[21:61].hex(), shown])
    s.say("kept", found)


@of_logs()
def each_codec_of_a_topic(s: Session) -> None:
    """Plain and gzip batches in topics of each compression.type."""
    a = s.connect()
    for kind in ("producer", "uncompressed", "gzip", "snappy", "lz4", "zstd"):
        name = log(s, kind, each=0, compression_type=kind)
        fill(s, name, batch(TEXT, TEXT, step_ms=7), zipped(TEXT, b"tea", step_ms=7))
        kept(s, a, name)
        tell_of(s, a, name)


def tell_of(s: Session, link: Link, name: str) -> None:
    """Look-ups by time, which open what is kept."""
    if "uncompressed" in name:
        tell(s, link, name, TIMESTAMP_MS, TIMESTAMP_MS + 7, TIMESTAMP_MS + 8)


@of_logs()
def a_batch_that_begins_later_than_its_base(s: Session) -> None:
    """Made anew it has its first record's time as base timestamp; in its own codec it stays."""
    a = s.connect()
    body = record(TEXT, 0, 5) + record(TEXT, 1, 9)
    plain = bytes.fromhex(batch(TEXT, TEXT, step_ms=9))
    raw = plain[:8] + (len(body) + 49).to_bytes(4, "big") + plain[12:61] + body
    for kind in ("uncompressed", "gzip"):
        name = log(s, kind, each=0, compression_type=kind)
        fill(s, name, sealed(raw))
        kept(s, a, name)


@of_logs()
def times_of_the_broker(s: Session) -> None:
    """LogAppendTime and another codec together: only how many records there are, and the type."""
    a = s.connect()
    name = log(s, each=0, compression_type="gzip", message_timestamp_type="LogAppendTime")
    answer = a.ask("Produce", 9, **request(name, batch(TEXT, TEXT, step_ms=7)))
    s.say("error", answer["responses"][0]["partition_responses"][0]["error_code"])


@of_logs()
def too_large_once_it_is_compressed_anew(s: Session) -> None:
    """max.message.bytes counts before and after."""
    a = s.connect()
    name = log(s, each=0, compression_type="uncompressed", max_message_bytes="300")
    a.ask("Produce", 9, **request(name, zipped(b"a" * 1_000)))
    a.ask("Produce", 9, **request(name, zipped(b"a" * 100)))
    other = log(s, "o", each=0, compression_type="gzip", max_message_bytes="300")
    a.ask("Produce", 9, **request(other, batch(b"a" * 1_000)))
