"""What one verb did to many links or clients at one instant is one line of `explain`."""

from __future__ import annotations

import pytest

from coordinator.history.explain.output import as_plain
from tests.history.explain.test_explain_verbs import fault, world


def test_a_zone_that_is_cut_off_and_comes_back_is_told_in_a_line_each() -> None:
    w = world()
    w.advance(1000)
    for other in (2, 3):
        fault(w, "CutLink", one=1, other=other)
    for client, brokers in {"a": (2, 3), "b": (1,)}.items():
        for broker in brokers:
            fault(w, "CutMember", client=client, broker=broker)
    w.advance(1000)
    fault(w, "MemberHealed", client="b", broker=1)
    w.heartbeat("b")
    for broker in (3, 2):
        fault(w, "MemberHealed", client="a", broker=broker)
    for other in (3, 2):
        fault(w, "HealLink", one=1, other=other)
    text = w.text()
    ways = "between broker 1 and brokers 2, 3; between client a and brokers 2, 3; between client b and broker 1"
    assert f"1.000 s  No traffic passes {ways}." in text
    assert f"2.000 s  Traffic passes {ways} again." in text
    assert text.count("No traffic passes") == text.count("Traffic passes") == 1
    plain = as_plain(timeline := w.timeline(), timeline.groups.values(), None)
    kinds = [note["type"] for note in plain["groups"][0]["notes"]]
    assert kinds.count("CutMember") == kinds.count("MemberHealed") == 3, "programs get each line"


def test_hosts_that_stand_still_at_once_are_told_in_one_line() -> None:
    w = world()
    for client in ("a", "b"):
        fault(w, "PauseMember", client=client)
    w.advance(1000)
    fault(w, "MemberResumed", client="a")
    w.advance(1)
    fault(w, "MemberResumed", client="b")
    text = w.text()
    assert "The host of each of a and b is paused." in text
    assert "1.000 s  The host of a is resumed." in text
    assert "1.001 s  The host of b is resumed." in text


@pytest.mark.parametrize("other", ["to_broker", "from_broker"])
def test_what_is_not_the_same_stays_apart(other: str) -> None:
    w = world()
    fault(w, "CutMember", client="a", broker=1)
    fault(w, "CutMember", client="b", broker=1, direction=other)
    fault(w, "SlowMember", client="a", broker=1, bytes_per_second=9)
    fault(w, "SlowMember", client="b", broker=1, bytes_per_second=8)
    text = w.text()
    assert text.count("No traffic passes") == 2
    assert "each of" not in text
    for client in ("a", "b"):
        fault(w, "MemberSpedUp", client=client, broker=1)
    assert "Traffic between each of a and b and broker 1 is as quick as before." in w.text()
