"""Frames that no client sends: whose connection is closed, and who is served all the same."""

from __future__ import annotations

import struct

from integration_tests.wire.people import topic
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario


def framed(*parts: bytes, size: int | None = None) -> bytes:
    """A frame of these bytes; `size` lies about its length."""
    body = b"".join(parts)
    return struct.pack(">i", len(body) if size is None else size) + body


def header(
    key: int,
    version: int,
    flexible: bool = False,
    client: bytes = b"\x00\x01x",
    correlation: int = 7,
) -> bytes:
    """A request header, version 1 or 2."""
    return struct.pack(">hhi", key, version, correlation) + client + (b"\x00" if flexible else b"")


def _each(s: Session, *cases: tuple[str, bytes]) -> None:
    for label, data in cases:
        link = s.connect(label)
        link.send_bytes(data, label)
        link.ends()


@scenario()
def not_kafka_at_all(s: Session) -> None:
    """VER-16: HTTP, TLS, SSH, zeros: closed without a word."""
    _each(
        s,
        ("http", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        ("tls", bytes.fromhex("16030100f8010000f40303") + b"\x11" * 250),
        ("ssh", b"SSH-2.0-OpenSSH_9.2\r\n"),
        ("zeros", bytes(64)),
    )


@scenario()
def lying_lengths(s: Session) -> None:
    """VER-16: negative, zero, tiny and huge sizes."""
    _each(
        s,
        ("negative", framed(b"x" * 20, size=-1)),
        ("smallest", framed(size=-(1 << 31))),
        ("zero", framed(b"")),
        ("one", framed(b"x")),
        ("seven", framed(b"\x00\x12\x00\x00\x00\x00\x00")),
        ("huge", framed(b"x", size=104_857_601)),
        ("largest", framed(b"x", size=(1 << 31) - 1)),
    )


@scenario()
def unknown_keys_and_versions(s: Session) -> None:
    """VER-16: keys nobody knows, keys not served here, versions out of range."""
    cases = [
        (f"key {key}", framed(header(key, 0), bytes(30)))
        for key in (-1, 4, 5, 6, 7, 52, 56, 58, 59, 62, 63, 67, 70, 93, 999, 32767)
    ]
    beyond = (
        (3, 14),
        (3, -1),
        (11, 10),
        (11, -1),
        (0, 2),
        (0, 0),
        (0, 14),
        (1, 3),
        (1, 19),
        (8, 1),
        (8, 11),
        (9, 0),
        (19, 1),
        (22, 6),
    )
    for key, version in (*beyond, (60, 3), (75, 1)):
        cases.append(
            (f"key {key} version {version}", framed(header(key, version, flexible=True), bytes(30)))
        )
    _each(s, *cases)


@scenario()
def bodies_cut_short(s: Session) -> None:
    """VER-16, VER-17: a body that ends too early, lengths and counts past its end, null where none
    may be."""
    _each(
        s,
        ("metadata cut", framed(header(3, 1), b"\x00\x00")),
        ("metadata huge count", framed(header(3, 1), b"\x7f\xff\xff\xff")),
        ("metadata count past end", framed(header(3, 1), b"\x00\x00\x00\x05\x00\x01t")),
        ("metadata count below null", framed(header(3, 1), b"\xff\xff\xff\xfe")),
        ("metadata null at v0", framed(header(3, 0), b"\xff\xff\xff\xff")),
        ("heartbeat null group", framed(header(12, 0), b"\xff\xff", bytes(6))),
        ("heartbeat cut", framed(header(12, 0), b"\x00\x01g\x00\x00")),
        ("heartbeat string past end", framed(header(12, 0), b"\x7f\xffg")),
        ("join null protocols", framed(header(11, 0), b"\x00\x01g", bytes(8), b"\xff\xff\xff\xff")),
        (
            "join huge metadata",
            framed(
                header(11, 0),
                b"\x00\x01g",
                bytes(8),
                b"\x00\x00\x00\x01",
                b"\x00\x01p",
                b"\x7f\xff\xff\xff",
            ),
        ),
        (
            "describe huge compact count",
            framed(header(15, 5, flexible=True), b"\xff\xff\xff\xff\x0f"),
        ),
        ("describe endless varint", framed(header(15, 5, flexible=True), b"\xff" * 12)),
        ("describe null compact array", framed(header(15, 5, flexible=True), b"\x00\x00\x00")),
        ("header cut", framed(struct.pack(">hhi", 12, 0, 7))),
        ("client id past end", framed(header(12, 0, client=b"\x7f\xffx"))),
        (
            "huge tagged field",
            framed(
                header(12, 4, flexible=True),
                b"\x02g",
                bytes(4),
                b"\x02m\x00",
                b"\x01\x00\xff\xff\xff\xff\x0f",
            ),
        ),
    )


@scenario()
def forgiven(s: Session) -> None:
    """Trailing bytes, unknown tagged fields in header and body, odd client ids."""
    heartbeat = b"\x00\x01g" + bytes(4) + b"\x00\x01m"
    flexible = b"\x02g" + bytes(4) + b"\x02m\x00"
    cases = (
        ("trailing", framed(header(12, 0), heartbeat, b"\x01\x02\x03")),
        (
            "trailing flexible",
            framed(header(12, 4, flexible=True), flexible, b"\x00", b"\x01\x02\x03"),
        ),
        ("unknown tag", framed(header(12, 4, flexible=True), flexible, b"\x01\x63\x02ab")),
        ("unknown header tag", framed(header(12, 4), b"\x01\x63\x02ab", flexible, b"\x00")),
        ("client not utf-8", framed(header(12, 0, client=b"\x00\x02\xff\xfe"), heartbeat)),
        ("client null", framed(header(12, 0, client=b"\xff\xff"), heartbeat)),
        ("client length -2", framed(header(12, 0, client=b"\xff\xfe"), heartbeat)),
        ("correlation negative", framed(header(12, 0, correlation=-5), heartbeat)),
    )
    for label, data in cases:
        link = s.connect(label)
        link.send_bytes(data, label)
        link.frame()


@scenario()
def after_a_closing_the_rest_goes_on(s: Session) -> None:
    """Only its own connection dies; requests sent before the bad one are answered first."""
    healthy = s.connect("healthy")
    sick = s.connect("sick")
    name = topic(s, "t")
    good, bad = framed(header(12, 0), b"\x00\x01g", bytes(4), b"\x00\x01m"), framed(header(999, 0))
    sick.send_bytes(good + bad, "a good request and a bad one")
    sick.frame()
    sick.ends()
    healthy.ask("Metadata", 1, topics=[{"name": name}])


@scenario()
def byte_by_byte(s: Session) -> None:
    """A request in single bytes, two requests in one piece."""
    a = s.connect()
    heartbeat = b"\x00\x01g" + bytes(4) + b"\x00\x01m"
    for byte in framed(header(12, 0), heartbeat):
        a.connection.send_bytes(bytes([byte]))
    a.frame()
    a.send_bytes(
        framed(header(12, 0, correlation=1), heartbeat)
        + framed(header(12, 0, correlation=2), heartbeat),
        "two",
    )
    a.frame()
    a.frame()


@scenario("limits")
def beyond_socket_request_max_bytes(s: Session) -> None:
    """socket.request.max.bytes counts what follows the size."""
    _each(s, ("one too many", framed(b"x", size=100_001)))
    link = s.connect()
    link.send_bytes(
        framed(header(12, 0), b"\x00\x01g", bytes(4), b"\x00\x01m", bytes(100_000 - 22)),
        "just fits",
    )
    link.frame()


@scenario()
def answers_keep_their_order(s: Session) -> None:
    """META-4: requests of one connection are handled one at a time: a parked Fetch holds up what
    follows it, and nobody else."""
    a, b = s.connect("a"), s.connect("b")
    name = topic(s, "t")
    wanted = {
        "topic": name,
        "partitions": [{"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1000}],
    }
    a.send(
        "Fetch", 11, max_wait_ms=400, min_bytes=1, max_bytes=1000, session_epoch=-1, topics=[wanted]
    )
    a.send("Heartbeat", 0, group_id=s.name("g"), generation_id=1, member_id="m")
    b.ask("Heartbeat", 0, group_id=s.name("g"), generation_id=1, member_id="m")
    a.silent(100)
    a.expect()
    a.expect()
