"""Error codes: complete, numbered and worded as Kafka 4.4.0 has them."""

from __future__ import annotations

import pytest
from kio.schema.errors import ErrorCode as KioErrorCode

from coordinator.base.errors import ErrorCode


def test_complete() -> None:
    assert [int(code) for code in ErrorCode] == list(range(-1, 137))


def test_names_agree_with_another_list() -> None:
    """kio's, taken from Kafka's documentation; it names in lower case and knows fewer."""
    known = {int(code.value): code.name for code in KioErrorCode}
    assert known.keys() & {int(code) for code in ErrorCode}
    for code in ErrorCode:
        if code.value in known:
            assert code.name.lower() == known[code.value]


@pytest.mark.parametrize(
    ("code", "message", "retriable"),
    [
        (ErrorCode.UNKNOWN_MEMBER_ID, "The coordinator is not aware of this member.", False),
        (
            ErrorCode.REBALANCE_IN_PROGRESS,
            "The group is rebalancing, so a rejoin is needed.",
            False,
        ),
        (
            ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
            "The coordinator is loading and hence can't process requests.",
            True,
        ),
        (ErrorCode.NOT_COORDINATOR, "This is not the correct coordinator.", True),
        (ErrorCode.GROUP_ID_NOT_FOUND, "The group id does not exist.", False),
        (ErrorCode.FETCH_SESSION_ID_NOT_FOUND, "The fetch session ID was not found.", True),
        (ErrorCode.NONE, "NONE", False),
    ],
)
def test_text_and_retry(code: ErrorCode, message: str, retriable: bool) -> None:
    assert code.message == message
    assert code.retriable is retriable


def test_every_code_has_a_text() -> None:
    assert all(code.message for code in ErrorCode)
