"""Compressed batches whose header, compressed bytes or records do not say the same: what is
appended, and what is refused how."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import google_crc32c

from integration_tests.wire.batches import BODY, COMPRESSIONS, HEAD, TIMESTAMP_MS, record
from integration_tests.wire.people import topic
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.fetch import fetch, wanted
from integration_tests.wire.scenarios.log_offsets import list_offsets, listed
from integration_tests.wire.scenarios.produce import produce

Compress = Callable[[bytes], bytes]


def gzip(data: bytes) -> bytes:
    """The same bytes on every machine: no block is compressed, and the header carries no time."""
    made = zlib.compressobj(0, zlib.DEFLATED, 31)
    return made.compress(data) + made.flush()


def snappy(data: bytes) -> bytes:
    """One block of one literal, without a frame."""
    assert len(data) < 128
    return bytes((len(data), 60 << 2, len(data) - 1)) + data if data else b"\0"


def lz4(data: bytes) -> bytes:
    """One frame of one block that is not compressed."""
    return (
        b"\x04\x22\x4d\x18\x60\x40\x82"
        + (len(data) | 1 << 31).to_bytes(4, "little")
        + data
        + bytes(4)
    )


CODECS: dict[str, Compress] = {"gzip": gzip, "snappy": snappy, "lz4": lz4}


def sealed(
    codec: int,
    payload: bytes,
    count: int,
    *,
    last: int | None = None,
    attributes: int = 0,
    top_ms: int = TIMESTAMP_MS,
) -> str:
    """A batch around bytes that are compressed already; its header says what it is told to say."""
    times = (TIMESTAMP_MS, top_ms)
    body = (
        BODY.pack(
            codec | attributes, count - 1 if last is None else last, *times, -1, -1, -1, count
        )
        + payload
    )
    return (HEAD.pack(0, len(body) + 9, -1, 2, google_crc32c.value(body)) + body).hex()


def records(count: int, step_ms: int = 0, key: bytes | None = None) -> bytes:
    """So many records, plain."""
    return b"".join(record(b"v%d" % i, i, i * step_ms, key) for i in range(count))


def look_up(link: Link, name: str, *times_ms: int) -> None:
    """ListOffsets by time, one request each."""
    for time_ms in times_ms:
        list_offsets(link, listed(name, time_ms))


@scenario()
def a_header_that_miscounts(s: Session) -> None:
    """More records than there are, fewer, and none; the log is searched by time afterwards."""
    a = s.connect()
    for label, compress in CODECS.items():
        name, codec = topic(s, label), COMPRESSIONS[label]
        for count in (3, 2, 4, 1):
            produce(a, name, sealed(codec, compress(records(3, 10)), count))
        produce(a, name, sealed(codec, compress(b""), 1))
        produce(a, name, sealed(codec, b"", 1))
        look_up(a, name, TIMESTAMP_MS, TIMESTAMP_MS + 5, TIMESTAMP_MS + 20, TIMESTAMP_MS + 21, -3)
        fetch(a, wanted(name, 0))


@scenario()
def a_header_with_other_times(s: Session) -> None:
    """The maximum timestamp of a compressed batch is put right, too."""
    a = s.connect()
    for label, compress in CODECS.items():
        name, codec = topic(s, label), COMPRESSIONS[label]
        produce(a, name, sealed(codec, compress(records(3, 10)), 3, top_ms=TIMESTAMP_MS + 900))
        produce(a, name, sealed(codec, compress(records(3, -10)), 3, top_ms=-1))
        look_up(a, name, TIMESTAMP_MS, TIMESTAMP_MS + 15, TIMESTAMP_MS + 100, -3)
        fetch(a, wanted(name, 0))


@scenario()
def compressed_bytes_that_are_damaged(s: Session) -> None:
    """Cut short, continued, or changed in the middle."""
    a = s.connect()
    for label, compress in CODECS.items():
        name, codec = topic(s, label), COMPRESSIONS[label]
        whole = compress(records(3))
        for cut in (1, 4, 9, len(whole) // 2):
            produce(a, name, sealed(codec, whole[:-cut], 3))
        produce(a, name, sealed(codec, whole + b"\0\0\0", 3))
        produce(a, name, sealed(codec, whole + whole, 3))
        produce(a, name, sealed(codec, whole + whole, 6))
        produce(a, name, sealed(codec, whole[:1] + b"\xff" * 8 + whole[9:], 3))
        look_up(a, name, TIMESTAMP_MS)


@scenario()
def records_that_are_damaged(s: Session) -> None:
    """The records inside sound compressed bytes do not fit their lengths."""
    a = s.connect()
    one = record(b"value", 0, 0, b"key")
    payloads = {
        "short": one[:-1],
        "long": one + b"\0",
        "length too small": bytes((one[0] - 2,)) + one[1:],
        "length too large": bytes((one[0] + 2,)) + one[1:],
        "negative length": b"\x01" + one[1:],
        "key too long": one[:4] + b"\x7e" + one[5:],
        "headers": one[:-1] + b"\x02",
        "negative headers": one[:-1] + b"\x01",
        "endless varint": b"\xff" * 9 + one,
        "length of 2 GiB": b"\xfe\xff\xff\xff\x0f" + one[1:],
        "offset 5": one[:3] + b"\x0a" + one[4:],
        "header without key": bytes((one[0] + 4,)) + one[1:-1] + b"\x02\x01\x01",
        "header": bytes((one[0] + 4,)) + one[1:-1] + b"\x02\x00\x01",
    }
    for label, compress in {"none": bytes, **CODECS}.items():
        name, codec = topic(s, label), COMPRESSIONS[label]
        for what, payload in payloads.items():
            s.say(what, label)
            produce(a, name, sealed(codec, compress(payload), 1))
        look_up(a, name, TIMESTAMP_MS)


@scenario()
def records_that_are_refused(s: Session) -> None:
    """No key where the topic is compacted, a timestamp type that a producer may not set, times out
    of bounds."""
    a = s.connect()
    for label, compress in CODECS.items():
        codec = COMPRESSIONS[label]
        compacted = topic(s, f"{label}-compacted", cleanup_policy="compact")
        stamped = topic(s, f"{label}-stamped", message_timestamp_type="LogAppendTime")
        plain = topic(s, f"{label}-plain")
        for name in (compacted, stamped, plain):
            produce(a, name, sealed(codec, compress(records(4)), 4))
            produce(a, name, sealed(codec, compress(records(2) + record(b"v", 2, 0, b"key")), 3))
            produce(a, name, sealed(codec, compress(records(2)), 2, attributes=8))
            produce(a, name, sealed(codec, compress(records(2)), 3, attributes=8))
            produce(a, name, sealed(codec, compress(records(2)), 3))
            produce(a, name, sealed(codec, compress(records(2, 10**13)), 2), version=7)
            fetch(a, wanted(name, 0))


@scenario()
def snappy_sizes(s: Session) -> None:
    """A snappy block's size is a varint of at most five bytes, and must be the size that comes
    out."""
    a = s.connect()
    name, codec = topic(s, "t"), COMPRESSIONS["snappy"]
    plain = records(2)
    block = snappy(plain)[1:]
    for size in (
        b"\xff" * 40,
        b"\xff\xff\xff\xff\x0f",
        b"\x80\x80\x80\x80\x80\x01",
        bytes((len(plain) | 128, 128, 0)),
        bytes((len(plain) + 1,)),
        bytes((len(plain) - 1,)),
        b"\xff\xff\xff\x7f",
    ):
        produce(a, name, sealed(codec, size + block, 2))
    frame = b"\x82SNAPPY\x00" + (1).to_bytes(4, "big") * 2
    sound = snappy(plain)
    for blocks in (
        len(sound).to_bytes(4, "big") + sound,
        b"",
        (len(sound) + 1).to_bytes(4, "big") + sound,
        b"\xff\xff\xff\xff" + sound,
        len(sound).to_bytes(4, "big") + sound + b"\0",
        bytes(4) + len(sound).to_bytes(4, "big") + sound,
        (len(snappy(plain[:9])).to_bytes(4, "big") + snappy(plain[:9]))
        + (len(snappy(plain[9:])).to_bytes(4, "big") + snappy(plain[9:])),
    ):
        produce(a, name, sealed(codec, frame + blocks, 2))
    look_up(a, name, TIMESTAMP_MS)


@scenario()
def lz4_frames(s: Session) -> None:
    """What a frame's descriptor says is checked; blocks may carry checksums."""
    a = s.connect()
    name, codec = topic(s, "t"), COMPRESSIONS["lz4"]
    sound = lz4(records(2))
    for frame in (
        sound[:6] + b"\x83" + sound[7:],
        sound[:4] + b"\x70\x40\x72" + sound[7:],
        sound[:4] + b"\x20\x40\x82" + sound[7:],
        sound[:5] + b"\x70\x73" + sound[7:],
        sound[:-4],
        sound[:7] + bytes(4),
        sound[:7],
        b"\x05" + sound[1:],
    ):
        produce(a, name, sealed(codec, frame, 2))
    look_up(a, name, TIMESTAMP_MS)


@scenario()
def streams_behind_streams(s: Session) -> None:
    """Another snappy stream may be appended, whose header is looked at; what follows a gzip member
    begins another one only if there is more than a header and a trailer."""
    a = s.connect()
    name, plain = topic(s, "t"), records(2)
    head = b"\x82SNAPPY\x00" + (1).to_bytes(4, "big") * 2

    def block(data: bytes) -> bytes:
        return len(snappy(data)).to_bytes(4, "big") + snappy(data)

    whole = head + block(plain)
    for behind in (
        head,
        head[:4],
        head[:15],
        head[:8] + bytes(8),
        head[:8] + b"\xff" * 8,
        head[:6] + bytes(10),
    ):
        produce(a, name, sealed(COMPRESSIONS["snappy"], whole + behind, 2))
    for between in (head, head[:6] + bytes(10), head[:8] + bytes(8)):
        parts = head + block(plain[:9]) + between + block(plain[9:])
        produce(a, name, sealed(COMPRESSIONS["snappy"], parts, 2))
    produce(a, name, sealed(COMPRESSIONS["snappy"], head[:8] + bytes(8) + block(plain), 2))
    member = gzip(plain)
    damaged = member[:10] + bytes(9)
    for behind in (damaged[:10], damaged[:18], damaged, gzip(b""), gzip(b"") * 2, bytes(30)):
        produce(a, name, sealed(COMPRESSIONS["gzip"], member + behind, 2))
    produce(a, name, sealed(COMPRESSIONS["gzip"], gzip(plain[:9]) + gzip(plain[9:]), 2))
    look_up(a, name, TIMESTAMP_MS)
