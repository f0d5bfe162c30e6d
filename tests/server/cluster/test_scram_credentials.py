"""SCRAM credentials (KIP-554): set, shown, removed, refused. Codes and texts as Kafka 4.4.0
answered them."""

from __future__ import annotations

import pytest

from coordinator.server.cluster.scram_credentials import (
    Deletion,
    ScramCredentials,
    ScramRefused,
    Upsertion,
)

SHA_256, SHA_512 = 1, 2
Answers = dict[str, "tuple[int, str | None] | None"]


def change(credentials: ScramCredentials, *changes: Deletion | Upsertion) -> Answers:
    deletions = [each for each in changes if isinstance(each, Deletion)]
    upsertions = [each for each in changes if isinstance(each, Upsertion)]
    results = credentials.alter(deletions, upsertions)
    return {
        user: None if refused is None else (int(refused.code), refused.message)
        for user, refused in results.items()
    }


def upsert(
    user: str, mechanism: int = SHA_256, iterations: int = 4096, has_password: bool = True
) -> Upsertion:
    return Upsertion(user, mechanism, iterations, b"salt", b"salted" if has_password else b"")


TWICE = (92, "A user credential cannot be altered twice in the same request")


def test_set_and_removed() -> None:
    credentials = ScramCredentials()
    assert change(credentials, upsert("u"), upsert("v", SHA_512, 16384)) == {"u": None, "v": None}
    assert change(credentials, upsert("u", SHA_512, 5000)) == {"u": None}
    assert credentials.of("u") == [(SHA_256, 4096), (SHA_512, 5000)]
    assert credentials.users() == ["u", "v"]
    assert change(credentials, Deletion("u", SHA_256)) == {"u": None}
    assert credentials.of("u") == [(SHA_512, 5000)]
    assert change(credentials, Deletion("u", SHA_512)) == {"u": None}
    with pytest.raises(ScramRefused) as refused:
        credentials.of("u")
    assert (refused.value.code, refused.value.message) == (
        91,
        "Attempt to describe a user credential that does not exist: u",
    )


@pytest.mark.parametrize(
    ("changed", "answer"),
    [
        (Deletion("u", SHA_256), (91, "Attempt to delete a user credential that does not exist")),
        (Deletion("u", 0), (33, "Unknown SCRAM mechanism")),
        (upsert("u", 3), (33, "Unknown SCRAM mechanism")),
        (upsert("u", SHA_512, 4095), (93, "Too few iterations")),
        (upsert("u", SHA_512, 16385), (93, "Too many iterations")),
        (upsert("u", has_password=False), (-1, None)),
    ],
)
def test_refused(changed: Deletion | Upsertion, answer: tuple[int, str | None]) -> None:
    credentials = ScramCredentials()
    assert change(credentials, changed) == {"u": answer}
    assert credentials.users() == []


def test_an_empty_name_is_refused_before_all_else() -> None:
    assert change(ScramCredentials(), Deletion("", 9), upsert("", 9, 0)) == {
        "": (93, "Username must not be empty")
    }


def test_a_user_twice_is_not_changed_and_others_are() -> None:
    credentials = ScramCredentials()
    change(credentials, upsert("u"))
    assert change(credentials, Deletion("u", SHA_256), upsert("u", SHA_512), upsert("v")) == {
        "u": TWICE,
        "v": None,
    }
    assert change(
        credentials, upsert("u", SHA_512), upsert("u", SHA_512), upsert("u", SHA_512)
    ) == {"u": TWICE}
    assert credentials.of("u") == [(SHA_256, 4096)]


def test_the_first_refusal_of_a_user_stands() -> None:
    credentials = ScramCredentials()
    assert change(credentials, upsert("u", 9), upsert("u")) == {
        "u": (33, "Unknown SCRAM mechanism")
    }
    assert credentials.users() == []
