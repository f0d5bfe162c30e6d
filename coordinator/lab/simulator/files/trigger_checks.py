"""Checks of what a scenario's churn and faults wait for, and of members that they describe in
words: all of it exists. Raises ScenarioError with the place in the file. `triggers` and
`conditions` have what can be waited for."""

from __future__ import annotations

from ..conditions import EXAMPLES, LOOK_MS, OF_LAG, OF_MEMBERS, Condition, condition
from ..whom import IT, WORDS_OF_MEMBERS, group_led
from .contradictions import check_trigger_words
from .key_positions import Where
from .reading import Plain, ScenarioError
from .sizes import MOST_TIMES
from .there import There, some_of


def check_word(word: str, plain: Plain, there: There, where: Where, key: str) -> None:
    """Check a word that stands for a member and is resolved when the fault happens."""
    group = group_led(word)
    if group is not None and group not in there.groups:
        raise ScenarioError(
            f"{where.at(key)}: {word!r}: group {group!r} is nobody's; there are {some_of(there.groups)}"
        )
    if group is None and word != IT:
        raise ScenarioError(f"{where.at(key)}: {word!r} is no member: give {WORDS_OF_MEMBERS}")
    if word == IT and plain["when"] is None:
        raise ScenarioError(
            f"{where.at(key)}: 'it' is the member that when was seen of: give when, or name a member"
        )


def check_trigger(plain: Plain, there: There, where: Where) -> None:
    """Check a trigger: the members or groups that it waits for exist, or may come."""
    of, when = plain["of"], plain["when"]
    check_trigger_words(plain, there.is_producer, where)
    state = None if when is None else condition(when)
    if state is not None:
        _check_state(state, plain, there, where)
        return
    for key, default in (("again", 0), ("pause", 30_000)):
        if plain[key] != default:
            raise ScenarioError(
                f"{where.at(key)}: {key} is of states only: give when such as {EXAMPLES}"
            )
    if when is not None and plain["seen"] == 0:
        raise ScenarioError(f"{where.at('seen')}: seen = 0: at least 1, the first time")
    if when is not None and of and of not in there.groups and not there.may_come(of):
        known = [*there.groups, *there.started()]
        raise ScenarioError(
            f"{where.at('of')}: of = {of!r}: no group and no member is called that; there are {some_of(known)}"
        )


def _check_state(state: Condition, plain: Plain, there: There, where: Where) -> None:
    """Check a state to wait for: a group's, a member's, or one of all members of a kind."""
    when, of = plain["when"], plain["of"]
    if plain["seen"] != 1:
        raise ScenarioError(
            f"{where.at('seen')}: seen = {plain['seen']}: a state is or is not: leave it out; again says how often it counts once more"
        )
    if plain["again"] > MOST_TIMES:
        raise ScenarioError(f"{where.at('again')}: again = {plain['again']}: at most {MOST_TIMES}")
    if plain["pause"] < LOOK_MS:
        raise ScenarioError(
            f"{where.at('pause')}: pause = {plain['pause']} ms: states are looked at every {LOOK_MS} ms: give at least that"
        )
    if state.kind in OF_MEMBERS:
        if of not in there.members and not (
            there.may_come(of) and of.rpartition("-")[0] in there.members
        ):
            right = (
                f"give a kind of members or one of them; there are {some_of(list(there.members))}"
            )
            raise ScenarioError(f"{where.at('of')}: when = {when!r}, of = {of!r}: {right}")
    elif of not in there.groups:
        raise ScenarioError(
            f"{where.at('of')}: when = {when!r}, of = {of!r}: give a group; there are {some_of(there.groups)}"
        )
    elif state.kind in OF_LAG and of not in there.consuming:
        raise ScenarioError(
            f"{where.at('of')}: when = {when!r}: members of {of} only pretend to read: give consumes = true"
        )
