"""Draws depend on their own key only, and have the distributions that they name."""

from __future__ import annotations

import subprocess
import sys

from coordinator.lab.simulator.chance import Draws, KeyedRandom


def test_a_sequence_depends_on_seed_purpose_and_who_only() -> None:
    first = Draws(7, "delay", "app-1>1")
    alone = [first.bits() for _ in range(5)]
    again, other = Draws(7, "delay", "app-1>1"), Draws(7, "delay", "app-2>1")
    mixed = []
    for _ in range(5):
        other.bits()
        mixed.append(again.bits())
    assert mixed == alone
    assert (
        len(
            {
                Draws(seed, purpose, who).bits()
                for seed in (1, 2)
                for purpose in "ab"
                for who in "xy"
            }
        )
        == 8
    )


def test_draws_are_the_same_on_every_machine() -> None:
    draws = Draws(1, "a", "b")
    assert [draws.between(0, 999) for _ in range(4)] == [861, 194, 204, 408]
    assert draws.between(3, 3) == 3


def test_an_exponential_draw_has_the_mean_that_was_asked_for() -> None:
    draws = Draws(3, "poisson", "x")
    many = [draws.exponential_ms(10_000) for _ in range(4_000)]
    assert 9_500 < sum(many) / len(many) < 10_500
    assert 0.35 < sum(each > 10_000 for each in many) / len(many) < 0.39  # 1/e


def test_brokers_draw_through_the_same_sequences() -> None:
    one, other = KeyedRandom(5, "ids", "brokers"), KeyedRandom(5, "ids", "brokers")
    assert [one.getrandbits(128), one.random()] == [other.getrandbits(128), other.random()]
    assert all(0 <= one.getrandbits(3) < 8 for _ in range(50))
    assert sorted(one.sample(range(10), 10)) == list(range(10))


def test_one_seed_gives_one_log_whatever_the_hash_seed() -> None:
    code = (
        "import sys\nfrom coordinator.lab.simulator.files import catalogue\n"
        "from coordinator.lab.simulator.files.scenario import read_scenario\n"
        "from coordinator.lab.simulator.run import run_scenario; from coordinator.events import EventLog\n"
        "log = EventLog(seed=7); run_scenario(read_scenario(catalogue.text('crash_loop'), 'x'), 7, log)\n"
        "sys.stdout.write('\\n'.join(log.lines))"
    )
    logs = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            check=True,
            env={"PYTHONHASHSEED": hash_seed},
        ).stdout
        for hash_seed in ("1", "2")
    ]
    assert logs[0] == logs[1]
    assert logs[0].count(b"\n") > 100
