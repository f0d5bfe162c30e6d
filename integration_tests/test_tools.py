"""Kafka's own command-line tools say the same of the emulator as of a real broker.

Each story runs on the emulator and is compared with the transcript kept of Kafka 4.4.0
(`golden/tools`, made by `python -m integration_tests.tools.record`). It is compared with what a
real broker says now, too, where there is one: in `make test` one story of each file, in `make fuzz`
the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from coordinator import Emulator
from integration_tests.conftest import REQUIRED
from integration_tests.gate import first_of_each_file, on_a_real_broker
from integration_tests.targets import Target
from integration_tests.tools.divergences import DIVERGENCES
from integration_tests.tools.record import JVMS, expected, load, play_story, recorded
from integration_tests.tools.registry import all_stories
from integration_tests.tools.runner import HUNG, ToolJvm, ToolJvms, tool_jvms
from integration_tests.tools.transcript import difference
from integration_tests.wire.codec import TableCodec
from integration_tests.wire.recorder import await_coordinator
from tools.kafka_jars import NoJavaError

STORIES = all_stories()
Played = dict[str, Future[list[str]]]


@pytest.fixture(scope="session")
def jvms() -> Iterator[ToolJvms]:
    """The JVMs that run the tools."""
    try:
        running = tool_jvms(JVMS)
        with running as ready:
            yield ready
    except NoJavaError as missing:
        if REQUIRED:
            pytest.fail(f"Kafka's tools cannot be run: {missing}", pytrace=False)
        pytest.skip(f"Kafka's tools cannot be run: {missing}")


@pytest.fixture(scope="session")
def pool() -> Iterator[ThreadPoolExecutor]:
    """Where stories are played, two for each JVM: while a tool of one runs, the other sets its
    stage."""
    with ThreadPoolExecutor(2 * JVMS) as threads:
        yield threads


@pytest.fixture(scope="session")
def on_emulator(
    request: pytest.FixtureRequest, emulator: Target, jvms: ToolJvms, pool: ThreadPoolExecutor
) -> Played:
    """All stories that any test asks for, on their way on the emulator."""
    return _played(request, emulator.address, jvms, pool, "on_emulator")


@pytest.fixture(scope="session")
def on_kafka(
    request: pytest.FixtureRequest, kafka: Target, jvms: ToolJvms, pool: ThreadPoolExecutor
) -> Played:
    """The same on a real broker."""
    profiles = {story.profile for story in STORIES.values()}
    kafka.begin(profiles)
    for profile in profiles:
        await_coordinator(kafka.address(profile), TableCodec())
    return _played(request, kafka.address, jvms, pool, "on_kafka")


def _played(
    request: pytest.FixtureRequest,
    address: Callable[[str], str],
    jvms: ToolJvms,
    pool: ThreadPoolExecutor,
    asked_by: str,
) -> Played:
    wanted = {
        str(item.callspec.params["name"])
        for item in request.session.items
        if isinstance(item, pytest.Function)
        and item.module.__name__ == __name__
        and asked_by in item.fixturenames
    }
    stories = [STORIES[name] for name in sorted(wanted)]
    return {
        story.name: pool.submit(play_story, story, address(story.profile), jvms)
        for story in stories
    }


def _judge(kafka: list[str], ours: list[str]) -> None:
    found = difference(kafka, ours)
    if found is not None:
        asked, theirs, mine = found
        pytest.fail(f"after {asked}\nKafka    {theirs}\nemulator {mine}", pytrace=False)


def test_every_story_is_recorded_and_every_record_has_its_story() -> None:
    assert recorded() == set(STORIES)


def test_divergences_are_of_stories_and_of_lines_that_kafka_says() -> None:
    for name, divergence in DIVERGENCES.items():
        assert divergence.instead.keys() <= set(load(name)), name


@pytest.mark.parametrize("name", sorted(STORIES))
def test_tools_say_of_the_emulator_what_they_said_of_kafka(name: str, on_emulator: Played) -> None:
    _judge(expected(name, load(name)), on_emulator[name].result())


@pytest.mark.parametrize("name", on_a_real_broker(sorted(STORIES), first_of_each_file(STORIES)))
def test_tools_say_of_the_emulator_what_they_say_of_a_real_broker(
    name: str, on_kafka: Played, on_emulator: Played
) -> None:
    _judge(expected(name, on_kafka[name].result()), on_emulator[name].result())


def test_a_planted_difference_is_found(jvms: ToolJvms) -> None:
    story = STORIES["topics.made_with_defaults"]
    with Emulator(config={"message.max.bytes": "2000"}) as other:
        found = difference(load(story.name), play_story(story, other.bootstrap_servers, jvms))
    assert found is not None
    assert "max.message.bytes=2000" in str(found[2])


def test_a_tool_that_hangs_is_reported_and_the_next_one_runs(
    emulator: Target, jvms: ToolJvms
) -> None:
    assert jvms is not None  # there is Java
    at = ["--bootstrap-server", emulator.address("plain")]
    jvm = ToolJvm()
    try:
        done = jvm.run(
            "kafka-console-consumer", [*at, "--topic", "__consumer_offsets"], patience_s=2
        )
        assert done == (HUNG, "", "did not end within 2 s")
        assert (
            jvm.run("kafka-consumer-groups", ["--validate-regex", "a"]).output
            == "The regular expression `a` is valid.\n"
        )
    finally:
        jvm.close()
