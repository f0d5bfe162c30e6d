"""Configuration values as Java reads texts: what is trimmed, what is a number, a duration, a pattern."""

from __future__ import annotations

from integration_tests.wire.people import topic
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.configs import GROUP, SET, TOPIC, alter

CLIENT_METRICS = 16
NUMBERS = (
    *(" 5\t", "\x1f5", "\x005", "\u00a05", "5\u2003", "\uff11\uff12", "\u0663", "\U0001d7d9"),
    *(
        "1_000",
        "+5",
        "--5",
        "1e3",
        "0x10",
        "",
        "0" * 1_000 + "7",
        "9" * 1_000,
        "9223372036854775808",
    ),
)
FRACTIONS = (
    *("\x1f0.5", "\u00a00.5", ".5", "5.", "1E-1", "0.5d", "0x1p-1", "0x.8P0f", "0x1", "0x1p99999"),
    *("nan", "NaN", "inf", "-Infinity", "1_0", "\uff11", "1e999", "9" * 400),
)
OTHERS = (
    ("preallocate", ("TRUE ", "\x1ftrue", "true\u00a0", "fal\u017fe", "1", "yes")),
    (
        "cleanup.policy",
        ("delete\x0b,\fcompact", "delete\u2003,compact", "delete\x1f,compact", "a,"),
    ),
    ("compression.type", ("\x1fgzip\x00", "gzip\x85", "GZIP")),
    ("leader.replication.throttled.replicas", ("0:1 , 1:1", "\uff10:1", "0:\u00a01")),
)
RESETS = (
    *(" earliest\x1f", "EARLIEST", "by_duration:pt1s", "BY_DURATION:PT1S", "by_duration:PT\uff11S"),
    *(
        "by_duration:P1DT-1H",
        "by_duration:-PT-1S",
        "by_duration:PT1,5S",
        "by_duration:PT",
        "by_duration:P",
    ),
    *("by_duration:PT9223372036854775807S", "by_duration:PT9223372036854775808S"),
    *("by_duration:P106751991167301D", "by_duration:PT" + "9" * 1_000 + "S", "by_duration:PT.5S"),
)
MATCHES = (
    "a",
    "",
    " ",
    "=a",
    "a=",
    "a==",
    "a=b",
    "\u00a0",
    "a\u00a0",
    "a{2}{3}",
    "a*+",
    "(?<!a*)b",
    "\\Q(",
    "[a-z&&[^b]]",
    "\\p{IsGreek}",
    "(?<n>a)\\k<n>",
    "\\N{NULL}",
    "(" * 300 + ")" * 300,
)


@scenario(since="4.3")
def values_read_as_java_reads_them(s: Session) -> None:
    """Blanks up to U+0020 and no others, digits of every script, hexadecimal fractions, durations,
    and the form of the patterns of a client-metrics subscription."""
    a = s.connect()
    t, metrics, group = topic(s, "t"), s.name("m"), s.name("g")
    for value in NUMBERS:
        alter(a, TOPIC, t, ("retention.ms", SET, value), validate_only=True)
        alter(a, CLIENT_METRICS, metrics, ("interval.ms", SET, value), validate_only=True)
        alter(a, GROUP, group, ("consumer.session.timeout.ms", SET, value), validate_only=True)
    for value in FRACTIONS:
        alter(a, TOPIC, t, ("min.cleanable.dirty.ratio", SET, value), validate_only=True)
    for name, values in OTHERS:
        for value in values:
            alter(a, TOPIC, t, (name, SET, value), validate_only=True)
    for value in RESETS:
        alter(a, GROUP, group, ("share.auto.offset.reset", SET, value), validate_only=True)
    for value in MATCHES:
        change = ("match", SET, f"client_id={value}")
        alter(a, CLIENT_METRICS, metrics, change, validate_only=True)
    for value in (" client_source_port =a", "client_id\u00a0=a", "Client_id=a", "client_id", ""):
        alter(a, CLIENT_METRICS, metrics, ("match", SET, value), validate_only=True)
