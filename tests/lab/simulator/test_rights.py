"""Users and rights in the simulated world: what is refused while members come and go, and the judge
of it, proved by planted bugs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from coordinator.events import EventLog
from coordinator.events.line import lines_of as typed
from coordinator.history.judges.base import Judgement, Verdict
from coordinator.lab.simulator.environment import EPOCH_MS
from coordinator.lab.simulator.files.reading import ScenarioError
from coordinator.lab.simulator.files.scenario import Scenario, read_scenario
from coordinator.lab.simulator.files.worlds import check_world
from coordinator.lab.simulator.run import run_scenario, verdicts
from coordinator.server.connections.secured import SecuredConnection
from coordinator.server.security.authorizer import Authorizer
from coordinator.verbs.row import WorldKind
from tests.lab.simulator.planted_in_time_and_quality import decisions_outlive_the_acls

Lines = list[dict[str, Any]]
SCENARIO = """
duration = "3m"
[topics]
orders = 2
[security]
acls = [
    "User:app may Read topic orders",
    "User:app may Read group app",
    "User:shop may Write topic ord prefixed",
]
[[members]]
name = "app"
user = "app"
topics = "orders"
consumes = true
[[members]]
name = "stranger"
group = "strangers"
topics = "orders"
consumes = true
[[producers]]
name = "shop"
user = "shop"
topics = "orders"
rate = 1
[[faults]]
verb = "RevokeAcls"
acls = "User:app may Read group app"
at = "60s"
lasts = "20s"
[must]
may_fail = ["stranger"]
"""


def run(text: str = SCENARIO) -> tuple[Scenario, Lines]:
    log = EventLog(seed=1, epoch_ms=EPOCH_MS)
    scenario = read_scenario(text, "mine.toml")
    run_scenario(scenario, 1, log)
    return scenario, list(log.events())


def of(lines: Lines, kind: str) -> Lines:
    return [line for line in lines if line["type"] == kind]


def rights(scenario: Scenario, lines: Lines) -> Verdict:
    (found,) = [each for each in verdicts(scenario, typed(lines)) if each.judge == "acls_decide"]
    return found


def test_a_right_that_is_taken_away_is_missed_for_so_long() -> None:
    scenario, lines = run()
    assert rights(scenario, lines).judgement is Judgement.KEPT
    assert {line["principal"] for line in of(lines, "Authenticated")} == {
        "User:ANONYMOUS",
        "User:app",
        "User:shop",
    }
    refused = of(lines, "AuthorizationRefused")
    of_app = [line["at_ms"] for line in refused if line["principal"] == "User:app"]
    assert of_app and 60_000 <= min(of_app) <= max(of_app) <= 80_000
    assert {line["api"] for line in refused if line["principal"] == "User:app"} >= {"heartbeat"}
    (failed,) = of(lines, "MemberFailed")
    assert failed["client"] == "stranger-1"
    (line,) = of(lines, "AclsDeleted")
    assert (line["at_ms"], line["acls"]) == (60_000, ["User:app may Read group app"])
    assert of(lines, "AclsCreated")[-1]["at_ms"] == 80_000
    assert any(line["at_ms"] > 80_000 for line in of(lines, "OffsetsCommitted"))


def test_a_right_that_is_given_is_taken_back() -> None:
    granted = SCENARIO.replace('"RevokeAcls"', '"GrantAcls"').replace(
        'acls = "User:app may Read group app"\nat',
        'acls = ["User:app may not Read group app", "User:app may Read group app"]\nat',
    )
    scenario, lines = run(granted)
    assert rights(scenario, lines).judgement is Judgement.KEPT
    (line,) = of(lines, "AclsDeleted")
    assert line["at_ms"] == 80_000
    assert line["acls"] == ["User:app may not Read group app"]  # the other one was there before
    assert any(line["principal"] == "User:app" for line in of(lines, "AuthorizationRefused"))


def test_an_injected_failure_comes_before_rights_are_looked_at() -> None:
    fault = """
        [[faults]]
        action = "fail"
        api = "OffsetCommit"
        error = "COORDINATOR_LOAD_IN_PROGRESS"
        times = 1
        at = "61s"
        [must]
    """
    scenario, lines = run(SCENARIO.replace("[must]", fault))
    (injected,) = of(lines, "FaultInjected")
    assert 61_000 <= injected["at_ms"] < 80_000
    assert rights(scenario, lines).judgement is Judgement.KEPT


def _forgets_to_ask(patch: pytest.MonkeyPatch) -> None:
    """A broker that looks at rights once, at the first request of a connection."""
    ask = SecuredConnection._ask_if_allowed
    seen: set[int] = set()

    def asks_once(self: SecuredConnection, api: Any, call: Any, correlation_id: int) -> None:
        if id(self) in seen:
            super(SecuredConnection, self)._ask(api, call, correlation_id)
            return
        seen.add(id(self))
        ask(self, api, call, correlation_id)

    patch.setattr(SecuredConnection, "_ask_if_allowed", asks_once)


def _takes_a_prefix_for_a_name(patch: pytest.MonkeyPatch) -> None:
    """An authorizer that knows literal ACLs only."""
    about = Authorizer._about
    patch.setattr(
        Authorizer,
        "_about",
        lambda self, kind, name: [acl for acl in about(self, kind, name) if acl.name == name],
    )


@pytest.mark.parametrize(
    ("bug", "found"),
    [
        (_forgets_to_ask, "is not refused, although no ACL allows it"),
        (decisions_outlive_the_acls, "is not refused, although no ACL allows it"),
        (_takes_a_prefix_for_a_name, "on topic orders, although an ACL allows it"),
    ],
)
def test_planted_bugs_are_found(
    bug: Callable[[pytest.MonkeyPatch], None], found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bug(monkeypatch)
    verdict = rights(*run())
    assert verdict.judgement is Judgement.BROKEN
    assert any(found in finding.text for finding in verdict.findings), verdict


def test_records_that_nobody_may_read_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker that lets everybody fetch."""
    ask = SecuredConnection._ask_if_allowed

    def lets(self: SecuredConnection, api: Any, call: Any, correlation_id: int) -> None:
        if api.name in ("fetch", "produce"):
            super(SecuredConnection, self)._ask(api, call, correlation_id)
        else:
            ask(self, api, call, correlation_id)

    monkeypatch.setattr(SecuredConnection, "_ask_if_allowed", lets)
    text = SCENARIO.replace("Read topic orders", "Describe topic orders").replace(
        "may Write topic", "may Describe topic"
    )
    text = text.replace('"User:shop', '"User:shop may IdempotentWrite cluster",\n"User:shop')
    said = "\n".join(finding.text for finding in rights(*run(text)).findings)
    assert "User:app read from topic orders, although no ACL allows it" in said
    assert "User:shop wrote to topic orders, although no ACL allows it" in said


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"User:app may Read topic orders",', '"app may Read",', "security.acls: 'app may Read'"),
        ('acls = "User:app may Read group app"\n', "", "RevokeAcls: acls is missing: give"),
        ('acls = "User:app', 'acl = "User:app', "RevokeAcls has the key acls, not acl"),
        ('acls = "User:app may Read group app"', "acls = 3", "RevokeAcls: acls = 3: give a text"),
    ],
)
def test_wrong_rights_are_refused(old: str, new: str, message: str) -> None:
    assert old in SCENARIO
    with pytest.raises(ScenarioError, match=r"mine\.toml, line") as refused:
        read_scenario(SCENARIO.replace(old, new), "mine.toml")
    assert message in str(refused.value)


def test_users_need_rights() -> None:
    before, _, rest = SCENARIO.partition("[security]")
    without = before + rest[rest.index("[[members]]") :]
    with pytest.raises(ScenarioError, match=r"line 7: members: user = 'app': without ACLs every"):
        read_scenario(without, "mine.toml")
    alone = without.replace('user = "app"\n', "").replace('user = "shop"\n', "")
    with pytest.raises(ScenarioError, match="faults: verb = 'RevokeAcls': without ACLs"):
        read_scenario(alone, "mine.toml")


@pytest.mark.parametrize("world", [WorldKind.EMULATOR, WorldKind.KAFKA])
def test_nobody_is_known_without_a_login(world: WorldKind) -> None:
    scenario = read_scenario(SCENARIO, "mine.toml")
    with pytest.raises(ScenarioError, match=r"RevokeAcls cannot be in|security\.acls cannot be in"):
        check_world(scenario, world)


def test_a_right_that_changes_while_its_request_waits() -> None:
    """A commit that came over a link that is cut is answered when the link is whole. If its right
    was taken away, or given, meanwhile, either answer is right; if it is as it was, only one is."""
    text = (
        SCENARIO
        + """
        [[faults]]
        verb = "CutClient"
        client_id = "app-1"
        broker = 1
        at = "58600ms"
        lasts = "8s"
    """
    )
    scenario, lines = run(text)
    found = [
        (asked, line)
        for line in of(lines, "RequestRefused")
        for asked in lines
        if asked["seq"] == line["cause"] and asked["api"] == "offset_commit"
    ]
    assert any(asked["at_ms"] < 60_000 <= line["at_ms"] for asked, line in found)
    assert rights(scenario, lines).judgement is Judgement.KEPT
    kept = [line for line in lines if line["type"] not in ("AclsDeleted", "AuthorizationRefused")]
    assert "offset_commit of User:app to group app is refused, although an ACL allows it" in {
        finding.text for finding in rights(scenario, kept).findings
    }
