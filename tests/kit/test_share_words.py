"""A share group's words at a group that is none: an error that says what it is."""

from __future__ import annotations

import pytest

from coordinator import Emulator
from coordinator.kit.in_process_requests import ControlError


@pytest.mark.parametrize(
    ("protocol", "what"),
    [("classic", "a classic group"), ("consumer", r"of the consumer protocol \(KIP-848\)")],
)
def test_a_group_of_another_type(protocol: str, what: str) -> None:
    text = rf"group 'billing' is {what}, no share group: kafka.group\('billing'\) looks at it"
    with Emulator({"jobs": 1}) as kafka:
        share = kafka.share_group("billing")
        assert str(share.snapshot()).startswith("share group 'billing' is Dead")
        with kafka.peer("billing", topics=["jobs"], config={"group.protocol": protocol}):
            kafka.group("billing").wait(state="Stable", members=1)
            for look in (share.snapshot, lambda: share.wait(members=1, timeout=30)):
                with pytest.raises(ControlError, match=text):
                    look()
