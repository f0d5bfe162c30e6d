"""`coordinator explain`: every kind of sentence, told by a story in virtual time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coordinator.history.explain.cause_sentences import why
from coordinator.history.explain.formatting import counted, duration, listed, partitions, ranges
from coordinator.history.explain.notes import told
from coordinator.history.explain.output import timeline_of
from coordinator.history.world.names import consumer_name, short_name
from coordinator.history.world.views import Note
from tests.events.kit import LoggedWorld, wants
from tests.lines import write
from tests.shipped import lines_of, log_text

GOLDEN = Path(__file__).parents[2] / "vectors" / "event_log" / "long_story.jsonl"
SHORT: dict[str, Any] = {"session_ms": 6000, "rebalance_ms": 10_000, "protocols": wants("orders")}


def three() -> LoggedWorld:
    """Members a (leader), b and c, Stable in generation 3."""
    w = LoggedWorld()
    for name in "abc":
        w.enter(name, **SHORT)
        for other in "abc"[: "abc".index(name)]:
            w.join(other, **SHORT)
        w.share(a={"orders": (0, 1)}, b={"orders": (2,)})
    return w


A, B, C, D = "a-9e37", "b-3c6e", "c-daa6", "d-78dd"


def test_the_first_member() -> None:
    w = LoggedWorld()
    w.enter("a", **SHORT)
    begun = f"because member {A} joined the empty group; it"
    assert (
        why(w.last())
        == f"A rebalance began {begun} has not ended: the join phase goes on where the log stops."
    )
    w.tick()
    assert (
        why(w.last())
        == f"Generation 1 began {begun} is not Stable yet: the sync phase goes on where the log stops."
    )
    w.share(a={"orders": (0,)})
    assert why(w.last()) == f"Generation 1 began because member {A} joined the empty group."


def test_the_initial_delay() -> None:
    """DLY-1, DLY-2"""
    w = LoggedWorld(initial_rebalance_delay_ms=3000)
    w.enter("a", **SHORT)
    w.advance(1000)
    w.enter("b", **SHORT)
    assert why(w.last()) == (
        f"A rebalance began because member {A} joined the empty group; first members were waited for 3 s or longer "
        f"(group.initial.rebalance.delay.ms); member {B} joined meanwhile; it has not ended: the join phase goes on where the log stops."
    )


def test_another_member_and_those_who_rejoin() -> None:
    w = LoggedWorld()
    w.enter("a", **SHORT)
    w.share()
    w.enter("b", **SHORT)
    w.advance(120)
    w.join("a", **SHORT)
    w.share()
    assert (
        why(w.last())
        == f"Generation 2 began because member {B} joined; member {A} rejoined within 120 ms."
    )


def test_expiry_and_its_last_sign_of_life() -> None:
    """SES-2: by a heartbeat, which no log holds; by a request; by what renewed everybody's session
    (SES-1)."""
    w = three()
    w.advance(2000)
    w.heartbeat("c")
    for _ in range(3):
        w.advance(2000)
        w.heartbeat("a")
        w.heartbeat("b")
    w.advance(120)
    w.join("a", **SHORT)
    w.join("b", **SHORT)
    assert why(w.last()).startswith(
        f"Generation 4 began because member {C} expired after 6 s of silence (its last sign of life was a heartbeat at 2.000 s); "
        f"members {A} and {B} rejoined within 120 ms ({B} was awaited last); "
    )
    w.share()
    w.advance(6000)
    assert "its last sign of life was its SyncGroup at 8.120 s" in why(w.last())


def test_several_that_expire_alike_have_their_last_sign_of_life() -> None:
    w = three()
    w.leave("c")
    w.advance(6000)
    expired = f"members {A} and {B} expired after 6 s of silence"
    assert f"{expired} (their last sign of life was their SyncGroup at 0.000 s)" in why(w.last())


def test_leaving() -> None:
    w = three()
    w.leave("b", reason="closing\x1b[2J")
    w.join("a", **SHORT)
    w.leave("c")
    assert why(w.last()).startswith(
        rf'Generation 4 began because member {B} left (saying "closing\x1b[2J"); member {A} rejoined at once; member {C} left meanwhile'
    )


def test_leaving_together() -> None:
    """LV-2, LV-8: one batch, one rebalance"""
    w = three()
    w.leave("a", (w.id("b"), None), (w.id("c"), None))
    assert why(w.last()).startswith(f"A rebalance began because members {B} and {C} left;")


def test_the_last_one_leaves() -> None:
    """LV-5"""
    w = LoggedWorld()
    w.enter("a", **SHORT)
    w.share()
    w.leave("a")
    assert why(w.last()) == f"The group became empty in generation 2 because member {A} left."


def test_the_leader_joins_again() -> None:
    w = three()
    w.join("a", **SHORT)
    assert f"because leader {A} asked to join again with the same subscription, as a leader" in why(
        w.last()
    )


def test_the_topic_grew() -> None:
    w = three()
    write(
        w.log_file,
        "cluster",
        "PartitionsAdded",
        at_ms=w.now,
        topic="orders",
        partitions=16,
        added=[12, 13, 14, 15],
        replicas=[[1]] * 4,
    )
    w.join("a", **SHORT)
    for name in "bc":
        w.join(name, **SHORT)
    w.share()
    grown = f"topic orders grew to 16 partitions and leader {A}, which saw it, asked to join again"
    assert why(w.last()).startswith(f"Generation 4 began because {grown}")
    w.join("a", **SHORT)
    assert "grew" not in why(w.last()), "a growth counts once"


def test_a_changed_subscription() -> None:
    w = three()
    w.join("b", **{**SHORT, "protocols": wants("payments", "refunds")})
    assert (
        f"because member {B} changed its subscription (added payments, added refunds, dropped orders)"
        in why(w.last())
    )


def test_cooperative_giving_up() -> None:
    w = three()
    w.join("b", **{**SHORT, "protocols": wants("orders", owned={"orders": (2, 3, 4)})})
    for name in "ac":
        w.join(name, **SHORT)
    w.share()
    assert f"because member {B} joined again with changed metadata" in why(w.last())
    w.join("b", **{**SHORT, "protocols": wants("orders", owned={"orders": (2,)})})
    assert (
        f"because member {B} revoked orders 3-4 and joined again, so that other members can get them (cooperative"
        in why(w.last())
    )


def test_did_not_rejoin_and_a_new_leader() -> None:
    """REB-4, LEAD-2"""
    w = three()
    w.enter("d", **SHORT)
    w.join("b", **SHORT)
    for _ in range(2):
        w.advance(5000)
        w.heartbeat("c")
    sentence = why(w.last())
    assert (
        f"Generation 4 began because member {D} joined; member {B} rejoined at once; member {A} expired after 6 s of silence"
        in sentence
    )
    assert f"member {C} did not rejoin in time and was removed" in sentence


def test_did_not_sync() -> None:
    """SYNC-6"""
    w = three()
    w.enter("d", **SHORT)
    for name in "abc":
        w.join(name, **SHORT)
    w.sync("a")
    w.advance(5000)
    for name in "abcd":
        w.heartbeat(name)
    w.advance(5000)
    assert (
        f"because members {C}, {D} and {B} did not send SyncGroup in time and were removed"
        in why(w.last())
    )


def test_an_assignment_that_cannot_be_stored() -> None:
    """SYNC-3, ERR-2: and a generation that never was Stable"""
    w = three()
    w.join("a", **SHORT)
    for name in "bc":
        w.join(name, **SHORT)
    w.config.append_error = 19  # type: ignore[assignment]
    w.sync("a")
    before, last = w.view().rebalances[-2:]
    assert (
        f"the assignment that leader {A} sent could not be stored (COORDINATOR_NOT_AVAILABLE)"
        in why(last)
    )
    assert why(before).endswith("; it was never Stable, because the next rebalance came first.")


def test_static_members() -> None:
    """STA-2, STA-3: quietly if nothing changes, with a rebalance if the group was in one; the old
    id is fenced."""
    w = LoggedWorld()
    both = {**SHORT, "protocols": {**wants("orders"), "roundrobin": b""}}
    w.enter("s", instance="box", **both)
    w.share()
    w.client("s").member_id = ""
    w.enter("s", **both)
    note = w.view().entries[-1]
    assert isinstance(note, Note)
    assert (
        told(note)
        == "Static member box came back as box-3c6e and keeps the partitions of box-9e37 without a rebalance; box-9e37 is fenced."
    )
    w.client("s").member_id = ""
    w.enter("s", **{**SHORT, "protocols": {"roundrobin": b""}})
    assert "because static member box came back as box-daa6, which fenced box-3c6e" in why(w.last())
    w.share()
    w.enter("a", **{**SHORT, "protocols": {"roundrobin": b""}})
    w.client("s").member_id = ""
    w.enter("s", **{**SHORT, "protocols": {"roundrobin": b""}})
    assert "; static member box came back as box-1715" in why(w.last())


def test_a_full_group() -> None:
    """SIZE-1, ERR-7"""
    w = three()
    w.config.max_size = 2
    w.unload()
    w.finish_load()
    assert (
        "because the coordinator that loaded the group found more members in it than group.max.size allows"
        in why(w.last())
    )
    for name in "abc":
        w.join(name, **SHORT)
    assert f"member {C} found the group full (group.max.size) and was removed" in why(w.last())


def test_a_first_join_that_is_never_completed() -> None:
    """JOIN-8"""
    w = LoggedWorld(new_member_join_timeout_ms=4000, initial_rebalance_delay_ms=60_000)
    w.enter("a", session_ms=6000, rebalance_ms=90_000, protocols=wants("orders"))
    w.advance(4000)
    assert f"member {A} expired: its first join was not completed within 4 s" in why(w.last())


def test_a_coordinator_that_is_lost_in_the_middle() -> None:
    """ERR-6"""
    w = three()
    w.enter("d", **SHORT)
    w.unload()
    assert (
        why(w.last())
        == f"A rebalance began because member {D} joined; it did not end, because the coordinator unloaded the group."
    )
    assert (
        "The coordinator unloaded the group; parked requests were answered with NOT_COORDINATOR."
        in w.text()
    )
    assert (
        "group g: PreparingRebalance in generation 3 when the coordinator unloaded it, 4 members, leader a-9e37"
        in w.text()
    )
    w.finish_load()
    assert f"group g: Stable in generation 3, 3 members, leader {A}" in w.text()


def test_refusals_that_matter_are_told() -> None:
    w = three()
    log = w.log_file
    write(
        log,
        "wire",
        "RequestRefused",
        at_ms=w.now,
        group="g",
        member=w.id("a"),
        api="heartbeat",
        errors=["FENCED_INSTANCE_ID"],
    )
    write(
        log,
        "wire",
        "RequestRefused",
        at_ms=w.now,
        group="g",
        api="offset_commit",
        errors=["UNKNOWN_MEMBER_ID", "X"],
    )
    write(
        log,
        "wire",
        "RequestRefused",
        at_ms=w.now,
        group="g",
        member=w.id("a"),
        api="heartbeat",
        errors=["REBALANCE_IN_PROGRESS"],
    )
    text = w.text()
    assert f"Member {A} was refused heartbeat: FENCED_INSTANCE_ID." in text
    assert "A client was refused OffsetCommit: UNKNOWN_MEMBER_ID and X." in text
    assert "REBALANCE_IN_PROGRESS" not in text


def test_what_a_later_version_logs_does_not_disturb() -> None:
    w = three()
    before = w.text()
    write(w.log_file, "group", "MemberDreamt", at_ms=w.now, group="g", of="sheep")
    write(w.log_file, "dreams", "Dreamt", at_ms=w.now, group="other")
    assert w.text() == before


def test_assignments_and_moves() -> None:
    w = three()
    shares = {share.name: share for share in w.last().shares}
    assert shares[A].partitions == {"orders": (0, 1)}
    assert shares[C].partitions == {}
    w.join("a", **SHORT)
    for name in "bc":
        w.join(name, **SHORT)
    w.share(a={"orders": (1,), "refunds": (0,)}, b={"orders": (0, 2)})
    text = w.text(4)
    assert (
        f"{A}  orders 1; refunds 0   (+ refunds 0, - orders 0, stood still for 0 ms, from 0.000 s to 0.000 s)"
        in text
    )
    assert f"{B}  orders 0, 2   (+ orders 0, stood still for 0 ms" in text
    assert f"{C}  nothing" in text


def test_bytes_that_are_no_assignment() -> None:
    w = LoggedWorld()
    w.enter("a", **SHORT)
    w.tick()
    w.sync("a", {"a": b"\x00\x01oops"})
    assert f"{A}  6 bytes that are no consumer's assignment" in w.text()
    other = LoggedWorld()
    other.enter("a", kind="connect", protocols={"default": b"\xff"})
    other.tick()
    other.sync("a", {"a": b"\x00\x01\x02"}, kind="connect", protocol="default")
    assert f"{A}  3 bytes that are no consumer's assignment" in other.text()


def test_short_names_stay_apart() -> None:
    uuid = "12345678-0000-4000-8000-000000000001"
    assert short_name(f"app-{uuid}", []) == "app-1234"
    assert short_name(f"app-{uuid}", ["app-1234"]) == "app-12345"
    assert short_name(f"-{uuid}", []) == "member-1234"
    assert short_name("odd", []) == "odd"
    assert short_name(f"a\x1b\n-{uuid}", []) == r"a\x1b\n-1234"


def test_words() -> None:
    assert [duration(ms) for ms in (0, 999, 1000, 6250, 59_999, 60_000, 65_000, 300_400)] == [
        "0 ms",
        "999 ms",
        "1 s",
        "6.25 s",
        "60 s",
        "1 min",
        "1 min 5 s",
        "5 min",
    ]
    assert [listed(list(words)) for words in ("", "a", "ab", "abc")] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]
    assert ranges([3, 1, 2, 7, 9, 10]) == "1-3, 7, 9-10"
    assert partitions({"t": (), "u": (1,)}) == "u 1"
    assert counted("member", [str(n) for n in range(9)]) == "9 members (0, 1, 2, ...)"


def test_members_of_the_consumer_protocol_are_called_by_their_client_ids() -> None:
    """Their ids are random UUIDs of their own (KIP-848)."""
    uuid = "RiF5D91HT6iC1AEEcvAOTw"
    assert consumer_name("app", uuid, []) == "app-RiF5"
    assert consumer_name("app", uuid, ["app-RiF5"]) == "app-RiF5D"
    assert consumer_name("", uuid, []) == uuid
    assert consumer_name("app", "member-one", []) == "member-one"


def test_a_group_epoch_says_how_long_it_took() -> None:
    timeline = timeline_of(lines_of(log_text("rolling_deploy_dynamic-consumer")))
    told_of = [told(note) for note in timeline.groups["app"].entries if isinstance(note, Note)]
    settled = [text for text in told_of if "With that all have reached epoch" in text]
    assert settled
    assert settled[0].endswith("after it began.")
