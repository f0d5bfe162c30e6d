"""What a client may not do, and a quota that it is over, as the page says it."""

from __future__ import annotations

from coordinator.events.acls import read_acl
from coordinator.events.wire import ClientThrottled
from coordinator.lab.page.picture import Picture
from coordinator.server.security.authorizer import Authorizer
from coordinator.wire.messages.heartbeat import HeartbeatRequest
from tests.server.security.driver import SecuredDriver


def test_a_right_that_is_missed_is_a_step() -> None:
    driver = SecuredDriver()
    driver.security.authorizer = Authorizer([read_acl("User:alice may Read topic t")], ["User:bob"])
    client = driver.client()
    client.log_in("alice")
    client.ask(HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), 4)
    driver.log.append(ClientThrottled("User:alice", "heartbeat", 5, "c", "p"), at_ms=1)
    drawn = Picture(driver.log.read()).plain()
    said = [step["say"] for step in drawn["steps"]]
    assert "User:alice is refused Heartbeat: no ACL allows User:alice Read on group g." in said, (
        said
    )
