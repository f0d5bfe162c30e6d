"""A session that a test ends: the log says so, and nobody takes it for one that ended too early."""

from __future__ import annotations

from functools import partial

import pytest

from coordinator import Emulator
from coordinator.events.groups.classic import Removal as ClassicRemoval
from coordinator.events.groups.consumer import Removal
from coordinator.history.judges import judge
from coordinator.history.judges.sessions import SessionsEnd

BY_HAND = "its session was ended by hand"
TOLD = {
    "classic": ("session expired", BY_HAND),
    "consumer": ("session expired", BY_HAND),
    "share": (BY_HAND, None),
}
"""The reason and the detail of the line, by protocol."""
KINDS = {
    "classic": "MemberRemoved",
    "consumer": "ConsumerMemberRemoved",
    "share": "ShareMemberRemoved",
}


def findings(kafka: Emulator) -> list[str]:
    """What the judge of sessions says of what happened."""
    streams = frozenset({"group", "member"})
    (verdict,) = judge(kafka.events(), [partial(SessionsEnd, 45_000)], streams=streams)
    return [each.text for each in verdict.findings]


def expired(kafka: Emulator, protocol: str) -> tuple[str, str | None]:
    """A member whose session is ended; the reason that the log has, and its detail."""
    group = kafka.group("g")
    if protocol == "share":
        kafka.share_peer("g", topics=["orders"], config={"client.id": "mine"})
        kafka.share_group("g").wait(members=1)
    else:
        config = {"client.id": "mine", "group.protocol": protocol}
        kafka.peer("g", topics=["orders"], config=config)
        group.wait(state="Stable", members=1, assigned="all")
    mark = kafka.mark()
    group.expire("mine")
    (line,) = kafka.wait_for(KINDS[protocol], group="g", since=mark)
    return line["reason"], line.get("detail")


@pytest.mark.parametrize("protocol", KINDS)
def test_the_log_says_that_it_was_ended_by_hand(protocol: str) -> None:
    with Emulator({"orders": 2}, remember=10_000) as kafka:
        assert expired(kafka, protocol) == TOLD[protocol]
        assert findings(kafka) == []
        assert "ended by hand" in kafka.explain("g")


@pytest.mark.parametrize("protocol", KINDS)
def test_one_that_only_ended_early_is_accused(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The judge tells the two apart by nothing else: a planted bug ends it as if its time were
    over."""
    for removal in (ClassicRemoval, Removal):
        monkeypatch.setattr(removal, "ENDED_BY_HAND", removal.SESSION_EXPIRED)
    with Emulator({"orders": 2}, remember=10_000) as kafka:
        assert expired(kafka, protocol)[0] == "session expired"
        monkeypatch.undo()  # the judge knows the word as it is
        (text,) = findings(kafka)
        assert "before its" in text and "are over" in text
