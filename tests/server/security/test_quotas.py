"""Rates over windows and buckets of tokens, as Kafka's metrics compute them (QUO-2, QUO-4)."""

from __future__ import annotations

from coordinator.server.security.quotas import Rate, TokenBucket, Windows

WINDOWS = Windows()


def test_a_first_burst_counts_over_all_but_the_unfinished_window() -> None:
    """QUO-2: the numbers of a real broker."""
    for size, waits in ((12_121, 2_121), (20_122, 10_122), (10_000, 0), (10_001, 1)):
        rate = Rate(WINDOWS)
        rate.record(size, 50)
        assert rate.throttle_ms(1_000, 50) == waits


def test_windows_that_are_over_replace_those_that_were_missing() -> None:
    """A rate is over ten windows and what is over of the unfinished one, also while there are not
    so many."""
    rate = Rate(WINDOWS)
    rate.record(15_000, 0)
    assert [rate.throttle_ms(1_000, now) for now in (0, 1, 999, 1_000, 5_000, 10_000)] == [
        5_000,
        4_999,
        4_001,
        5_000,
        5_000,
        5_000,
    ]
    assert rate.throttle_ms(1_000, 10_999) == 4_001
    assert rate.throttle_ms(1_000, 11_000) == 0


def test_windows_are_forgotten_when_all_have_passed_since_their_last_use() -> None:
    rate = Rate(WINDOWS)
    rate.record(15_000, 0)
    rate.record(0, 999)
    assert not rate.is_over(11_998)
    assert rate.throttle_ms(1_000, 11_998) == 3_002
    assert rate.is_over(11_999)
    assert rate.throttle_ms(1, 11_999) == 0


def test_a_window_takes_what_comes_within_it_and_twelve_are_kept() -> None:
    """Eleven that count, and the unfinished one."""
    rate = Rate(WINDOWS)
    for second in range(30):
        rate.record(600, second * 1_000)
        rate.record(600, second * 1_000 + 999)
    assert len(rate._samples) == 12
    assert rate.throttle_ms(1_201, 29_999) == 0
    assert rate.throttle_ms(1_200, 29_999) == 1  # 13,200 in 10.999 s


def test_what_is_taken_back_does_not_count() -> None:
    rate = Rate(WINDOWS)
    rate.record(20_000, 0)
    rate.record(-20_000, 0)
    rate.record(10_000, 0)
    assert rate.throttle_ms(1_000, 0) == 0


def test_a_bucket_gives_its_last_token_to_any_number() -> None:
    """QUO-4: full at first, with what all windows hold."""
    bucket = TokenBucket(WINDOWS)
    assert bucket.throttle_ms(2, 0) == 0
    bucket.take(24, 2, 0)
    assert bucket.throttle_ms(2, 0) == 1_000
    assert bucket.throttle_ms(2, 999) == 1
    assert bucket.throttle_ms(2, 1_000) == 0


def test_a_bucket_is_never_fuller_than_full() -> None:
    bucket = TokenBucket(WINDOWS)
    bucket.take(1, 1, 1_000_000)
    assert not bucket.is_over(1_010_999)
    assert bucket.is_over(1_011_000)
    bucket.take(12, 1, 1_020_000)
    assert bucket.throttle_ms(1, 1_020_000) == 1_000
    assert not bucket.is_over(1_040_000)  # in debt, however long ago
