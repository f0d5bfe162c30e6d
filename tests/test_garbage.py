from __future__ import annotations

import gc
import weakref

import pytest

from .garbage import what_is_made_here_stays


class _Circle:
    def __init__(self) -> None:
        self.itself = self


def test_what_a_run_has_collected_is_looked_at_no_more(request: pytest.FixtureRequest) -> None:
    """The items of this run, and so all that they hold."""
    assert gc.isenabled()
    assert gc.get_freeze_count() > 0
    assert not any(each is request.session.items for each in gc.get_objects())


def test_garbage_is_taken_away_first_and_later_too() -> None:
    with what_is_made_here_stays():
        within = weakref.ref(_Circle())
        assert not gc.isenabled()
    assert within() is None
    later = weakref.ref(_Circle())
    gc.collect()
    assert later() is None


def test_the_collector_comes_back_after_a_failure() -> None:
    with pytest.raises(KeyError), what_is_made_here_stays():
        raise KeyError
    assert gc.isenabled()
