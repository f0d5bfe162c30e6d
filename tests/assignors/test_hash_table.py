"""Tables and their trees, held against java.util.HashMap itself: random puts and removals into few,
and so deep, buckets (HM-1..HM-5)."""

from __future__ import annotations

import random
from itertools import product

import pytest

from assignors.java_hash_table import HashTable, order_of_puts
from assignors.java_hashing import copy_capacity, int_hash, string_hash
from assignors.java_tree_bin import TreeBin
from tests.java_jars import NoJavaError, java_program

Operation = tuple[str, int | str]
SAME_HASH = ["".join(parts) for parts in product(("Aa", "BB"), repeat=6)]
"""64 texts with one hash code: their trees sort by compareTo."""


def test_the_ninth_key_of_a_bucket_makes_a_small_table_double() -> None:
    """HM-5: HashMap.treeifyBin doubles a table of 16."""
    table = HashTable(int_hash)
    for number in range(0, 8 * 16, 16):
        table.put(number)
    assert list(table) == list(range(0, 8 * 16, 16))
    table.put(8 * 16)
    assert list(table) == [0, 32, 64, 96, 128, 16, 48, 80, 112]


def test_the_keys_are_those_of_a_set() -> None:
    draw = random.Random(3)
    for _ in range(200):
        table, model = HashTable(int_hash), set()
        for _ in range(draw.randint(0, 200)):
            number = draw.choice((draw.randint(0, 99), 64 * draw.randint(0, 40)))
            if draw.random() < 0.3:
                table.discard(number)
                model.discard(number)
            else:
                table.put(number)
                model.add(number)
            assert (number in table) == (number in model)
        assert sorted(table) == sorted(model)
        assert len(table) == len(model)


def test_a_tree_that_gets_small_says_so() -> None:
    """TreeNode.removeTreeNode: how small depends on the shape of the tree, few keys are left."""
    for seed in range(50):
        draw = random.Random(seed)
        keys = draw.sample(range(1000), 12)
        tree = TreeBin(keys, int_hash)
        left = set(keys)
        alive = True
        while alive:
            gone = draw.choice(sorted(left))
            left.discard(gone)
            alive = tree.remove(gone)
            assert set(tree) == left
        assert 2 <= len(left) <= 10


@pytest.mark.parametrize("kind", ["shallow", "deep", "texts"])
def test_same_order_as_java(kind: str) -> None:
    """HM-1..HM-5: 400 random histories of each kind."""
    draw = random.Random(kind)
    histories = [(draw.choice((1, 2, 16, 16, 64, 300)), _history(draw, kind)) for _ in range(400)]
    try:
        with java_program("ServerAssignors") as java:
            theirs = java.ask(
                " ".join(["table", str(initial), *map(_word, history)])
                for initial, history in histories
            )
    except NoJavaError as missing:
        pytest.skip(str(missing))
    for (initial, history), answer in zip(histories, theirs, strict=True):
        assert _ours(initial, history) == answer, f"table {initial} {' '.join(map(_word, history))}"


def _history(draw: random.Random, kind: str) -> list[Operation]:
    stride = draw.choice((64, 128, 1024, 1 << 16))
    history: list[Operation] = []
    for _ in range(draw.choice((5, 20, 80, 300))):
        key: int | str
        match kind:
            case "shallow":
                key = draw.randint(0, 500)
            case "deep":
                key = stride * draw.randint(0, 150) + draw.choice((0, 0, 0, draw.randint(0, 3)))
            case _:
                key = draw.choice((draw.choice(SAME_HASH), f"t{draw.randint(0, 99)}"))
        history.append((draw.choice("++++---" if draw.random() < 0.5 else "+++-"), key))
    return history


def _word(operation: Operation) -> str:
    what, key = operation
    return f"{what}{'i' if isinstance(key, int) else 's'}{key}"


def _ours(initial: int, history: list[Operation]) -> str:
    table: HashTable[int | str] = HashTable(_hash, initial)
    for what, key in history:
        if what == "+":
            table.put(key)
        else:
            table.discard(key)
    return " ".join(map(str, [len(table), *table]))


def _hash(key: int | str) -> int:
    return int_hash(key) if isinstance(key, int) else string_hash(key)


@pytest.mark.parametrize("count", [0, 1, 11, 12, 13, 24, 25, 48, 49, 97, 1000])
def test_the_order_after_puts_is_that_of_a_table(count: int) -> None:
    """HM-2, HM-3: the capacity follows from the number of keys."""
    keys = [f"member-{number * 7919 % 100_003}" for number in range(count)]
    table = HashTable[str](string_hash)
    for key in keys:
        table.put(key)
    assert order_of_puts(keys, string_hash) == list(table)


@pytest.mark.parametrize("count", [8, 9, 10, 16, 40, 100])
def test_the_order_after_puts_into_deep_buckets(count: int) -> None:
    """HM-5: names of one hash code make small tables grow, and trees of the others."""
    pairs = ["Aa", "BB"]
    keys = ["".join(pairs[number >> bit & 1] for bit in range(7)) for number in range(count)]
    keys = [key for pair in zip(keys, map(str, range(count)), strict=True) for key in pair]
    table = HashTable[str](string_hash)
    for key in keys:
        table.put(key)
    assert order_of_puts(keys, string_hash) == list(table)


def test_a_copy_of_numbers_is_as_if_they_were_put_one_by_one() -> None:
    """HM-4, HM-5: also when its buckets get deep afterwards."""
    draw = random.Random(7)
    for _ in range(100):
        step = draw.choice((1, 1, 16, 64, 256))
        numbers = draw.sample([number * step for number in range(300)], draw.randint(0, 200))
        copy = HashTable.copy_of(numbers, int_hash)
        one_by_one: HashTable[int] = HashTable(int_hash, copy_capacity(max(len(numbers), 11)))
        for number in numbers:
            one_by_one.put(number)
        assert list(copy) == list(one_by_one)
        for _ in range(100):
            number = draw.choice(
                (draw.randint(0, 99), 64 * draw.randint(0, 40), 70_000 + draw.randint(0, 9))
            )
            do = draw.choice(("put", "compute", "discard"))
            getattr(copy, do)(number)
            getattr(one_by_one, do)(number)
            assert list(copy) == list(one_by_one)
