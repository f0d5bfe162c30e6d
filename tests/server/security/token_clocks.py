"""Signed tokens at the limits of time, and which of them Kafka's BrokerJwtValidator believes (OAUTH-5).

python -m tests.server.security.token_clocks             Kafka's class beside ours; 1 if any differs
python -m tests.server.security.token_clocks --record    what it says, for machines without Java
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.java_jars import JavaProgram, NoJavaError, java_program

PROGRAM: Final = "Believing"
VECTORS: Final = Path(__file__).parents[2] / "vectors" / "token_clocks.json"
NOW_S: Final = 1_700_000_000
_SKEWS: Final = (0, 1, 30, 45)
_AROUND: Final = ("-1", "-0.5", "0", "0.5", "1")


class Case(NamedTuple):
    """A token. Instants are texts, as Java is told them: whole seconds beside now, and ".5" for half
    a second more."""

    skew_s: int
    claims: tuple[tuple[str, str], ...]


def cases() -> list[Case]:
    """Both sides of each limit."""
    made = []
    for skew in _SKEWS:
        for near in _AROUND:
            made += [
                Case(skew, (("iat", "-100"), ("exp", _beside(-skew, near)))),
                Case(skew, (("iat", "-100"), ("exp", "600"), ("nbf", _beside(skew, near)))),
                Case(skew, (("exp", "600"), ("iat", _beside(600, near)))),
                Case(skew, (("exp", _beside(0, near)), ("iat", _beside(0, near)))),
            ]
    return made


def _beside(limit: int, near: str) -> str:
    """An instant near a limit: whole seconds, or half of one more than they say."""
    moved = limit + float(near)
    whole = int(moved // 1)
    return f"{whole}.5" if moved % 1 else str(whole)


def believed_by_java(java: JavaProgram, asked: Sequence[Case]) -> list[str]:
    """ "A" and the end of the token in milliseconds from now, or "D"."""
    return java.ask(
        " ".join([str(case.skew_s), *(f"{name}={at}" for name, at in case.claims)])
        for case in asked
    )


def believed(case: Case, fraction: float = 0.0) -> str:
    """The same from ours, so far into the second."""
    import jwt
    from cryptography.hazmat.primitives.asymmetric import ec
    from jwt.algorithms import ECAlgorithm

    from coordinator.server.security.signed_tokens import SignedTokens

    key = ec.generate_private_key(ec.SECP256R1())
    keys = json.dumps({"keys": [json.loads(ECAlgorithm.to_jwk(key.public_key()))]})
    said: dict[str, Any] = {"sub": "alice", "aud": "kafka", "iss": "issuer"}
    for name, at in case.claims:
        whole, _, half = at.partition(".")
        said[name] = NOW_S + int(whole) + 0.5 if half else NOW_S + int(whole)
    token = jwt.api_jws.encode(json.dumps(said).encode(), key, "ES256")
    tokens = SignedTokens(keys, audiences=["kafka"], issuer="issuer", skew_s=case.skew_s)
    claims = tokens.claims(token, NOW_S + fraction)
    return "D" if claims is None else f"A {(claims['exp'] - NOW_S) * 1_000}"


def main(arguments: list[str] | None = None) -> int:
    """Without Java it only says so."""
    parser = argparse.ArgumentParser(prog="python -m tests.server.security.token_clocks")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args(arguments)
    asked = cases()
    try:
        with java_program(PROGRAM, long=True) as java:
            answers = believed_by_java(java, asked)
    except NoJavaError as missing:
        print(f"skipped: {missing}", file=sys.stderr)
        return 0
    if options.record:
        VECTORS.write_text(json.dumps(answers, indent=0) + "\n")
        return 0
    differ = [
        (case, answer)
        for case, answer in zip(asked, answers, strict=True)
        if believed(case) != answer
    ]
    for case, answer in differ:
        print(f"{case}: Kafka {answer}, ours {believed(case)}")
    print(f"{len(asked)} tokens, {len(differ)} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
