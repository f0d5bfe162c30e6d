"""Delegation tokens (KIP-48): made, renewed, ended, described, and logged in with (TOK-*).

Ids, secrets and instants differ from run to run: lifetimes are told as what they are longer than the
instant of issue, and a secret by its length.
"""

from __future__ import annotations

import base64
import hmac

from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.sasl import REAUTH, SASL, Scram, as_user, grant, new_user, revoke_all

KEY = "the key of all tokens"
HOUR = 3_600_000
DAY = 24 * HOUR


def create(link: Link, label: str, *renewers: str, lasts: int = -1, owner: str = "") -> Plain:
    """A token, which is told."""
    fields: Plain = {
        "owner_principal_type": "User" if owner else "",
        "owner_principal_name": owner,
        "renewers": [{"principal_type": "User", "principal_name": each} for each in renewers],
        "max_lifetime_ms": lasts,
    }
    answer = link.ask_quietly("CreateDelegationToken", 3, **fields)
    issued = answer["issue_timestamp_ms"]
    link.session.say(
        label,
        {
            "error": answer["error_code"],
            "owner": [answer["principal_type"], answer["principal_name"]],
            "requester": answer["token_requester_principal_name"],
            "issued": issued if issued < 0 else "now",
            "expires": answer["expiry_timestamp_ms"] - issued,
            "most": answer["max_timestamp_ms"] - issued,
            "id": bool(answer["token_id"]),
            "secret": len(answer["hmac"]) // 2,
            "is the id's": answer["hmac"]
            == hmac.digest(KEY.encode(), answer["token_id"].encode(), "sha512").hex(),
        },
    )
    return answer


def described(link: Link, label: str, made: list[Plain], owners: list[str] | None) -> None:
    """Which of these tokens are described."""
    asked = (
        None
        if owners is None
        else [{"principal_type": "User", "principal_name": each} for each in owners]
    )
    answer = link.ask_quietly("DescribeDelegationToken", 3, owners=asked)
    ids = {each["token_id"]: number for number, each in enumerate(made)}
    link.session.say(
        label,
        {
            "error": answer["error_code"],
            "tokens": sorted(
                ids[each["token_id"]] for each in answer["tokens"] if each["token_id"] in ids
            ),
        },
    )


def seen(s: Session, link: Link, token: Plain) -> None:
    """Wait until a token is known: metadata lags an answer."""
    s.until(
        lambda: any(
            each["token_id"] == token["token_id"]
            for each in link.ask_quietly("DescribeDelegationToken", 3, owners=None)["tokens"]
        ),
        "the token is not described",
    )


def changed(link: Link, label: str, api: str, secret: str, period: int, token: Plain) -> None:
    """Renew or Expire; when the token ends then, roughly."""
    name = "renew_period_ms" if api == "RenewDelegationToken" else "expiry_time_period_ms"
    answer = link.ask_quietly(api, 2, hmac=secret, **{name: period})
    left = answer["expiry_timestamp_ms"] - token["issue_timestamp_ms"]
    told = answer["expiry_timestamp_ms"] if answer["error_code"] else round(left / HOUR)
    link.session.say(label, {"error": answer["error_code"], "hours or instant": told})


@scenario("security")
def tokens_made(s: Session) -> None:
    """Lifetimes, owners, renewers (TOK-1, TOK-3)."""
    alice, bob = new_user(s, "u"), new_user(s, "v")
    a = as_user(s, alice)
    create(a, "default")
    create(a, "no lifetime", lasts=0)
    create(a, "an hour", lasts=HOUR)
    create(a, "too long", lasts=30 * DAY)
    create(a, "renewers", bob, alice)
    create(a, "for another", owner=bob)
    create(a, "for itself", owner=alice)
    for label, kind in (("another type", "Group"), ("no type", "")):
        answer = a.ask_quietly(
            "CreateDelegationToken",
            2,
            renewers=[{"principal_type": kind, "principal_name": bob}],
            max_lifetime_ms=-1,
        )
        s.say(f"renewer of {label}", answer["error_code"])
    for label, right in (
        ("wildcard", "CreateTokens user *"),
        ("name", f"CreateTokens user User:{bob}"),
    ):
        grant(s, alice, right)
        create(a, f"with a right to a {label}", owner=bob)
        revoke_all(s, alice)
    grant(s, alice, "CreateTokens user User:*")
    create(a, "with a right to User:*", owner=bob)
    revoke_all(s, alice)


@scenario("security")
def tokens_renewed_and_ended(s: Session) -> None:
    """Who may, and until when (TOK-2)."""
    alice, bob, carol = (new_user(s, each) for each in "uvw")
    a, b, c = (as_user(s, each, each[0]) for each in (alice, bob, carol))
    token = create(a, "made", bob)
    seen(s, a, token)
    secret = token["hmac"]
    for label, link in (("owner", a), ("renewer", b), ("somebody", c)):
        changed(link, f"renewed by {label}", "RenewDelegationToken", secret, 2 * HOUR, token)
    for period in (0, -1, -7, 30 * DAY):
        changed(a, f"renewed for {period}", "RenewDelegationToken", secret, period, token)
    for unknown in ("", "00ff"):
        for api in ("RenewDelegationToken", "ExpireDelegationToken"):
            changed(a, f"{api} {unknown!r}", api, unknown, HOUR, token)
    changed(c, "ended by somebody", "ExpireDelegationToken", secret, HOUR, token)
    changed(b, "ended by renewer", "ExpireDelegationToken", secret, 3 * HOUR, token)
    changed(a, "ended too late", "ExpireDelegationToken", secret, 30 * DAY, token)
    changed(a, "ended now", "ExpireDelegationToken", secret, -1, token)
    s.until(
        lambda: not a.ask_quietly("DescribeDelegationToken", 3, owners=None)["tokens"],
        "the token lives on",
    )
    changed(a, "renewed after its end", "RenewDelegationToken", secret, HOUR, token)


@scenario("security")
def tokens_described(s: Session) -> None:
    """One's own, what one may renew, and what one has a right to; the rest is left out (TOK-3)."""
    alice, bob, carol = (new_user(s, each) for each in "uvw")
    a, b, c = (as_user(s, each, each[0]) for each in (alice, bob, carol))
    made = [create(a, "of u for v", bob), create(a, "of u"), create(b, "of v")]
    for link, token in ((a, made[0]), (a, made[1]), (b, made[2])):
        seen(s, link, token)
    for name, link in (("u", a), ("v", b), ("w", c)):
        described(link, f"{name}: all", made, None)
        described(link, f"{name}: none", made, [])
        described(link, f"{name}: of u", made, [alice])
        described(link, f"{name}: of v and w", made, [bob, carol])
    for right in (
        f"DescribeTokens user User:{alice}",
        "DescribeTokens user *",
        f"Describe token {made[1]['token_id']}",
        "Describe token *",
    ):
        grant(s, carol, right)
        described(
            c, f"w with {right.split(' ')[0]} {right.split(' ')[1]} {len(right) > 30}", made, None
        )
        revoke_all(s, carol)


@scenario("security")
def tokens_logged_in_with(s: Session) -> None:
    """By either SCRAM, as the owner; such a client may not ask for tokens (TOK-1, TOK-4)."""
    alice = new_user(s, "u")
    a = as_user(s, alice)
    token = create(a, "made")
    seen(s, a, token)
    password = base64.b64encode(bytes.fromhex(token["hmac"])).decode()
    for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
        for label, name, word, extension in (
            ("right", token["token_id"], password, ",tokenauth=true"),
            ("without tokenauth", token["token_id"], password, ""),
            ("wrong secret", token["token_id"], "wrong", ",tokenauth=true"),
            ("the owner's name", alice, password, ",tokenauth=true"),
        ):
            link = s.connect(f"{mechanism} {label}", broker=SASL)
            link.ask_quietly("SaslHandshake", 1, mechanism=mechanism)
            scram = Scram(name, mechanism, word)
            first = link.ask_quietly(
                "SaslAuthenticate", 2, auth_bytes=scram.first("n,,", extension).hex()
            )
            s.say(f"{mechanism} {label}: first", first["error_code"])
            if first["error_code"]:
                continue
            begun = bytes.fromhex(first["auth_bytes"])
            s.say("iterations", begun.decode().rpartition("i=")[2])
            done = link.ask_quietly("SaslAuthenticate", 2, auth_bytes=scram.final(begun).hex())
            lasts = done["session_lifetime_ms"]
            s.say(f"{label}: done", [done["error_code"], round(lasts / HOUR)])
            if not done["error_code"]:
                create(link, "by a token")
                described(link, "by a token", [token], None)
                changed(link, "by a token", "RenewDelegationToken", token["hmac"], HOUR, token)
    link = s.connect("sessions end", broker=REAUTH)
    link.ask_quietly("SaslHandshake", 1, mechanism="SCRAM-SHA-256")
    scram = Scram(token["token_id"], password=password)
    first = link.ask_quietly(
        "SaslAuthenticate", 2, auth_bytes=scram.first("n,,", ",tokenauth=true").hex()
    )
    final = scram.final(bytes.fromhex(first["auth_bytes"]))
    done = link.ask_quietly("SaslAuthenticate", 2, auth_bytes=final.hex())
    s.say("sessions end", round(done["session_lifetime_ms"] / 1000))
