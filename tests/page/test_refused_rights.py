"""What a client may not do, and a quota that it is over, as the page says it."""

from __future__ import annotations

from coordinator.page.picture import Picture
from coordinator.security.acls import read_acl
from coordinator.security.authorizer import Authorizer
from coordinator.wire.messages.heartbeat import HeartbeatRequest
from tests.security.driver import SecuredDriver


def test_a_right_that_is_missed_is_a_step() -> None:
    driver = SecuredDriver()
    driver.security.authorizer = Authorizer([read_acl("User:alice may Read topic t")], ["User:bob"])
    client = driver.client()
    client.log_in("alice")
    client.ask(HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), 4)
    driver.log.append(
        "wire",
        "ClientThrottled",
        at_ms=1,
        principal="User:alice",
        client="c",
        peer="p",
        api="heartbeat",
        throttle_ms=5,
    )
    drawn = Picture(list(driver.log.events())).plain()
    said = [step["say"] for step in drawn["steps"]]
    assert "User:alice is refused Heartbeat: no ACL allows User:alice Read on group g." in said, (
        said
    )
