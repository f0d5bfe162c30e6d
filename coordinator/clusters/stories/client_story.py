"""Facts from clients' lines: generations that no broker's line names, and the deeper reasons of
others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from ..facts import (
    Assigned,
    ClientAsked,
    ClientJoined,
    ClientJoining,
    ClientLeaving,
    ClientMember,
    ClientPollExpired,
    ClientRemoved,
    ClientStarted,
    ClientSubscribed,
    Replaced,
    Seen,
    SessionTimedOut,
    Settings,
)
from .people import People, client_of
from .reasons import asked_cause, maybe_paused, poll_missed, someone_else
from .story import FOLLOWS, LIKELY, SHOWN, GroupStory, Rebalance

_NEW = "need to re-join with the given member-id"
_BEFORE_MS, _AFTER_MS = 15_000, 2_000


class _Join(NamedTuple):
    seen: Seen
    fact: ClientJoined
    before: tuple[Seen, ...]
    last: int | None
    leads: bool
    started: bool


def _processes(seen: Sequence[Seen]) -> Callable[[Seen], str]:
    """Return a function from a client's line to its process: the client id, together with the
    file if several files have the client id at the same time (libraries use one for all clients
    without a name)."""
    spans: dict[str, dict[str, tuple[int, int]]] = {}
    for each in seen:
        client = getattr(each.fact, "client", None)
        if client is not None:
            of_client = spans.setdefault(client, {})
            at = each.at or 0
            first, last = of_client.get(each.source, (at, at))
            of_client[each.source] = min(first, at), max(last, at)
    shared = {
        client
        for client, of_client in spans.items()
        for (_, end), (begin, _) in pairwise(sorted(of_client.values()))
        if begin <= end
    }

    def process(each: Seen) -> str:
        client: str = getattr(each.fact, "client", "")
        return f"{client} in {each.source}" if client in shared else client

    return process


def joins_of(seen: Sequence[Seen]) -> list[_Join]:
    """Return each join of each client, with the client's lines since its previous join."""
    process = _processes(seen)
    since: dict[str, list[Seen]] = {}
    last: dict[str, ClientJoined] = {}
    started: set[str] = set()
    found: list[_Join] = []
    leads = {
        (process(each), each.fact.generation)
        for each in seen
        if (isinstance(each.fact, Assigned) and each.fact.generation is not None)
        or (isinstance(each.fact, ClientJoined) and each.fact.members is not None)
    }
    for each in seen:
        fact, who = each.fact, process(each)
        before = last.get(who)
        if isinstance(fact, ClientJoined):
            if before is not None and before.generation == fact.generation:
                since.pop(who, None)
                continue
            found.append(
                _Join(
                    each,
                    fact,
                    tuple(since.pop(who, ())),
                    before.generation if before is not None else None,
                    (who, fact.generation) in leads,
                    who in started,
                )
            )
            last[who] = fact
        elif isinstance(fact, ClientSubscribed | ClientMember):
            started.add(who)
            if isinstance(fact, ClientMember) and before and fact.member != before.member:
                since.setdefault(who, []).append(each)
        elif isinstance(fact, Settings | ClientStarted):
            started.add(who)
            since.setdefault(who, []).append(each)
        elif isinstance(
            fact, ClientAsked | ClientLeaving | ClientPollExpired | ClientRemoved | SessionTimedOut
        ):
            since.setdefault(who, []).append(each)
            number = getattr(fact, "generation", None)
            if number is not None:
                last[who] = ClientJoined(fact.client, fact.group, None, number)
    return found


def client_rebalances(seen: Sequence[Seen], people: People, known: set[int]) -> list[Rebalance]:
    """Return the generations that clients joined and that no broker's line names."""
    joins = joins_of(seen)
    by_generation: dict[int, list[_Join]] = {}
    for join in joins:
        if join.fact.generation not in known and not _replaced(join, seen):
            by_generation.setdefault(join.fact.generation, []).append(join)
    plans = _plans(seen)
    rebalances: list[Rebalance] = []
    for generation, of_generation in by_generation.items():
        first = of_generation[0]
        rebalance = Rebalance(generation, first.seen.at, evidence=[first.seen.evidence])
        members = next((j.fact.members for j in of_generation if j.fact.members), None)
        rebalance.members = members or len(plans.get(generation, ())) or None
        _explain(rebalance, of_generation, joins, people, plans)
        rebalances.append(rebalance)
    return rebalances


def _replaced(join: _Join, seen: Sequence[Seen]) -> bool:
    """Return True if a client joined in the place of its predecessor, as a broker's line says: the
    generation was there before."""
    instance = client_of(join.fact.member or "")
    return any(
        isinstance(each.fact, Replaced)
        and each.fact.instance == instance
        and abs((each.at or 0) - (join.seen.at or 0)) <= _AFTER_MS
        for each in seen
    )


def _plans(seen: Sequence[Seen]) -> dict[int, set[str]]:
    """Return the members that leaders assigned partitions to, by generation."""
    process = _processes(seen)
    found: dict[int, set[str]] = {}
    joined: dict[str, int] = {}
    for each in seen:
        if isinstance(each.fact, ClientJoined):
            joined[process(each)] = each.fact.generation
        elif isinstance(each.fact, Assigned) and each.fact.members:
            generation = each.fact.generation
            if generation is None:
                generation = joined.get(process(each))
            if generation is not None:
                found[generation] = set(each.fact.members)
    return found


def _explain(
    rebalance: Rebalance,
    of_generation: list[_Join],
    joins: list[_Join],
    people: People,
    plans: dict[int, set[str]],
) -> None:
    generation = rebalance.generation
    candidates: list[tuple[int, Rebalance]] = []
    for join in of_generation:
        candidates.extend((cause.at or 0, cause) for cause in _own(join))
    if not any(join.last == generation - 1 for join in joins):
        # Nobody here was in the generation before, so that others may have begun this one.
        for _, cause in candidates:
            cause.certainty = LIKELY
    for client, one, paused in _leavers(joins, generation):
        at = one.at or 0
        cause = Rebalance(generation, at, certainty=FOLLOWS, evidence=[one.evidence])
        cause.cause = "poll-timeout" if poll_missed(one.fact) else "left"
        if cause.cause == "poll-timeout" and paused:
            cause.cause, cause.certainty = "expired", LIKELY
        cause.member = client
        candidates.append((at, cause))
    if candidates:
        chosen = min(candidates, key=lambda pair: pair[0])[1]
        rebalance.cause, rebalance.certainty = chosen.cause, chosen.certainty
        rebalance.member, rebalance.member_id = chosen.member, chosen.member_id
        rebalance.returns, rebalance.reason = chosen.returns, chosen.reason
        rebalance.evidence[:0] = chosen.evidence
    elif generation - 1 in plans and generation in plans:
        new = plans[generation] - plans[generation - 1]
        gone = plans[generation - 1] - plans[generation]
        if len(new) == 1 and not gone:
            (member,) = new
            rebalance.cause, rebalance.certainty = "joined", FOLLOWS
            rebalance.member, rebalance.member_id = people.name(member), member
            before = {one for number in plans if number < generation - 1 for one in plans[number]}
            if any(people.name(one) == rebalance.member for one in before):
                rebalance.returns, rebalance.certainty = True, LIKELY
        elif gone and not new:
            rebalance.missing = sorted(people.name(one) or one for one in gone)
    if generation == 1:
        # The first to join leads; a client that does not lead may have come second.
        leaders = [one.fact.client for one in of_generation if one.leads]
        rebalance.cause, rebalance.certainty = "first-join", FOLLOWS
        rebalance.member = leaders[0] if leaders else None
        rebalance.member_id = rebalance.returns = None


def _own(join: _Join) -> list[Rebalance]:
    """Return the causes that a client itself states for the generation that it joins."""
    generation = join.fact.generation
    found: list[Rebalance] = []
    lost = False
    for one in join.before:
        fact = one.fact
        cause = Rebalance(generation, one.at, evidence=[one.evidence])
        cause.member, cause.member_id = join.fact.client, join.fact.member
        if isinstance(fact, Settings | ClientStarted | ClientMember):
            lost = lost or join.last is not None
        elif isinstance(fact, ClientPollExpired | ClientRemoved | ClientLeaving):
            next_one = join.last is not None and generation == join.last + 1
            expired = poll_missed(fact)
            if next_one and expired:
                paused = maybe_paused(join.before, join.fact.client)
                cause.cause = "expired" if paused else "poll-timeout"
                cause.certainty = LIKELY if paused else FOLLOWS
                found.append(cause)
            elif next_one and isinstance(fact, ClientRemoved) and not lost:
                cause.cause, cause.certainty = "expired", LIKELY
                found.append(cause)
            lost = True
        elif isinstance(fact, ClientAsked):
            asked = asked_cause(fact.reason)
            if someone_else(fact.reason) and not lost:
                break
            if asked == "topic-grew" and (lost or (join.last is None and join.started)):
                continue  # it was not in the group: that is how it learns of the topics
            if asked is not None:
                cause.cause, cause.reason = asked, fact.reason
                # Several members take a further step; only the broker knows who asked first.
                cause.certainty = LIKELY if asked in ("coordinator-moved", "rejoined") else SHOWN
                found.append(cause)
            elif fact.reason.startswith(_NEW) and not (found and lost):
                cause.cause, cause.certainty = "joined", LIKELY
                cause.returns = True if join.last is not None else None
                found.append(cause)
    if not found and join.last is None and not lost:
        cause = Rebalance(generation, join.seen.at, "joined", certainty=LIKELY)
        cause.member, cause.member_id = join.fact.client, join.fact.member
        if _began_here(join):
            found.append(cause)
    elif not found and lost:
        cause = Rebalance(generation, join.seen.at, "joined", certainty=LIKELY, returns=True)
        cause.member, cause.member_id = join.fact.client, join.fact.member
        found.append(cause)
    return found


def _began_here(join: _Join) -> bool:
    """Return True if a client's first join in the file is its first at all: the file has its
    start, and the client did not rejoin, as one in the group does."""
    return join.started and not any(
        isinstance(one.fact, ClientAsked) and "rebalanc" in one.fact.reason for one in join.before
    )


def _leavers(joins: list[_Join], generation: int) -> list[tuple[str, Seen, bool]]:
    """Return clients that left the former generation, by their own lines, and whether each may
    have been paused."""
    found: list[tuple[str, Seen, bool]] = []
    for join in joins:
        if join.last != generation - 1 or join.fact.generation <= generation:
            continue
        for one in join.before:
            if isinstance(one.fact, ClientPollExpired | ClientLeaving):
                client = join.fact.client
                found.append((client, one, maybe_paused(join.before, client)))
                break
    return found


def deepen(story: GroupStory, people: People) -> None:
    """Replace the causes from the broker's lines by the causes of those, if the clients' own
    logs have them; and find from the clients' lines who joined last in a rebalance that took
    long."""
    seen = story.seen
    for rebalance in story.rebalances:
        if rebalance.cause == "topic-grew" and rebalance.certainty == LIKELY:
            _subscribed_anew(rebalance, seen)
        _last_to_join(rebalance, seen)
        if rebalance.cause == "left":
            _left_because(rebalance, seen, people)
        elif rebalance.cause == "expired" and story.one_clock:
            _expired_because(rebalance, seen, people)
        elif rebalance.cause in ("leader-rejoined", "rejoined", "subscription-changed"):
            _rejoined_because(rebalance, seen, people)


def _around(rebalance: Rebalance, seen: Sequence[Seen]) -> list[Seen]:
    begin = rebalance.began if rebalance.began is not None else rebalance.at
    if begin is None:
        return []
    return [
        each
        for each in seen
        if each.at is not None and begin - _BEFORE_MS <= each.at <= begin + _AFTER_MS
    ]


def _subscribed_anew(rebalance: Rebalance, seen: Sequence[Seen]) -> None:
    """Find the client that subscribed to other topics when the metadata of the subscribed topics
    changed."""
    topics: dict[str, str] = {}
    found: list[Seen] = []
    around = {id(each) for each in _around(rebalance, seen)}
    for each in seen:
        if isinstance(each.fact, ClientSubscribed):
            before = topics.get(each.fact.client)
            if before not in (None, each.fact.topics) and id(each) in around:
                found.append(each)
            topics[each.fact.client] = each.fact.topics
    if len(found) == 1 and isinstance(found[0].fact, ClientSubscribed):
        rebalance.cause, rebalance.certainty = "subscription-changed", FOLLOWS
        rebalance.member = found[0].fact.client
        rebalance.evidence.append(found[0].evidence)


_LONG_MS = 5_000
_AT_ITS_END_MS = 1_000


def _last_to_join(rebalance: Rebalance, seen: Sequence[Seen]) -> None:
    """Name the client for which a join phase waited: it began to join when the phase was nearly
    over, and each other member whose log is here had done so long before."""
    length, end = rebalance.join_phase_ms, rebalance.at
    if (
        rebalance.after_empty
        or rebalance.held_up_by is not None
        or length is None
        or length < _LONG_MS
        or end is None
    ):
        return
    began: dict[str, Seen] = {}
    for each in seen:
        if isinstance(each.fact, ClientJoining) and end - length <= (each.at or 0) <= end:
            began.setdefault(each.fact.client, each)
    late = [one for one in began.values() if end - (one.at or 0) <= _AT_ITS_END_MS]
    if len(late) == 1 and len(began) >= 2 and isinstance(late[0].fact, ClientJoining):
        rebalance.held_up_by = late[0].fact.client
        rebalance.evidence.append(late[0].evidence)


def _left_because(rebalance: Rebalance, seen: Sequence[Seen], people: People) -> None:
    expired: Seen | None = None
    for each in _around(rebalance, seen):
        fact = each.fact
        if isinstance(fact, ClientJoined) and people.is_of(rebalance.member_id, fact.client):
            expired = None
        if isinstance(fact, ClientPollExpired | ClientLeaving) and (
            people.is_of(rebalance.member_id, fact.client) or rebalance.member == fact.client
        ):
            expired = each if poll_missed(fact) else expired
    if expired is not None:
        rebalance.cause = "poll-timeout"
        rebalance.certainty = LIKELY if rebalance.certainty == LIKELY else FOLLOWS
        rebalance.evidence.append(expired.evidence)


_NOTICED_MS, _SESSION_MS = 1_000, 60_000


def _expired_because(rebalance: Rebalance, seen: Sequence[Seen], people: People) -> None:
    """Find that a client stopped its heartbeats because its application did not poll, as librdkafka
    does in KIP-848 groups. A process that was paused writes the same line, but when it wakes."""
    end = rebalance.began if rebalance.began is not None else rebalance.at
    missed: Seen | None = None
    for each in seen:
        if end is None or each.at is None or each.at > end - _NOTICED_MS:
            continue
        fact = each.fact
        mine = isinstance(fact, ClientJoined | ClientPollExpired) and (
            people.is_of(rebalance.member_id, fact.client) or rebalance.member == fact.client
        )
        if mine:
            missed = each if isinstance(fact, ClientPollExpired) else None
    if missed is not None and end is not None and end - (missed.at or 0) <= _SESSION_MS:
        rebalance.cause, rebalance.certainty = "poll-timeout", FOLLOWS
        rebalance.evidence.append(missed.evidence)


def _rejoined_because(rebalance: Rebalance, seen: Sequence[Seen], people: People) -> None:
    for each in _around(rebalance, seen):
        fact = each.fact
        if not isinstance(fact, ClientAsked):
            continue
        asked = asked_cause(fact.reason)
        mine = people.is_of(rebalance.member_id, fact.client) or rebalance.member == fact.client
        if mine and asked in ("topic-grew", "subscription-changed"):
            rebalance.cause, rebalance.certainty = asked, SHOWN
            rebalance.evidence.append(each.evidence)
            return
        if mine and asked == "rejoined" and rebalance.cause == "subscription-changed":
            rebalance.cause, rebalance.certainty = "rejoined", SHOWN
            rebalance.evidence.append(each.evidence)
