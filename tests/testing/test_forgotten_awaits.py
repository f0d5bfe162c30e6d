"""A forgotten `await` of the asynchronous kit fails the test, with the call and its line; nothing
else does."""

from __future__ import annotations

import pytest

from tests.inner_pytest import PLAIN

pytest_plugins = ["pytester"]

_OPTIONS = (*PLAIN, "-p", "no:xdist", "-p", "no:anyio")


def _run(pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    return pytester.runpytest_subprocess(
        *_OPTIONS, "-o", "asyncio_mode=auto", *options, timeout=120
    )


_FORGETFUL = {
    "AsyncGroup.wait": "akafka.group('g').wait(members=0)",
    "AsyncShareGroup.wait": "akafka.share_group('g').wait(members=0)",
    "AsyncKafka.wait_for": "waiting = akafka.wait_for('TopicCreated')",
    "AsyncKafka.advance": "akafka.advance(seconds=1)",
    "AsyncFault.wait_hit": "akafka.observe('Fetch').wait_hit()",
    "LoopKit.produce_when_ready": "akafka.produce_when_ready('orders', ['a'])",
    "TopicKit.create_topic": "akafka.awaited.create_topic('more')",
    "PeerHandle.stable": "akafka.peer('g', ['orders']).stable()",
    "SharePeerHandle.left": "akafka.share_peer('s', ['orders']).left()",
}


@pytest.mark.parametrize("strict", [False, True], ids=["warnings", "warnings are errors"])
def test_a_forgotten_await_is_named(pytester: pytest.Pytester, strict: bool) -> None:
    head = "import pytest\npytestmark = pytest.mark.kafka(topics=['orders'])\n"
    tests = [
        f"async def test_{number}(akafka):\n    {line}\n"
        for number, line in enumerate(_FORGETFUL.values())
    ]
    pytester.makepyfile(head + "".join(tests))
    result = _run(pytester, *(["-W", "error"] if strict else []))
    result.assert_outcomes(failed=len(_FORGETFUL))
    for number, (name, line) in enumerate(_FORGETFUL.items()):
        told = f"*.py:{2 * number + 4}: {name}() was not awaited, so nothing was waited for: write await before it"
        result.stdout.fnmatch_lines([told, f"    {line}".replace("[", "[[]")])
    result.stdout.no_fnmatch_line("*never awaited*")


def test_what_is_awaited_in_any_way_passes(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import asyncio
        import pytest

        pytestmark = pytest.mark.kafka(topics=["orders"])

        async def test_later(akafka):
            waiting = akafka.group("g").wait(members=0)
            await asyncio.sleep(0)
            await waiting

        async def test_together(akafka):
            async with asyncio.timeout(30):
                await asyncio.gather(
                    akafka.group("g").wait(members=0), akafka.group("h").wait(members=0))

        async def test_in_a_task_that_has_not_begun(akafka):
            asyncio.create_task(akafka.group("g").wait(members=0))

        async def test_in_a_task_that_is_cancelled(akafka):
            task = asyncio.create_task(akafka.wait_for("TopicDeleted"))
            await asyncio.sleep(0)
            task.cancel()

        async def test_peers(akafka):
            async with akafka.peer("g", ["orders"]) as peer:
                await peer.stable()

        @pytest.fixture
        async def waits(akafka):
            waiting = akafka.group("g").wait(members=0)
            yield
            await waiting

        async def test_what_a_fixture_awaits_in_the_end(waits):
            pass
    """)
    _run(pytester, "-W", "error").assert_outcomes(passed=6)


def test_fixtures_are_looked_at_when_they_have_ended(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import pytest

        @pytest.fixture
        async def forgets(akafka):
            yield
            akafka.group("g").wait(members=0)

        async def test_it(forgets):
            pass

        async def test_next(akafka):
            await akafka.group("g").wait(members=0)
    """)
    result = _run(pytester)
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*.py:6: AsyncGroup.wait() was not awaited, *"])


def test_a_test_of_a_thread_and_virtual_time_are_watched_too(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import asyncio
        from coordinator.testing.virtual import virtual_kafka

        def test_virtual():
            async def run():
                async with virtual_kafka({"orders": 1}) as kafka:
                    kafka.until(lambda: True)
            asyncio.run(run())
    """)
    result = _run(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*.py:7: VirtualKafka.until() was not awaited, *"])


def test_coroutines_of_the_test_itself_are_its_own_affair(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        async def mine(): ...

        async def test_it(akafka):
            mine()
    """)
    result = _run(pytester)
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*coroutine 'mine' was never awaited*"])


def test_the_failure_of_the_test_itself_comes_first(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        async def test_it(akafka):
            akafka.group("g").wait(members=0)
            assert akafka is None
    """)
    result = _run(pytester)
    result.assert_outcomes(failed=1, warnings=1)
    result.stdout.fnmatch_lines(["*assert akafka is None*"])
    result.stdout.no_fnmatch_line("*was not awaited*")
