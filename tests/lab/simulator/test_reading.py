"""A scenario that cannot be is refused with its file, line, key, and what would be right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coordinator.cli import main
from coordinator.kit.faults import ACTIONS
from coordinator.lab.simulator.files import catalogue
from coordinator.lab.simulator.files.reading import ScenarioError
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.files.schema import json_schema
from coordinator.lab.simulator.unreached import unreached

GOOD = """duration = "1m"

[topics]
orders = 4

[[members]]
name = "app"
topics = "orders"

[[members]]
name = "other"
topics = ["orders"]
count = 2
"""


def refused(text: str, *settings: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        read_scenario(text, "s.toml", settings)
    return str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "duration",
            "duratoin",
            "s.toml, line 1: duratoin is no key of a scenario: did you mean duration?",
        ),
        ('"1m"', '"1 minute"', "s.toml, line 1: duration = '1 minute': give a duration"),
        ("orders = 4", "orders = 0", "s.toml, line 4: orders = 0: give a whole number from 1 on"),
        ("count", "cuont", "s.toml, line 13: cuont is no key of members: did you mean count?"),
        ("count = 2", "count = -2", "s.toml, line 13: count = -2: give a whole number"),
        (
            "count = 2",
            'assignor = "stiky"',
            "s.toml, line 13: partition.assignment.strategy: stiky",
        ),
        (
            "count = 2",
            'protocol = "consumer"\nassignor = ["uniform", "range"]',
            "takes one assignor of the coordinator",
        ),
        (
            "count = 2",
            'protocol = "consumer"\nassignor = "sticky"',
            "coordinators have no assignor sticky, but uniform, range",
        ),
        (
            "count = 2",
            'protocol = "klassic"',
            "line 13: protocol = 'klassic': one of classic, consumer",
        ),
        ("count = 2", 'config = { "sesion.timeout.ms" = 1 }', "session.timeout.ms"),
        ('name = "other"', "", "s.toml, line 10: name is missing in [[members]]"),
        ('name = "other"', 'name = "app"', "two kinds of members or producers have the same name"),
        (
            'topics = ["orders"]',
            'topics = ["order"]',
            "subscribe to order, which [topics] does not name",
        ),
        (
            "[topics]",
            "[topics",
            "s.toml, line 3, column 8: Expected ']' at the end of a table declaration; a scenario is a TOML file",
        ),
        ("count = 2", 'lesson = """', "s.toml, line 14: "),
        (
            "orders = 4",
            "orders.eu = 4",
            (
                "s.toml, line 4: orders.eu = 4: orders has a number alone, as orders = 3; "
                """a name with dots is written in quotation marks: "orders.eu" = 3"""
            ),
        ),
        (
            "count = 2",
            'config = { "client.rack" = ["a"] }',
            "s.toml, line 13: client.rack = ['a']: give a text, a number, true or false",
        ),
        (
            "count = 2",
            'config = { "session.timeout.ms" = 99999999999 }',
            "is no whole number of milliseconds, of at most 2147483647",
        ),
        (
            'topics = ["orders"]',
            'topics = "orders,"',
            "s.toml, line 12: topics = 'orders,': give a text, or several",
        ),
        (
            'topics = ["orders"]',
            'topics = ["orders", ""]',
            "s.toml, line 12: topics = ['orders', '']: give a text, or several",
        ),
        ('"1m"', '"0s"', "s.toml, line 1: duration = 0 ms: from 1 ms to 366 days (8784h)"),
        ('"1m"', '"999999999h"', "s.toml, line 1: duration = '999999999h': give a duration"),
        (
            "[topics]",
            'extends = "nowhere"\n[topics]',
            "s.toml, line 3: extends = 'nowhere': there is no scenario nowhere",
        ),
        (
            "[topics]",
            "[brokers]\ncount = 101\n[topics]",
            "s.toml, line 4: brokers.count = 101: from 1 to 100",
        ),
        (
            "[topics]",
            "[brokers]\ncount = 0\n[topics]",
            "s.toml, line 4: brokers.count = 0: from 1 to 100",
        ),
        (
            "[topics]",
            "[must]\njudges = []\n[topics]",
            "s.toml, line 4: must.judges = []: name at least one, or leave the key out for all",
        ),
        (
            'topics = ["orders"]',
            "topics = []",
            "s.toml, line 12: members other: topics = []: name at least one of [topics]",
        ),
        (
            "count = 2",
            "assignor = []",
            "s.toml, line 13: members other: assignor = []: name at least one, or leave the key out",
        ),
        (
            'name = "other"',
            'name = ""',
            "s.toml, line 11: members: name = '': give one or more of the characters",
        ),
        (
            'name = "other"',
            'name = "an other"',
            "name = 'an other': give one or more of the characters",
        ),
        (
            "count = 2",
            'config = { "group.id" = "x" }',
            "s.toml, line 13: members other: group.id is not set in config: group says it",
        ),
        (
            "count = 2",
            'static = true\nconfig = { "group.instance.id" = "x" }',
            "group.instance.id is not set in config beside static",
        ),
        (
            "count = 2",
            'consumes = true\nconfig = { "max.poll.record" = 20 }',
            "s.toml, line 14: max.poll.record is no setting of a member: max.poll.records is",
        ),
        ("count = 2", "count = true", "s.toml, line 13: count = true: give a whole number"),
        ("count = 2", "start = 2024-01-31", "s.toml, line 13: start = 2024-01-31: give a duration"),
        (
            "count = 2",
            'zone = "$zoen"',
            "s.toml, line 13: zone: $zoen: there is no such parameter: [parameters] has none",
        ),
        (
            "orders = 4",
            'orders = 4\n"${prefix}-audit" = 2\n[parameters]\nprefix = "a"',
            "s.toml, line 5: parameters stand for values, not for names of keys: write ${prefix}-audit out",
        ),
        (
            "[topics]",
            '[parameter]\nlong = "9s"\n[topics]',
            "s.toml, line 3: parameter is no key of a scenario: did you mean parameters?",
        ),
        (
            'name = "other"',
            '[parameters]\nlong = "9s"',
            "s.toml, line 10: name is missing in [[members]]",
        ),
    ],
)
def test_the_error_says_where_and_what_would_be_right(old: str, new: str, told: str) -> None:
    assert told in refused(GOOD.replace(old, new, 1))


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ('[[churn]]\nkind = "roling"\nmembers = "app"', "kind = 'roling': one of poisson, rolling"),
        ('[[churn]]\nkind = "rolling"\nmembers = "ap"', "give one of app, other"),
        ('[[churn]]\nkind = "restart"\nmembers = "app-7"', "or single ones such as app-1"),
        ('[[faults]]\nverb = "StopBrokr"\nbroker = 1', "StopBroker"),
        ('[[faults]]\nverb = "CutMember"\nmember = "app-9"', "there are app-1, other-1, other-2"),
        ('[[faults]]\nat = "1s"', "either a verb or an action"),
        (
            '[[faults]]\nVERB = "CutMember"\nmember = "app-1"\ndirection = "both"',
            "VERB is no key of a fault: did you mean verb?",
        ),
        (
            '[[faults]]\naction = "observe"\nlsats = "1s"',
            "lsats is no key of a fault that does observe: did you mean lasts?",
        ),
        (
            '[[faults]]\naction = "fail"\napi = "OffsetCommit"\nerror = true',
            "True is no error of Kafka: give a text",
        ),
        ('[[faults]]\naction = "observe"\nmember = ""', "member: '' names none"),
        ('[[faults]]\nverb = "CUTZONE"\nzone = "a"', "CutZone"),
        ('[[faults]]\nverb = "REVOKEACLS"\nacls = "x"', "RevokeAcls"),
        (
            '[[faults]]\naction = "fail"\napi = "OfsetCommit"\nerror = "NOT_COORDINATOR"',
            "OffsetCommit",
        ),
        (
            '[must]\njudges = ["single_ownr"]',
            "there is no judge single_ownr; they are single_owner",
        ),
        ("[brokers]\ncount = 0", "from 1 to 100"),
        ('[brokers]\nconfig = { "no.such.setting" = 1 }', "no.such.setting"),
    ],
)
def test_churn_faults_and_what_must_hold_are_checked(part: str, told: str) -> None:
    assert told in refused(f"{GOOD}\n{part}\n")


@pytest.mark.parametrize(
    ("part", "told"),
    [
        (
            '[[faults]]\nverb = "StopBroker"\nbroker = 4',
            "line 17: StopBroker: broker = 4: there is one, 1 (brokers.count)",
        ),
        (
            '[[faults]]\nverb = "StopBroker"\nbroker = 1\nhow = "kill"',
            "line 18: StopBroker: how = 'kill': one of controlled, crash, pause",
        ),
        (
            '[brokers]\ncount = 3\n[[faults]]\nverb = "CutLink"\none = 1\nother = 1',
            "line 20: CutLink: one and other are both 1",
        ),
        (
            '[[faults]]\nverb = "MoveLeader"\ntopic = "ordes"\npartition = 0\nto = 1',
            "line 17: MoveLeader: [topics] does not name 'ordes'",
        ),
        (
            '[[faults]]\nverb = "MoveLeader"\ntopic = "orders"\npartition = 4\nto = 1',
            "line 18: MoveLeader: partition 4 of orders",
        ),
        (
            '[[faults]]\nverb = "CreateTopic"\ntopic = "new"\npartitions = 0',
            "line 18: CreateTopic: partitions = 0: from 1 to 10000, or -1",
        ),
        (
            '[[faults]]\nverb = "CreateTopic"\ntopic = "new"\nreplication = 2',
            "line 18: CreateTopic: replication = 2: from 1 to 1, or -1",
        ),
        (
            '[[faults]]\nverb = "CreateTopic"\ntopic = "n/w"',
            "line 17: topic 'n/w': a name has 1 to 249 of the characters",
        ),
        (
            '[[faults]]\nverb = "CreatePartitions"\ntopic = "orders"\npartitions = 4',
            "line 18: CreatePartitions: orders has 4 partitions",
        ),
        (
            '[[faults]]\nverb = "CreatePartitions"\ntopic = "orders"',
            "line 15: CreatePartitions: partitions is missing",
        ),
        (
            '[[faults]]\nverb = "CreatePartitions"\ntopic = "orders"\npartitions = 9\nlasts = "5s"',
            "line 19: fault CreatePartitions: no partition is taken away again: leave lasts out",
        ),
        (
            '[[faults]]\nverb = "CreatePartitions"\ntopic = "orders"\npartitions = 1000000',
            "line 18: CreatePartitions: partitions = 1000000: Kafka adds at most",
        ),
        (
            '[[faults]]\nverb = "CreateTopic"\ntopic = "orders"',
            "line 17: CreateTopic: topic orders: [topics] names it, so it is",
        ),
        (
            '[[faults]]\nverb = "CreateTopic"\ntopic = "__consumer_offsets"',
            "line 17: CreateTopic: the brokers make __consumer_offsets by",
        ),
        (
            '[[faults]]\nverb = "StopBroker"\nbroker = 1\nwhy = 2',
            "line 18: StopBroker has no field why: it has broker, how",
        ),
        (
            '[[faults]]\nverb = "PauseMember"\nmember = "app-1"\nlast = "25s"',
            "line 18: last is no key of PauseMember: did you mean lasts?",
        ),
        (
            '[[faults]]\nverb = "PauseMember"\nmembers = "app-1"',
            "line 17: members is no key of PauseMember: did you mean member?",
        ),
        (
            '[[faults]]\nverb = "StopBroker"\nbroker = 1\nhwo = "crash"',
            "line 18: hwo is no key of StopBroker: did you mean how?",
        ),
        (
            '[[faults]]\nvreb = "StopBroker"\nbroker = 1',
            "line 16: vreb is no key of a fault: did you mean verb?",
        ),
        (
            '[[faults]]\nverb = "MoveCoordinator"\nto = 1',
            "line 15: MoveCoordinator: group is missing: it needs group, to",
        ),
        (
            '[[faults]]\nverb = "PauseMember"\nmember = "app-1"\nlasts = "0s"',
            "line 18: fault PauseMember: lasts = 0 ms: at least 1 ms",
        ),
        (
            '[[faults]]\naction = "observe"\nrepeats = 2\nevery = "0s"',
            "line 18: fault observe: repeats = 2: every = 0 ms: at least 1 ms",
        ),
        (
            '[[churn]]\nkind = "stall"\nmembers = "app"\nlasts = "0s"',
            "line 18: churn stall: lasts = 0 ms: at least 1 ms",
        ),
        (
            '[[churn]]\nkind = "restart"\nmembers = "app"\ntimes = 2\nevery = 0',
            "line 19: churn restart: every = 0 ms: at least 1 ms",
        ),
        (
            '[[churn]]\nkind = "scale"\nmembers = "app"\ntimes = 2',
            "line 18: churn scale has no times: that is of restart, stall, waves",
        ),
        (
            '[[producers]]\nname = "web"\ntopics = "orders"\ntransaction = "5s"',
            "line 18: producers web: transaction needs",
        ),
        (
            '[[members]]\nname = "m"\ntopics = "orders"\ncommit = "transaction"\noutput = "orders"',
            "line 19: members m: output = 'orders'",
        ),
        ("[parameters]\nrte = 5", "line 16: rte: nothing below says $rte: use it, or leave it out"),
        (
            '[[faults]]\nverb = "DeleteTopic"\ntopic = "ordes"',
            "line 17: DeleteTopic: [topics] does not name 'ordes'; there are orders",
        ),
        (
            '[[faults]]\nverb = "MoveCoordinator"\ngroup = "nope"\nto = 1',
            "line 17: MoveCoordinator: group 'nope' is nobody's",
        ),
        (
            '[[faults]]\nverb = "CutClient"\nclient_id = "ap-1"\nbroker = 1',
            "line 17: CutClient: no client is called 'ap-1'",
        ),
        (
            '[[faults]]\naction = "observe"\nbroker = 3',
            "line 17: fault observe: broker = 3: there is one",
        ),
        (
            '[[faults]]\naction = "observe"\nwhen = "commit"\nof = "ap"',
            "line 18: of = 'ap': no group and no member is called that",
        ),
        (
            '[[faults]]\nverb = "CutMember"',
            "line 15: CutMember: member is missing; there are app-1",
        ),
        (
            '[[faults]]\nverb = "SlowMember"\nmember = "app-1"\nbroker = 2\nbytes_per_second = 9',
            "line 18: SlowMember: broker 2",
        ),
        (
            '[[faults]]\nverb = "PauseMember"\nmember = "app-1"\nrepeats = 2',
            "line 18: fault PauseMember: repeats = 2 needs a lasts",
        ),
        (
            '[[churn]]\nkind = "poisson"\nmembers = "app"',
            "line 15: churn poisson: nobody comes or goes",
        ),
        (
            '[[churn]]\nkind = "restart"\nmembers = "app"\nlow = 3',
            "line 18: churn restart has no low: that is of waves",
        ),
        (
            '[[churn]]\nkind = "restart"\nmembers = "app"\ntimes = 200000',
            "line 18: churn restart: times = 200000: at most 100000",
        ),
        (
            '[[members]]\nname = "m"\ntopics = "orders"\ncount = 20001',
            "line 6: 20004 members and producers: a run has at most 20000",
        ),
        (
            '[[members]]\nname = "m"\ntopics = "orders"\nprotocol = "consumer"\nversions = "2.2"',
            "line 19: members m: clients of Kafka 2.2",
        ),
        (
            '[[members]]\nname = "m"\ntopics = "orders"\nstatic = true\nversions = "2.2"',
            "line 19: members m: clients of Kafka 2.2 know no static members, which came with 2.3: leave static or versions out",
        ),
        (
            '[[members]]\nname = "m"\ntopics = "orders"\nversions = "1.0"\nconfig = { "group.instance.id" = "i" }',
            "line 18: members m: clients of Kafka 1.0 know no static members",
        ),
        (
            '[[members]]\nname = "app-7"\ntopics = "orders"',
            "line 16: name = 'app-7': that may be the client id of one of app: give a name that is not another kind's with a number",
        ),
        (
            '[[producers]]\nname = "other-1"\ntopics = "orders"',
            "line 16: name = 'other-1': that may be the client id of one of other",
        ),
        (
            "[brokers]\ncount = 2\n[brokers.config]\ndefault.replication.factor = 3",
            "line 18: default.replication.factor = 3: needs as many brokers: there are 2 (brokers.count), so at most 2, or leave it out",
        ),
        (
            "[brokers.config]\ntransaction.state.log.replication.factor = 2",
            "line 16: transaction.state.log.replication.factor = 2: needs",
        ),
        (
            '[[faults]]\nverb = "ReassignPartition"\ntopic = "orders"\npartition = 0\nreplicas = [7]',
            "line 19: ReassignPartition: replicas = [7]: broker 7 is not there: there is one, 1 (brokers.count)",
        ),
        (
            '[[faults]]\nverb = "ReassignPartition"\ntopic = "orders"\npartition = 0\nreplicas = [1, 1]',
            "line 19: ReassignPartition: replicas = [1, 1]: give each broker once",
        ),
        (
            '[[faults]]\nverb = "SlowFollower"\nbroker = 1\ndelay_ms = -5',
            "line 18: SlowFollower: delay_ms = -5: give a whole",
        ),
        (
            '[[faults]]\nverb = "SlowFollower"\nbroker = 1\nbytes_per_second = 0',
            "line 18: SlowFollower: bytes_per_second = 0: give a whole number from 1 on",
        ),
        (
            '[[faults]]\nverb = "SlowLoad"\nbroker = 1\nload_ms = -1',
            "line 18: SlowLoad: load_ms = -1: give a whole number from 0 on",
        ),
        (
            '[[faults]]\nverb = "ResetMember"\nmember = "app-1"\nlasts = "5s"',
            "line 18: fault ResetMember: connections are reset at once, nothing is undone: leave lasts out",
        ),
        (
            '[[members]]\nname = "m"\ntopics = "orders"\nconfig = { "session.timeout.ms" = 9000000 }',
            "line 18: members m: session.timeout.ms = 9000000: brokers take 6000 to 1800000 ms",
        ),
        (
            '[[members]]\nname = "m"\ntopics = "orders"\n[members.config]\nsesion.timeout.ms = 9',
            "line 19: sesion.timeout.ms is no setting",
        ),
        (
            '[[members]]\nname = "m"\ntopics = "orders"\ncommit = "transaction"',
            "line 15: members m: output is missing",
        ),
        (
            '[[producers]]\nname = "p"\ntopics = "orders"\nabort_every = 2',
            "line 18: producers p: abort_every needs transactional = true",
        ),
        (
            '[[producers]]\nname = "p"\ntopics = "orders"\ntransactional = true\nconfig = { "transaction.timeout.ms" = 1000000 }',
            "line 19: producers p: transaction.timeout.ms = 1000000: brokers take at most 900000 ms",
        ),
        (
            '[[producers]]\nname = "p"\ntopics = "orders"\nconfig = { "compression.type" = "gzip" }',
            "line 18: compression.type is",
        ),
    ],
)
def test_what_is_named_has_to_be_there(part: str, told: str) -> None:
    assert f"s.toml, {told}" in refused(f"{GOOD}\n{part}\n")


def test_what_has_no_end_may_begin_again_without_one() -> None:
    faults = (
        '[[faults]]\nverb = "ResetMember"\nmember = "app-1"\nrepeats = 5\nevery = "5s"',
        '[[faults]]\naction = "lose_answer"\napi = "Heartbeat"\ntimes = 1\nrepeats = 3',
    )
    scenario = read_scenario("\n".join((GOOD, *faults)), "s.toml")
    assert [(plan.times, plan.lasts_ms) for plan in scenario.faults] == [(5, None), (3, None)]


def test_a_producer_that_asks_for_fewer_acknowledgements_is_not_idempotent() -> None:
    """As Java's, unless enable.idempotence is set."""
    producer = '[[producers]]\nname = "p"\ntopics = "orders"\nconfig = { "acks" = 1 }'
    [kind] = read_scenario(f"{GOOD}\n{producer}", "s.toml").producers
    assert not kind.config("p-1").enable_idempotence
    asked = producer.replace("}", ', "enable.idempotence" = true }')
    told = refused(f"{GOOD}\n{asked}")
    assert "enable.idempotence = true needs acks = all, not 1" in told


def test_an_error_names_the_file_in_which_its_key_stands() -> None:
    """Also where members of both files are one kind, and where a value comes from `--set`."""
    own = 'extends = "base.toml"\n\n[[members]]\nname = "new"\ntopics = "orders"\n[[members]]\nname = "other"\nstatic = true\n'

    def told(text: str, base: str, *settings: str) -> str:
        with pytest.raises(ScenarioError) as caught:
            read_scenario(text, "s.toml", settings, lambda name, _: (base, name))
        return str(caught.value)

    assert told(own, GOOD.replace("count = 2", "count = -2")).startswith(
        "base.toml, line 13: count = -2"
    )
    assert told(own.replace("static = true", "count = -3"), GOOD).startswith(
        "s.toml, line 8: count = -3"
    )
    assert told(own.replace('"new"\n', '"new"\nversions = "1"\n'), GOOD).startswith(
        "s.toml, line 5: versions = '1'"
    )
    assert told(own, GOOD, "members.other.count=-4").startswith(
        "--set members.other.count=-4: count = -4"
    )
    assert told(own, GOOD + '[parameters]\nn = 1\n[links]\nbandwidth = "$m"').startswith(
        "base.toml, line 17: bandwidth: $m: "
    )


def test_settings_reach_every_table() -> None:
    settings = (
        "duration=2m",
        "members.other.count=5",
        'members.1.assignor=["range"]',
        "links.delay=[10, 20]",
        "topics.orders=9",
        "members.app.config.session.timeout.ms=6000",
        "brokers.count=3",
    )
    scenario = read_scenario(GOOD, "s.toml", settings)
    assert scenario.duration_ms == 120_000
    assert scenario.members[1].count == 5
    assert scenario.members[0].config("x").session_timeout_ms == 6000
    assert scenario.members[0].properties["partition.assignment.strategy"] == "range"
    assert (scenario.delay_ms, scenario.topics, scenario.brokers) == ((10, 20), {"orders": 9}, 3)


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("duration", "give a path and a value"),
        ("membrs.app.count=1", "did you mean members?"),
        ("..=1", "there is no table"),
        ("members.ap.count=1", "members has no ap; there are app, other"),
        ("members.app=1", "which key"),
        ("members.app.cuont=1", "did you mean count?"),
        (
            "members.app.count.x=1",
            "--set members.app.count.x=1: count has no keys of its own: only config has",
        ),
        ("links.delay.x=1", "delay has no keys of its own"),
        (
            "topics.orders.x=0",
            "--set topics.orders.x=0: orders.x = 0: give a whole number from 1 on",
        ),
        ("extends=crash_loop", "what a file extends only it can say"),
    ],
)
def test_a_wrong_setting_is_refused(setting: str, told: str) -> None:
    assert told in refused(GOOD, setting)


def test_a_setting_within_what_is_no_table_is_refused() -> None:
    assert "--set topics.x=1: topics is a table: write [topics]" in refused(
        "topics = 5\n", "topics.x=1"
    )
    assert "members is an array of tables" in refused("members = 5\n", "members.a.count=1")
    assert "config is a table" in refused(
        GOOD.replace("count = 2", "config = 5"), "members.other.config.x=1"
    )


def test_what_comes_after_the_end_of_a_run_is_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    late = '[[churn]]\nkind = "restart"\nmembers = "app"\nat = "61s"\n[[faults]]\naction = "observe"\nat = "2m"\n'
    waiting = '[[faults]]\naction = "observe"\nwhen = "commit"\nlater = "2m"\n'
    file = tmp_path / "s.toml"
    file.write_text(f"{GOOD}\n{late}{waiting}".replace("count = 2", 'count = 2\nstart = "61s"'))
    assert main(["simulate", str(file)]) == 0
    notes = [line.replace(str(tmp_path), "") for line in capsys.readouterr().err.splitlines()]
    assert [note.partition(" after the end")[0] for note in notes] == [
        "note: members other start",
        "note: /s.toml, line 16: churn restart is",
        "note: /s.toml, line 20: this fault is",
    ]
    assert main(["simulate", str(file), "--set", "duration=5m"]) == 0
    assert "note" not in capsys.readouterr().err


def test_a_replica_selector_that_is_not_known_is_noted() -> None:
    brokers = '[brokers]\ncount = 3\nconfig = { "replica.selector.class" = "com.example.Near" }\n'
    (note,) = unreached(read_scenario(f"{GOOD}\n{brokers}", "s.toml"))
    assert "com.example.Near is not known here, so consumers read from leaders" in note


def test_the_command_line_simulates_judges_and_replays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "s.toml"
    file.write_text(GOOD + "\n[must]\nmost_rebalances = 0\n")
    log = tmp_path / "run.jsonl"
    assert (
        main(
            [
                "simulate",
                str(file),
                "--seed",
                "7",
                "--log",
                str(log),
                "--set",
                "members.app.count=2",
            ]
        )
        == 1
    )
    told = capsys.readouterr().out
    assert "most_rebalances: broken" in told
    assert f"coordinator simulate {file} --seed 7 --set members.app.count=2" in told
    assert main(["explain", str(log)]) == 0
    assert main(["simulate", str(file), "--log", str(log)]) == 2
    assert "--log-replace" in capsys.readouterr().err
    assert (
        main(
            [
                "simulate",
                str(file),
                "--log",
                str(log),
                "--log-replace",
                "--set",
                "must.most_rebalances=9",
            ]
        )
        == 0
    )
    assert (
        main(["simulate", str(file), "--log-replace", str(log), "--set", "must.most_rebalances=9"])
        == 0
    )
    assert main(["simulate", str(file), "--log-replace"]) == 2
    assert "--log PATH --log-replace" in capsys.readouterr().err
    assert main(["simulate", "no_such"]) == 2
    assert main(["simulate", str(tmp_path / "none.toml")]) == 2
    assert main(["simulate", "crash_lop"]) == 2
    assert "did you mean crash_loop?" in capsys.readouterr().err


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(GOOD, encoding="utf-8-sig")
    (tmp_path / "own.toml").write_text(
        'extends = "base.toml"\nduration = "5s"\n', encoding="utf-8-sig"
    )
    assert main(["simulate", str(tmp_path / "own.toml")]) == 0


def test_what_a_run_waited_for_in_vain_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "s.toml"
    path.write_text(
        GOOD
        + '[[churn]]\nkind = "restart"\nmembers = "app-1"\nwhen = "stable"\nof = "app"\nseen = 9\n'
        '[[faults]]\nverb = "PauseMember"\nmember = "app-1"\nwhen = "poll"\nlasts = "1s"\n'
    )
    assert main(["simulate", str(path)]) == 0
    told = capsys.readouterr().err
    assert (
        "s.toml, line 14: churn restart did not happen: it waits for 'stable' of app number 9, and 1 were seen"
        in told
    )
    assert (
        "s.toml, line 20: this fault did not happen: it waits for 'poll' number 1, and 0 were seen"
        in told
    )


def test_shipped_scenarios_are_listed_shown_and_copied(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["scenarios", "list"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in catalogue.names())
    assert main(["scenarios", "show", "crash_loop"]) == 0
    assert capsys.readouterr().out == catalogue.text("crash_loop")
    assert main(["scenarios", "copy", "crash_loop"]) == 0
    assert (tmp_path / "crash_loop.toml").read_text() == catalogue.text("crash_loop")
    assert main(["scenarios", "copy", "crash_loop"]) == 2
    assert main(["scenarios", "copy"]) == 2
    assert main(["scenarios", "list", "crash_loop"]) == 2


def test_the_json_schema_knows_every_key(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenarios", "schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert {"topics", "members", "churn", "faults", "must", "duration"} <= set(schema["properties"])
    assert schema["properties"]["members"]["items"]["required"] == ["name", "topics"]
    assert schema["additionalProperties"] is False
    protocol = schema["properties"]["members"]["items"]["properties"]["protocol"]["anyOf"]
    assert protocol == [
        {"type": "string", "enum": ["classic", "consumer", "share"]},
        {"type": "string", "pattern": r"^\$\w+$"},
    ]
    told = schema["properties"]["faults"]["items"]["properties"]["action"]["description"].partition(
        ":"
    )[0]
    assert told.split(", ") == list(ACTIONS)


def test_the_json_schema_tells_defaults() -> None:
    """What is left out is as the schema says; where it says nothing, the key's text does."""
    members = json_schema()["properties"]["members"]["items"]["properties"]
    assert members["group"]["default"] == "app"
    assert members["static"]["default"] is False
    assert members["start"]["default"] == ["0s", "1s"]
    assert "default" not in members["assignor"]
    for of in (json_schema(), json_schema()["properties"]["members"]["items"]):
        assert all("default" not in of["properties"][name] for name in of.get("required", ()))


def test_more_replicas_than_memory_would_do_for_are_refused() -> None:
    many = GOOD.replace(
        "orders = 4",
        'orders = 6000\n[brokers]\ncount = 100\n[brokers.config]\n"default.replication.factor" = 100',
    )
    assert (
        "s.toml, line 3: 600300 replicas of all partitions, internal topics' among them: a run has at most 600000"
        in refused(many)
    )
    assert read_scenario(many.replace("6000", "5997"), "s.toml").brokers == 100
    internal = many.replace(
        '"default.replication.factor" = 100',
        '"offsets.topic.num.partitions" = 100000\n"offsets.topic.replication.factor" = 7',
    )
    assert "706150 replicas of all partitions" in refused(internal)


@pytest.mark.parametrize(
    ("tables", "told"),
    [
        (
            '[[churn]]\nkind = "restart"\nmembers = "app"\ntimes = 0',
            "line 17: churn restart: times = 0: at least 1",
        ),
        (
            '[[churn]]\nkind = "restart"\nmembers = "app"\nwhen = "join"\nseen = 0',
            "line 18: seen = 0: at least 1, the first time",
        ),
        (
            '[[faults]]\nverb = "ResetMember"\nmember = "app-1"\nrepeats = 0',
            "line 17: fault ResetMember: repeats = 0: at least 1",
        ),
        (
            '[[producers]]\nname = "shop"\ntopics = "orders"\nstart = "20s"\nstop = "20s"',
            "line 18: producers shop: stop = 20000 ms is not after start, 20000 ms",
        ),
        (
            '[[producers]]\nname = "shop"\ntopics = "orders"\nrate = 100000000',
            "line 17: producers shop: 1 of them at rate = 100000000 write 3000000000 records: a run has at most 100000000",
        ),
        (
            '[[producers]]\nname = "shop"\ntopics = []',
            "line 16: producers shop: topics = []: name at least one of [topics]",
        ),
    ],
)
def test_what_would_do_nothing_or_take_for_ever_is_refused(tables: str, told: str) -> None:
    assert told in refused(GOOD + tables + "\n")


def test_a_scenario_in_which_no_member_ever_starts_is_refused() -> None:
    nobody = GOOD.replace("count = 2", "count = 0").replace(
        'topics = "orders"', 'topics = "orders"\ncount = 0'
    )
    assert "no member starts, and no churn brings one" in refused(nobody)
    assert read_scenario(
        nobody + '[[churn]]\nkind = "scale"\nmembers = "app"\nto = 2\n', "s.toml"
    ).churn


def test_a_kind_that_is_not_static_by_its_key_may_take_an_instance_id_of_its_own() -> None:
    twin = GOOD.replace("count = 2", 'config = { "group.instance.id" = "app-1" }')
    assert read_scenario(twin, "s.toml").members[1].properties["group.instance.id"] == "app-1"


def test_brokers_behave_as_the_release_that_a_file_names(tmp_path: Path) -> None:
    """The header of the log says so; a release that there is not is blamed at its line."""
    log = tmp_path / "run.jsonl"
    setting = ("--set", 'brokers.kafka_version="4.3"', "--set", "duration=5s")
    assert main(["simulate", "crash_loop", *setting, "--log", str(log)]) in (0, 1)
    header = json.loads(log.read_text().partition("\n")[0])
    assert header["kafka_version"].startswith("4.3.")
    with pytest.raises(ScenarioError, match=r"kafka_version = '7'.*4\.4, 4\.3"):
        read_scenario(GOOD, "good.toml", ('brokers.kafka_version="7"',))


def test_a_member_that_ends_by_an_error_is_a_finding_unless_the_file_allows_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A rolling deploy straight from range to cooperative-sticky: who comes has no assignor in
    common with who is there (PROTO-2), and is refused for good."""
    file = tmp_path / "straight.toml"
    members = "[[members]]\nname = '{}'\ncount = {}\ntopics = 'orders'\nassignor = '{}'\n"
    file.write_text(
        "duration = '3m'\n[topics]\norders = 6\n"
        + members.format("old", 3, "range")
        + members.format("new", 0, "cooperative-sticky")
        + "[[churn]]\nkind = 'rolling'\nmembers = 'old'\nbecomes = 'new'\nat = '60s'\nevery = '20s'\n"
    )
    assert main(["simulate", str(file)]) == 1
    told = capsys.readouterr().out
    assert "no_member_fails: broken" in told
    assert "INCONSISTENT_GROUP_PROTOCOL" in told
    assert main(["simulate", str(file), "--set", 'must.may_fail=["old"]']) == 0
    with pytest.raises(ScenarioError, match=r"must\.may_fail: there are no members nobody"):
        read_scenario(GOOD, "good.toml", ('must.may_fail=["nobody"]',))
