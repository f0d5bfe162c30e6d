"""Plays many scenarios at once, each on its own names, and gives a future for each transcript.

Scenarios mostly wait, so far more are under way than there are processors. Those that ask for it
are played alone: at a time when no other part of the same address is under way. Those that wait
long begin first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Thread
from typing import NamedTuple

from integration_tests.wire.codec import TableCodec
from integration_tests.wire.raw import Codec
from integration_tests.wire.recorder import Scenario, Step, play

AT_ONCE = 12
"""How many short scenarios are under way at once."""


class Part(NamedTuple):
    """One scenario to be played at one address under one mark."""

    scenario: Scenario
    address: str
    nonce: str


def _plain(_: Part) -> Codec:
    return TableCodec()


def play_together(
    parts: Iterable[Part], at_once: int = AT_ONCE, codec_of: Callable[[Part], Codec] = _plain
) -> dict[Part, Future[list[Step]]]:
    """Begin to play all parts; each future ends within the time limits of its scenario and of those
    before it. `codec_of` makes the codec of a part."""
    queue = sorted(parts, key=lambda part: -part.scenario.lasts_s)
    futures: dict[Part, Future[list[Step]]] = {part: Future() for part in queue}
    Thread(
        target=_play_all, args=(futures, at_once, codec_of), name="scenarios", daemon=True
    ).start()
    return futures


def _play_all(
    futures: dict[Part, Future[list[Step]]], at_once: int, codec_of: Callable[[Part], Codec]
) -> None:
    """Long ones on threads of their own, short ones in a pool, and at the end the lonely ones in
    turn."""
    long = [part for part in futures if part.scenario.lasts_s and not part.scenario.alone]
    short = [part for part in futures if not part.scenario.lasts_s and not part.scenario.alone]
    with ThreadPoolExecutor(max(len(long), 1)) as waiters, ThreadPoolExecutor(at_once) as players:
        begun = [waiters.submit(_play, part, futures[part], codec_of(part)) for part in long]
        begun += [players.submit(_play, part, futures[part], codec_of(part)) for part in short]
        wait(begun)
    for part, future in futures.items():
        if part.scenario.alone:
            _play(part, future, codec_of(part))


def _play(part: Part, future: Future[list[Step]], codec: Codec) -> None:
    try:
        future.set_result(play(part.scenario, part.address, codec, part.nonce))
    except BaseException as failure:
        future.set_exception(failure)
        raise
