"""The recorded incident: its answers are those of the story that was recorded, and it stays small."""

from __future__ import annotations

import gzip
import json
from importlib.resources import files

from coordinator.lab.page import recorded as folder
from coordinator.lab.page.engine import picture_of
from coordinator.lab.page.recorded import NAME, log, recorded
from tools.recording.__main__ import CLIENTS, ENDS_S, STORY

DONE = {what.split()[0]: (at_s, client) for at_s, what, client in STORY if what != "start"}
"""By what was done: when it was done last, and to whom."""


def test_the_answers_are_what_was_done() -> None:
    """SES-1: who stands still longer than its session is removed; TR-3: the join
    phase waits for who is still a member."""
    asked = recorded()["questions"]
    right = [each["options"][each["right"]] for each in asked]
    paused_s, paused = DONE["pause"]
    busy_s, busy = DONE["busy"]
    assert right[0] == paused.rpartition("-")[0]
    assert right[1].startswith("the one to generation ")
    assert right[2].startswith(f"member {paused}-") and "expired after 10 s of silence" in right[2]
    assert right[3].startswith("its process lived but sent nothing")
    assert right[4].startswith(f"{busy}-")
    assert right[5].startswith("smaller batches")
    began, back, rejoined = (asked[at]["at_ms"] / 1000 for at in (1, 3, 4))
    assert paused_s < began < back < rejoined < ENDS_S and busy_s < began
    assert paused != busy, "who began it and who held it up are two, as the page says"
    assert all(3 <= len(each["options"]) == len(set(each["options"])) for each in asked)


def test_it_is_what_it_says_it_is() -> None:
    """Three groups of real clients of both protocols, heartbeats included."""
    lines = [json.loads(line) for line in log().splitlines()]
    assert {line["group"] for line in lines if "group" in line} == set(CLIENTS)
    clients = {line["client"] for line in lines if line["type"] == "RequestSeen"}
    assert clients == {
        f"{group}-{at + 1}" for group, row in CLIENTS.items() for at in range(row[2])
    }
    assert all(line["stream"] != "member" for line in lines), "nobody tells what he does"
    faults = {line["action"] for line in lines if line["type"] == "FaultInjected"}
    assert faults == {"observe"}, "the log does not tell what was done"
    packed = files(folder).joinpath(f"{NAME}.jsonl.gz").read_bytes()
    assert gzip.decompress(packed).decode() == log()


def test_heartbeats_that_were_watched_are_in_their_members_lanes() -> None:
    """Of a member that stood still they stop, and come back nowhere under its old id."""
    picture = picture_of(log().splitlines()).plain()
    (billing,) = [each for each in picture["groups"] if each["group"] == "billing"]
    signs = {lane["name"]: lane["signs"] for lane in billing["lanes"]}
    paused_ms = DONE["pause"][0] * 1000
    (old,) = [name for name, at in signs.items() if name.startswith("billing-2") and at[0] < 20_000]
    assert signs[old] and max(signs[old]) <= paused_ms + 1000
    assert all(len(at) > 5 for at in signs.values())
