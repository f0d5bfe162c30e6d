"""Random numbers from one seed: each draw depends on the seed, a purpose, whom the draw is for, and
the number of draws before it, and on nothing else.

So a member that is left out, or another setting, changes no other draw, and two variants of a
scenario see the same churn. Draws are made of integer bits by the code here, so they are the
same with every Python and on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2s
from random import Random
from typing import Any, Final, TypeVar

T = TypeVar("T")

_LN2: Final = 2_977_044_472  # ln 2, in units of 2**-32
_FRACTION_BITS: Final = 16


class Draws:
    """The draws of one purpose for one client or other party, in order."""

    __slots__ = ("_counter", "_keyed")

    def __init__(self, seed: int, purpose: str, who: str) -> None:
        self._keyed = blake2s(f"{seed}\0{purpose}\0{who}\0".encode(), digest_size=8)
        self._counter = 0

    def bits(self) -> int:
        """64 random bits."""
        number = self._counter
        self._counter = number + 1
        return self._bits_at(number)

    def _bits_at(self, number: int) -> int:
        keyed = self._keyed.copy()
        keyed.update(number.to_bytes(8, "big"))
        return int.from_bytes(keyed.digest(), "big")

    def skip(self, count: int) -> None:
        """Skip so many draws, as if they had been made."""
        self._counter += count

    def between(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, both included."""
        number = self._counter
        self._counter = number + 1
        keyed = self._keyed.copy()
        keyed.update(number.to_bytes(8, "big"))
        return low + (int.from_bytes(keyed.digest(), "big") * (high - low + 1) >> 64)

    def between_after(self, count: int, low: int, high: int) -> int:
        """Return the value that `between` would return after so many other draws, without
        drawing."""
        keyed = self._keyed.copy()
        keyed.update((self._counter + count).to_bytes(8, "big"))
        return low + (int.from_bytes(keyed.digest(), "big") * (high - low + 1) >> 64)

    def unit(self) -> float:
        """Return a number from 0 on, below 1; a quotient of two integers that floats represent
        exactly."""
        return (self.bits() >> 11) / (1 << 53)

    def choice(self, options: Sequence[T]) -> T:
        """Return one of the options."""
        return options[self.between(0, len(options) - 1)]

    def exponential_ms(self, mean_ms: int) -> int:
        """Return the time in ms between two events of a Poisson process, at least 1 ms."""
        return max(1, mean_ms * _minus_log2(self.bits() >> 32 or 1) * _LN2 >> _FRACTION_BITS + 32)


def _minus_log2(bits: int) -> int:
    """Return -log2(bits / 2**32) in units of 2**-16, by repeated squaring."""
    whole = bits.bit_length() - 1
    mantissa = bits << (62 - whole)  # from 2**62 on, below 2**63
    fraction = 0
    for _ in range(_FRACTION_BITS):
        mantissa = mantissa * mantissa >> 62
        fraction <<= 1
        if mantissa >> 63:
            fraction |= 1
            mantissa >>= 1
    return (32 << _FRACTION_BITS) - ((whole << _FRACTION_BITS) | fraction)


class KeyedRandom(Random):
    """The source of brokers' ids and placements: the interface of Python's `Random` over
    `Draws`."""

    def __init__(self, seed: int, purpose: str, who: str) -> None:
        self._draws = Draws(seed, purpose, who)
        super().__init__()

    def seed(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing: the seed is fixed."""

    def random(self) -> float:
        return self._draws.unit()

    def getrandbits(self, k: int, /) -> int:
        value = 0
        for _ in range(-(-k // 64)):
            value = value << 64 | self._draws.bits()
        return value >> -k % 64
