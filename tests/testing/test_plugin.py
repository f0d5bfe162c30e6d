"""The pytest plugin, as users' test suites see it: each test here runs pytest on a small suite of
its own, in a process of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.inner_pytest import PLAIN, QUIET

pytest_plugins = ["pytester"]


def _run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest_subprocess(*QUIET, *arguments, timeout=300)


def test_fixtures_markers_and_settings(pytester: pytest.Pytester) -> None:
    pytester.makeini(
        "[pytest]\nkafka_config =\n    num.partitions=3\n    group.max.size=7\nkafka_topics =\n    shared:2\n"
    )
    pytester.makepyfile("""
        import pytest

        pytestmark = pytest.mark.kafka(topics={"orders": 6}, config={"group.max.size": 9})

        @pytest.mark.kafka(topics={"more": 1})
        class TestMarked:
            def test_function_over_class_over_module_over_settings(self, kafka, kafka_emulator):
                assert kafka is kafka_emulator
                assert [len(kafka.end_offsets(name)) for name in ("shared", "orders", "more")] == [2, 6, 1]
                assert kafka.configs.get_int("group.max.size") == 9
                assert kafka.configs.get_int("num.partitions") == 3

        def test_each_test_has_its_own(kafka):
            with pytest.raises(Exception, match="no topic 'more'"):
                kafka.end_offsets("more")

        def test_factory(kafka_factory):
            one, two = kafka_factory(topics=["a"]), kafka_factory(brokers=2)
            assert one.bootstrap_servers != two.bootstrap_servers
            assert len(two.bootstrap_servers.split(",")) == 2

        def test_session_is_emptied(session_kafka):
            session_kafka.create_topic("left", 1)
            session_kafka.group("g").commit({("left", 0): 1})

        def test_session_is_empty(session_kafka):
            assert session_kafka.groups() == []
            session_kafka.create_topic("left", 1)
    """)
    _run(pytester).assert_outcomes(passed=5)


def test_fixtures_of_broader_scopes_use_the_broker_of_the_run(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import pytest

        @pytest.fixture(scope="session")
        def orders(session_kafka):
            session_kafka.create_topic("orders", 2)
            session_kafka.produce("orders", [b"coffee"])
            return session_kafka

        @pytest.fixture(scope="module", autouse=True)
        def of_the_module(session_kafka):
            session_kafka.create_topic("of-the-module", 1)

        @pytest.mark.parametrize("number", range(2))
        def test_both(orders, number):
            assert orders.topics() == {"orders": 2, "of-the-module": 1}
            assert orders.groups() == []
            assert sum(orders.end_offsets("orders").values()) == 1
            orders.create_topic("of-the-test", 1)
            orders.group("g").commit({("orders", 0): 1})

        def test_charged(orders):
            orders.fail("Fetch", "NOT_LEADER_OR_FOLLOWER")

        class TestUnittest:
            def test_not_charged(self, request):
                assert request.getfixturevalue("orders").faults() == []
    """)
    result = _run(pytester)
    result.assert_outcomes(passed=4, errors=1)
    result.stdout.fnmatch_lines(
        ["*ERROR at teardown of test_charged*", "no request met this fault*"]
    )


def test_groups_of_the_consumer_protocol_may_have_short_times_too(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile("""
        import pytest

        @pytest.mark.kafka(config={"group.consumer.heartbeat.interval.ms": 10, "group.consumer.session.timeout.ms": 100})
        def test_short(kafka):
            assert kafka.configs.get_int("group.consumer.heartbeat.interval.ms") == 10

        def test_otherwise_as_kafka_has_them(kafka):
            assert kafka.configs.get_int("group.consumer.heartbeat.interval.ms") == 5_000
            assert kafka.configs.get_int("group.consumer.session.timeout.ms") == 45_000
            assert kafka.configs.get_int("group.consumer.assignment.interval.ms") == 0

        @pytest.mark.kafka(config={"group.consumer.assignment.interval.ms": 1_000})
        def test_as_told(kafka):
            assert kafka.configs.get_int("group.consumer.assignment.interval.ms") == 1_000
    """)
    _run(pytester).assert_outcomes(passed=3)


def test_a_broker_of_an_older_release_has_the_short_times_that_it_knows(
    pytester: pytest.Pytester,
) -> None:
    """Before 4.3 there is no interval between assignments to be set."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.kafka(kafka_version="4.0")
        def test_old(kafka):
            assert str(kafka.configs.release) == "4.0.2"
            assert kafka.configs.get_int("group.min.session.timeout.ms") == 100
        """
    )
    _run(pytester).assert_outcomes(passed=1)


def test_modules_that_threads_import_are_not_parsed_by_pytest(pytester: pytest.Pytester) -> None:
    """Two threads that parse at once break CPython 3.11. Ready tests keep their detailed
    assertions."""
    pytester.makepyfile("""
        import coordinator.members.classic.joining
        import coordinator.kit.ready_tests.cases

        def loader(module):
            return type(module.__spec__.loader).__name__

        def test_loaders():
            assert loader(coordinator.members.classic.joining) == "SourceFileLoader"
            assert loader(coordinator.kit.ready_tests.cases) == "AssertionRewritingHook"
    """)
    _run(pytester).assert_outcomes(passed=1)


def test_what_was_awaited_and_does_not_wait_is_told(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import pytest

        @pytest.mark.asyncio
        async def test_it(akafka):
            await akafka.create_topic("orders", 2)
    """)
    result = _run(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*Only what waits is awaited: wait, wait_for, wait_hit, advance, and what peers do.*"]
    )


def test_a_failed_test_tells_what_its_groups_did(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        def test_it(kafka):
            kafka.create_topic("orders", 2)
            with kafka.peer("billing", topics=["orders"]) as peer:
                peer.wait_stable()
                kafka.group("billing").wait(members=2, timeout=0.05)
    """)
    result = _run(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*WaitTimeoutError: group 'billing' did not reach members=2 within 0.05 s: it has 1 member, not 2.",
            "*Seen: group 'billing' is Stable in generation 1 with 1 member: consumer-billing-1-* has orders 0-1.",
            "*Kafka groups*",
            "*Generation 1 began because *",
            "*Last request of each member:*",
        ]
    )


def test_a_fault_that_no_request_met_fails_its_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        def test_missed(kafka):
            kafka.create_topic("orders", 1)
            kafka.fail("Fetch", "NOT_LEADER_OR_FOLLOWER", topic="orders")

        def test_may_miss(kafka):
            kafka.fail("Fetch", "NOT_LEADER_OR_FOLLOWER", may_miss=True)

        def test_observed(kafka):
            assert kafka.observe("Fetch").hits == 0
    """)
    result = _run(pytester)
    result.assert_outcomes(passed=3, errors=1)
    result.stdout.fnmatch_lines(
        ["*no request met this fault*", "*Fetch of topic orders: fail with NOT_LEADER_OR_FOLLOWER*"]
    )


def test_nothing_is_loaded_before_a_fixture_is_asked_for(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import sys

        def test_without():
            loaded = {name for name in sys.modules if name.startswith("coordinator.")}
            names = ("plugin", "forgotten_awaits", "lacking_table", "own_loop", "plain_imports")
            known = {f"coordinator.testing.{name}" for name in names}
            known |= {"coordinator.testing", "coordinator.base.version", "coordinator.base.forgotten_awaits"}
            assert loaded <= {"coordinator.base"} | known
    """)
    _run(pytester, "-p", "no:asyncio", "-p", "no:anyio", "-p", "no:cov").assert_outcomes(passed=1)


_ASYNCHRONOUS = """
    import asyncio
    import threading
    import pytest

    @FIXTURE
    async def peer(akafka):
        akafka.create_topic("orders", 2)
        async with akafka.group("g").peer(["orders"]) as running:
            yield running

    @MARK
    async def test_it_runs_on_the_loop_of_the_test(akafka, peer):
        assert akafka.run(asyncio.get_running_loop) is asyncio.get_running_loop()
        assert akafka.run(threading.get_ident) == threading.get_ident()
        group = akafka.group("g")
        seen = await group.wait(state="Stable", members=1, assigned="all")
        assert seen.members[0].assignment == (("orders", 0), ("orders", 1))
        with pytest.raises(AssertionError, match="did not reach members=3 within 0.05 s"):
            await group.wait(members=3, timeout=0.05)
        mark = akafka.mark()
        heartbeat = akafka.observe("Heartbeat", group="g")
        await heartbeat.wait_hit()
        peer.pause()
        fell = await akafka.advance(seconds=45, grace=0.01)
        assert "MemberRemoved" in [line["type"] for line in fell]
        await akafka.wait_for("MemberRemoved", group="g", since=mark)
        with pytest.raises(AssertionError, match="did not come within 0.05 s"):
            await akafka.wait_for("MemberRemoved", group="other", timeout=0.05)
        with pytest.raises(Exception, match="await the same of coordinator.testing.asynchronous.AsyncKafka"):
            akafka._kafka.group("g").wait(members=7)
"""


@pytest.mark.parametrize(
    ("settings", "mark", "fixture"),
    [
        ("asyncio_mode = strict", "pytest.mark.asyncio", "__import__('pytest_asyncio').fixture"),
        (
            "asyncio_mode = strict",
            "pytest.mark.asyncio(loop_scope='module')",
            "__import__('pytest_asyncio').fixture(loop_scope='module')",
        ),
        ("asyncio_mode = auto", "staticmethod", "pytest.fixture"),
        ("asyncio_mode = strict", "pytest.mark.anyio", "pytest.fixture"),
    ],
    ids=["asyncio strict", "asyncio strict, a loop of the module", "asyncio auto", "anyio"],
)
def test_asynchronous_tests(
    pytester: pytest.Pytester, settings: str, mark: str, fixture: str
) -> None:
    pytester.makeini(f"[pytest]\n{settings}\nasyncio_default_fixture_loop_scope = function\n")
    pytester.makepyfile(
        _ASYNCHRONOUS.replace("MARK", mark)
        .replace("FIXTURE", fixture)
        .replace("    @staticmethod\n", "")
    )
    _run(pytester).assert_outcomes(passed=1)


def test_a_test_without_an_asynchronous_plugin_runs_its_own_loop(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import asyncio

        def test_it(akafka):
            async def body():
                assert (await akafka.group("g").wait(state="Dead")).state == "Dead"

            asyncio.run(body())
    """)
    _run(pytester, "-p", "no:asyncio", "-p", "no:anyio").assert_outcomes(passed=1)


def test_anyio_on_another_backend_is_told(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import pytest

        @pytest.fixture
        def anyio_backend():
            return "trio"

        @pytest.mark.anyio
        async def test_it(akafka):
            pass
    """)
    result = _run(pytester)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "*akafka runs on asyncio, this test on trio: let its fixture anyio_backend return 'asyncio'*"
        ]
    )


def test_a_wrong_marker_says_so(pytester: pytest.Pytester) -> None:
    wrong = {
        '"orders"': "*the marker kafka takes names*",
        "topcs={}": "*marker or factory kafka: 'topcs' is no option; did you mean topics*",
        "partitions=3": "*'partitions' is no option; there are topics, config, *",
        "config=['a']": "*config=*'a'*: give Kafka's names and values, such as*",
        "brokers='3'": "*brokers='3': give 1 to 100*",
        "brokers=3, racks='abc'": "*racks='abc': give a list with a name for each*",
        "config={'group.max.sise': 3}": "*did you mean group.max.size*",
        "topics={'orders': -1}": "*topic orders: -1 partitions; from 1 to*",
    }
    tests = [
        f"@pytest.mark.kafka({marker})\ndef test_{number}(kafka): pass"
        for number, marker in enumerate(wrong)
    ]
    pytester.makepyfile("\n".join(["import pytest", *tests]))
    result = _run(pytester)
    result.assert_outcomes(errors=len(wrong))
    result.stdout.fnmatch_lines(list(wrong.values()))


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (
            "--kafka-log-dir=taken",
            "*--kafka-log-dir taken: no directory can be made there: File exists*",
        ),
        (
            "--override-ini=kafka_topics=orders:x",
            "*kafka_topics: 'orders:x': write name or name:partitions, such as orders:12*",
        ),
        ("--override-ini=kafka_topics=:3", "*topic '': a n*"),
        ("--override-ini=kafka_config=nonsense", "*kafka_config: 'nonsense' is no*"),
        (
            "--override-ini=kafka_config=group.max.size=many",
            "*group.max.size=many: Invalid value many*",
        ),
    ],
)
def test_a_wrong_option_says_so(pytester: pytest.Pytester, option: str, said: str) -> None:
    pytester.makepyfile("def test_it(kafka): pass")
    (pytester.path / "taken").write_text("a file")
    result = _run(pytester, option)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([said])


def test_logs_are_kept_on_request(pytester: pytest.Pytester, tmp_path: Path) -> None:
    pytester.makepyfile(
        'def test_it(kafka):\n    kafka.create_topic("orders")\n    assert "orders" in str(kafka.events("TopicCreated"))'
    )
    _run(pytester, "--kafka-log-dir", str(tmp_path / "logs")).assert_outcomes(passed=1)
    (log,) = (tmp_path / "logs").glob("*.jsonl")
    assert '"TopicCreated"' in log.read_text()


def test_workers_of_xdist_have_brokers_and_logs_of_their_own(
    pytester: pytest.Pytester, tmp_path: Path
) -> None:
    pytester.makepyfile("""
        import os
        import pytest

        @pytest.mark.parametrize("number", range(6))
        def test_it(kafka, session_kafka, number, record_property):
            for each in (kafka, session_kafka):
                each.create_topic("orders", number + 1)
                assert each.topics() == {"orders": number + 1}
            with kafka.peer("billing", topics=["orders"]) as peer:
                peer.wait_stable()
                assert kafka.groups() == ["billing"]
                assert session_kafka.groups() == []
            record_property("port", kafka.bootstrap_servers)
            record_property("worker", os.environ["PYTEST_XDIST_WORKER"])
    """)
    logs, results = tmp_path / "logs", tmp_path / "results.xml"
    result = pytester.runpytest_subprocess(
        *PLAIN,
        "-W",
        "ignore",
        "-n",
        "2",
        "--dist",
        "each",
        "--kafka-log-dir",
        str(logs),
        f"--junitxml={results}",
        timeout=120,
    )
    result.assert_outcomes(passed=12)
    assert (
        results.read_text().count('name="worker" value="gw0"')
        == results.read_text().count('name="worker" value="gw1"')
        == 6
    )
    assert len(list(logs.glob("*.jsonl"))) == 2 * 6 + 2, (
        "each test's own, and each worker's session broker"
    )
    assert all('"TopicCreated"' in log.read_text() for log in logs.glob("*.jsonl"))


def test_topics_that_were_made_by_asking_are_named(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        def test_it(kafka):
            kafka.create_topic("orders", 1)
            mark = kafka.mark()
            for group in ("one", "two"):
                with kafka.peer(group, topics=["orders", "odrers"]) as peer:
                    peer.wait_stable(members=1)
                    kafka.group(group).wait(assigned="all")
            (line,) = kafka.events("TopicAutoCreated")
            assert (line["topic"], line["client"]) == ("odrers", "peers")
            (created,) = kafka.events("TopicCreated", topic="odrers")
            assert created["cause"] == line["cause"]
    """)
    result = pytester.runpytest_subprocess(*PLAIN, "-p", "no:xdist", timeout=120)
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(
        [
            "*AutoCreatedTopicWarning: topic 'odrers' was made because the client 'peers' asked about it: *"
        ]
    )


def test_the_first_run_prints_no_note_of_another_plugin(pytester: pytest.Pytester) -> None:
    """pytest-asyncio warns of a setting that a fresh project has not made."""
    pytester.makepyfile("def test_it(kafka): kafka.create_topic('orders', 1)")
    result = pytester.runpytest_subprocess(*PLAIN, "-p", "no:xdist", timeout=60)
    result.assert_outcomes(passed=1)
    assert "is unset" not in result.stderr.str() + result.stdout.str()
