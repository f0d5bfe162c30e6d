"""Logging in over SASL, byte by byte: what is asked when, what is refused how, and what it costs the
connection (SASL-*, SCRAM-*, REAUTH-*)."""

from __future__ import annotations

import struct

from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.sasl import REAUTH, SASL, Scram, log_in, new_user

RIGHT = b"\0alice\0alice-secret"
VERSIONS: Plain = {"client_software_name": "raw", "client_software_version": "1"}


def sasl(s: Session, name: str, listener: int = SASL) -> Link:
    """A connection that is not logged in."""
    return s.connect(name, broker=listener)


def handshake(link: Link, mechanism: str = "PLAIN", version: int = 1) -> None:
    """SaslHandshake."""
    link.ask("SaslHandshake", version, mechanism=mechanism)


def token(link: Link, data: bytes, version: int = 2) -> bytes:
    """SaslAuthenticate, with its answer's bytes."""
    answer = link.ask_quietly("SaslAuthenticate", version, auth_bytes=data.hex())
    lifetime = answer.get("session_lifetime_ms")
    link.session.say(
        "token",
        [answer["error_code"], answer["error_message"], bool(answer["auth_bytes"]), lifetime],
    )
    return bytes.fromhex(answer["auth_bytes"])


def bare(link: Link, data: bytes, label: str) -> None:
    """A token without a header."""
    link.send_bytes(struct.pack(">i", len(data)) + data, label)


def versions(link: Link) -> None:
    """ApiVersions, whose answer is not of interest."""
    answer = link.ask_quietly("ApiVersions", 3, **VERSIONS)
    link.session.say("versions", answer["error_code"])


@scenario("security")
def before_the_handshake(s: Session) -> None:
    """ApiVersions once; anything else closes unanswered (SASL-1, SASL-2)."""
    a = sasl(s, "a")
    versions(a)
    a.send("ApiVersions", 3, **VERSIONS)
    a.ends()
    for api, version, fields in (
        ("Metadata", 9, {"topics": None}),
        ("Heartbeat", 4, {"group_id": "g", "generation_id": 1, "member_id": "m"}),
        ("SaslAuthenticate", 2, {"auth_bytes": RIGHT.hex()}),
    ):
        b = sasl(s, api)
        b.send(api, version, **fields)
        b.ends()
    c = sasl(s, "c")
    versions(c)
    handshake(c)
    token(c, RIGHT)
    versions(c)
    versions(c)


@scenario("security")
def after_the_handshake(s: Session) -> None:
    """Another request is refused in its own shape, late, and closed (SASL-2)."""
    for api, version, fields in (
        ("Metadata", 9, {"topics": None}),
        ("Heartbeat", 4, {"group_id": "g", "generation_id": 1, "member_id": "m"}),
        ("ApiVersions", 3, VERSIONS),
        ("SaslHandshake", 1, {"mechanism": "PLAIN"}),
        ("ListGroups", 4, {"states_filter": []}),
        (
            "OffsetCommit",
            5,
            {
                "group_id": "g",
                "generation_id_or_member_epoch": 1,
                "member_id": "m",
                "topics": [
                    {
                        "name": "t",
                        "partitions": [
                            {
                                "partition_index": 0,
                                "committed_offset": 1,
                                "committed_metadata": "",
                            }
                        ],
                    }
                ],
            },
        ),
    ):
        link = sasl(s, api)
        handshake(link)
        link.ask(api, version, **fields)
        link.ends()


@scenario("security")
def mechanisms(s: Session) -> None:
    """Names are case-sensitive; an unknown one is told which there are, late, and closed (SASL-3,
    SASL-4)."""
    for number, name in enumerate(("plain", "GSSAPI", "", "SCRAM-SHA-1")):
        for version in (0, 1):
            link = sasl(s, f"{number}-{version}")
            answer = link.ask_quietly("SaslHandshake", version, mechanism=name)
            s.say("refused", [answer["error_code"], sorted(answer["mechanisms"])])
            link.ends()


@scenario("security")
def bare_tokens(s: Session) -> None:
    """After handshake v0 tokens stand alone (SASL-5)."""
    a = sasl(s, "a")
    a.ask_quietly("SaslHandshake", 0, mechanism="PLAIN")
    bare(a, RIGHT, "the right password")
    a.frame()
    versions(a)
    b = sasl(s, "b")
    b.ask_quietly("SaslHandshake", 0, mechanism="PLAIN")
    bare(b, b"\0alice\0wrong", "a wrong password")
    b.ends()
    c = sasl(s, "c")
    c.ask_quietly("SaslHandshake", 1, mechanism="PLAIN")
    bare(c, RIGHT, "the right password")
    c.ends()
    d = sasl(s, "d")
    d.ask_quietly("SaslHandshake", 0, mechanism="PLAIN")
    d.send("SaslAuthenticate", 2, auth_bytes=RIGHT.hex())
    d.ends()


@scenario("security")
def plain(s: Session) -> None:
    """One message: authorization id, user, password (SASL-3, SASL-7)."""
    for number, (data, version) in enumerate(
        (
            (RIGHT, 0),
            (RIGHT, 1),
            (RIGHT, 2),
            (b"alice" + RIGHT, 2),
            (b"bob" + RIGHT, 2),
            (b"Alice" + RIGHT, 2),
            (b"\0alice\0wrong", 1),
            (b"\0nobody\0alice-secret", 2),
            (b"\0\0alice-secret", 2),
            (b"\0alice\0", 2),
            (b"\0alice", 2),
            (b"", 2),
            (RIGHT + b"\0", 2),
            (RIGHT + b"\0\0\0", 2),
            (b"\0alice\0\xff\xfe", 2),
            (b"\0Alice\0alice-secret", 2),
        )
    ):
        link = sasl(s, str(number))
        handshake(link)
        token(link, data, version)
    for api, fields in (
        ("SaslHandshake", {"mechanism": "PLAIN"}),
        ("SaslAuthenticate", {"auth_bytes": ""}),
    ):
        link = sasl(s, f"twice-{api}")
        handshake(link)
        token(link, RIGHT)
        link.ask(api, 1, **fields)  # type: ignore[arg-type]
        versions(link)


@scenario("security")
def scram(s: Session) -> None:
    """The exchange of RFC 5802 as Kafka takes it (SCRAM-1 to SCRAM-4)."""
    user = new_user(s, "u")
    for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
        link = sasl(s, mechanism)
        handshake(link, mechanism)
        good = Scram(user, mechanism)
        token(link, good.final(token(link, good.first())))
        versions(link)
    for label, name, gs2, extensions in (
        ("flag y", user, "y,,", ""),
        ("flag p", user, "p=tls-unique,,", ""),
        ("own authorization id", user, f"n,a={user},", ""),
        ("another authorization id", user, "n,a=bob,", ""),
        ("unknown extension", user, "n,,", ",x=1"),
        ("extension m", user, "n,,m=1,", ""),
        ("token", user, "n,,", ",tokenauth=true"),
        ("no token", user, "n,,", ",tokenauth=false"),
        ("nobody", "nobody", "n,,", ""),
    ):
        link = sasl(s, label)
        handshake(link, "SCRAM-SHA-256")
        other = Scram(name)
        first = token(link, other.first(gs2, extensions))
        if first:
            token(link, other.final(first))
    for label, channel in (("y", "eSws"), ("none", ""), ("other", "cD10bHMsLA==")):
        link = sasl(s, f"channel {label}")
        handshake(link, "SCRAM-SHA-256")
        other = Scram(user)
        token(link, other.final(token(link, other.first()), channel))
    link = sasl(s, "wrong password")
    handshake(link, "SCRAM-SHA-256")
    other = Scram(user, password="wrong")
    token(link, other.final(token(link, other.first())))
    for size in (31, 33, 0):
        link = sasl(s, f"proof of {size}")
        handshake(link, "SCRAM-SHA-256")
        other = Scram(user)
        final = other.final(token(link, other.first()), proof=bytes(size))
        link.connection.send("SaslAuthenticate", 2, {"auth_bytes": final.hex()})
        link.ends()
    for label, data in (("empty", b""), ("no message", b"hello"), ("not utf-8", b"\xff")):
        link = sasl(s, label)
        handshake(link, "SCRAM-SHA-512")
        token(link, data)


@scenario("security", lasts_s=10)
def renewals(s: Session) -> None:
    """Sessions that end, and are renewed (REAUTH-1 to REAUTH-3)."""
    a = sasl(s, "a", REAUTH)
    handshake(a)
    token(a, RIGHT)
    handshake(a)
    token(a, RIGHT)
    versions(a)
    for label, mechanism, data in (
        ("another user", "PLAIN", b"\0bob\0bob-secret"),
        ("a wrong password", "PLAIN", b"\0alice\0wrong"),
    ):
        link = sasl(s, label, REAUTH)
        handshake(link)
        token(link, RIGHT)
        handshake(link, mechanism)
        token(link, data)
        link.ends()
    b = sasl(s, "another mechanism", REAUTH)
    handshake(b)
    token(b, RIGHT)
    handshake(b, "SCRAM-SHA-256")
    b.connection.send("SaslAuthenticate", 2, {"auth_bytes": b"n,,n=alice,r=nonce".hex()})
    b.ends()
    c = sasl(s, "an unknown mechanism", REAUTH)
    handshake(c)
    token(c, RIGHT)
    c.send("SaslHandshake", 1, mechanism="NONE")
    c.ends()
    d = sasl(s, "versions meanwhile", REAUTH)
    handshake(d)
    token(d, RIGHT)
    handshake(d)
    d.ask("ApiVersions", 3, **VERSIONS)
    d.ends()
    e = sasl(s, "a token alone", REAUTH)
    handshake(e)
    token(e, RIGHT)
    e.ask("SaslAuthenticate", 2, auth_bytes="")
    f, g = sasl(s, "over", REAUTH), sasl(s, "over, by v0", REAUTH)
    h = sasl(s, "renewed late", REAUTH)
    for link, version in ((f, 2), (g, 0), (h, 1)):
        handshake(link)
        token(link, RIGHT, version)
    s.wait(8_500)
    for link in (f, g):
        link.send("ApiVersions", 3, **VERSIONS)
        link.ends()
    handshake(h)
    token(h, RIGHT)
    versions(h)


@scenario("security")
def credentials_change(s: Session) -> None:
    """Open connections live on without their credential (SCRAM-5)."""
    user = new_user(s, "u")
    link = sasl(s, "a")
    log_in(link, user)
    stage = s.stage()
    stage.ask_quietly(
        "AlterUserScramCredentials",
        0,
        deletions=[
            {"name": user, "mechanism": 1},
        ],
        upsertions=[],
    )
    s.until(
        lambda: (
            len(
                stage.ask_quietly("DescribeUserScramCredentials", 0, users=[{"name": user}])[
                    "results"
                ][0]["credential_infos"]
            )
            == 1
        ),
        "a credential that stays",
    )
    versions(link)
    late = sasl(s, "late")
    handshake(late, "SCRAM-SHA-256")
    token(late, Scram(user).first())
