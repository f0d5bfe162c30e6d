"""What the control port is told in a place where it takes nothing is refused, and nothing is done: a
query beside a body, a body beside a query, a name that is there twice."""

from __future__ import annotations

import pytest

from coordinator import Emulator
from coordinator.kit.http.client import Client, Refused


class TestMisplaced:
    def test_words_of_a_post_stand_in_its_body(self, client: Client, kafka: Emulator) -> None:
        with pytest.raises(
            Refused, match=r"the query: 'members'.*takes its arguments in the body"
        ) as refused:
            client.call("POST", "/groups/billing/wait?members=0", b"{}")
        assert refused.value.status == 400
        with pytest.raises(Refused, match="the query: 'keep_topics'"):
            client.call("POST", "/reset?keep_topics=orders", b"{}")
        assert kafka.topics() == {"orders": 4}

    @pytest.mark.parametrize("path", ["/faults", "/faults/1", "/journal", "/topics/orders"])
    def test_delete_takes_no_body(self, client: Client, kafka: Emulator, path: str) -> None:
        kafka.observe("Heartbeat")
        with pytest.raises(Refused, match=f"the body: DELETE {path} takes none; nor a query"):
            client.call("DELETE", path, b'{"group": "billing"}')
        assert (len(kafka.faults()), kafka.topics()) == (1, {"orders": 4})
        with pytest.raises(Refused, match="the body is no JSON"):
            client.call("DELETE", path, b"{")
        assert (len(kafka.faults()), kafka.topics()) == (1, {"orders": 4})

    @pytest.mark.parametrize(
        ("body", "told"),
        [
            (b"[" * 100_000, "the body is nested more deeply"),
            (b'{"partitions": ' + b"9" * 6_000 + b"}", "a number of thousands of digits"),
            (b'{"name": "\xff"}', "the body is no JSON: 'utf-8' codec"),
        ],
    )
    def test_a_body_that_python_cannot_read_is_told_in_plain_words(
        self, client: Client, kafka: Emulator, body: bytes, told: str
    ) -> None:
        with pytest.raises(Refused, match=told) as refused:
            client.call("POST", "/topics", body)
        assert (refused.value.status, kafka.topics()) == (400, {"orders": 4})

    def test_an_empty_object_is_no_body(self, client: Client, kafka: Emulator) -> None:
        kafka.observe("Heartbeat")
        client.call("DELETE", "/faults", b"{}")
        assert kafka.faults() == []

    def test_get_takes_a_query_and_no_body(self, client: Client) -> None:
        with pytest.raises(Refused, match=r"takes none; its query may have: type, .*since"):
            client.call("GET", "/events", b'{"type": "GroupCreated"}')

    def test_a_name_is_there_once(self, client: Client, kafka: Emulator) -> None:
        twice = b'{"action": "observe", "api": "Heartbeat", "times": 1, "times": 2}'
        with pytest.raises(Refused, match="the body: 'times' occurs twice; give it once"):
            client.call("POST", "/faults", twice)
        assert kafka.faults() == []
        with pytest.raises(Refused, match="the query: 'partition' occurs twice"):
            client.get("/topics/orders/records?partition=0&partition=1")
        with pytest.raises(Refused, match="the query: 'since' occurs twice"):
            client.get("/events/stream?since=0&since=1")


@pytest.mark.parametrize("error", [TypeError, KeyError, IndexError])
def test_a_mistake_of_ours_is_not_called_the_callers(
    client: Client,
    kafka: Emulator,
    monkeypatch: pytest.MonkeyPatch,
    error: type[Exception],
) -> None:
    def broken() -> list[str]:
        raise error("planted")

    monkeypatch.setattr(kafka, "groups", broken)
    with pytest.raises(Refused, match="this is a mistake of the emulator") as refused:
        client.get("/groups")
    assert refused.value.status == 500
