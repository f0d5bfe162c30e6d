"""Findings about single members: the mistake, the member, and the setting concerned.

Each finding has a line that shows it. A setting's value is stated only if a line has it;
otherwise the library's default is named, as a default.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..dialects.java_client import POLLS_AGAIN
from ..facts import (
    ClientFenced,
    ClientJoined,
    ClientLeaving,
    ClientPollExpired,
    ClientRemoved,
    CommitRefused,
    CoordinatorLost,
    Evidence,
    Joined,
    ProducerFenced,
    Seen,
    SessionTimedOut,
    TransactionTimedOut,
)
from ..stories.people import People, client_of
from ..stories.reasons import maybe_paused, poll_missed
from ..stories.story import FOLLOWS, LIKELY, SHOWN, Finding, GroupStory, Rebalance
from . import of_groups as findings_of_groups
from .evidence import by_member, evidence_of, setting_of, times


def find(story: GroupStory, people: People) -> list[Finding]:
    """Return the findings about a group's members, the gravest first."""
    found = [
        *_polls(story, people),
        *_never_rejoined(story),
        *_static_too_late(story, people),
        *_expired(story, people),
        *_fenced(story),
        *_heartbeats(story),
        *_commits(story),
        *_producers(story),
        *findings_of_groups.find(story, people),
    ]
    return sorted(found, key=lambda one: (one.id in _CONSEQUENCES, -len(one.evidence)))


_CONSEQUENCES = ("commits-refused", "lag-at-one-owner")
"""Findings that are consequences of others, so they are listed last."""


def _value(value: str | None, default: str) -> str:
    if value is not None:
        return f"it is {value} ms here"
    return f"its value is not in these files; {default}"


def _polls(story: GroupStory, people: People) -> Iterator[Finding]:
    late = by_member(each for each in story.rebalances if each.cause == "poll-timeout")
    seen: dict[str, list[Seen]] = {}
    joins = {each.fact.client for each in story.seen if isinstance(each.fact, ClientJoined)}
    away: set[str] = set()
    moved = _moves(story)
    for each in story.seen:
        fact = each.fact
        if isinstance(fact, ClientJoined):
            away.discard(fact.client)
        if isinstance(fact, ClientPollExpired | ClientLeaving) and poll_missed(fact):
            before = seen.get(fact.client, [])
            if before and POLLS_AGAIN in each.evidence.text:
                continue  # of the occasion that the line before is about
            if any(abs((each.at or 0) - one) <= _MOVING_MS for one in moved):
                continue  # its coordinator was away: a poll or a commit may have waited for that
            if fact.client in away and fact.client in joins:
                continue  # it was not in the group in between: bindings say it again when it polls
            if not before or (each.at or 0) - (before[-1].at or 0) > _between(before[-1]):
                seen.setdefault(fact.client, []).append(each)
                away.add(fact.client)
    removed = {
        each.member: each for each in story.rebalances if each.cause == "expired" and each.member
    }
    for member in dict.fromkeys([*late, *seen]):
        if member in removed and member not in late:
            continue  # its session was over before its poll: it says so of itself when it wakes
        lines = evidence_of(late.get(member, []))
        lines += [one.evidence for one in seen.get(member, []) if one.evidence not in lines]
        interval = setting_of(story, people, member, "max.poll.interval.ms")
        for one in seen.get(member, []):
            if isinstance(one.fact, ClientPollExpired) and one.fact.interval_ms:
                interval = interval or str(one.fact.interval_ms)
        paused = not late.get(member) and (
            "Heartbeat poll" in lines[0].text or maybe_paused(story.seen, member)
        )
        away_at = [
            each.at or 0
            for each in story.seen
            if isinstance(each.fact, CoordinatorLost) and each.fact.client == member
        ]
        unreached = not late.get(member) and all(
            any(abs((one.at or 0) - at) <= _MOVING_MS for at in away_at) for one in seen[member]
        )
        sure = LIKELY if paused or unreached else SHOWN
        count = max(len(late.get(member, [])), len(seen.get(member, [])))
        yield Finding(
            "max-poll-exceeded",
            member,
            "max.poll.interval.ms",
            sure,
            f"{member} did not poll within max.poll.interval.ms ({_value(interval, 'the default of Java and librdkafka is 300000 ms')}) "
            f"and left the group by itself, {times(count)}: give it less to do between two polls (max.poll.records), or more time"
            + (
                ". A process that was paused says the same of itself when it goes on, and then nothing of this helps"
                if paused
                else ". Its coordinator could not be reached at that time, for which a poll or a commit may have waited"
                if unreached
                else ""
            ),
            lines,
        )


def _moves(story: GroupStory) -> list[int]:
    """Return the instants at which brokers loaded the group or gave it up, while it had members."""
    begun = min((each.at or 0 for each in story.rebalances), default=0)
    return [
        each.at
        for each in story.events
        if each.kind in ("loaded", "unloaded") and each.at is not None and each.at > begun
    ]


def _between(missed: Seen) -> int:
    """Return the shortest time in ms between two missed polls of a client."""
    interval = missed.fact.interval_ms if isinstance(missed.fact, ClientPollExpired) else None
    return max(_ONE_OCCASION_MS, interval or 0)


def _expired(story: GroupStory, people: People) -> Iterator[Finding]:
    for member, those in by_member(
        each for each in story.rebalances if each.cause == "expired"
    ).items():
        modern = story.protocol in ("consumer", "share", "streams")
        kind = {"consumer": "consumer", "share": "share", "streams": "streams"}.get(
            story.protocol or "", "consumer"
        )
        key = f"group.{kind}.session.timeout.ms" if modern else "session.timeout.ms"
        value = None if modern else setting_of(story, people, member, key)
        default = (
            "the broker's default is 45000 ms"
            if modern
            else "the default of Java (from 3.0) and librdkafka is 45000 ms"
        )
        yield Finding(
            "session-expired",
            member,
            key,
            SHOWN if all(one.certainty == SHOWN for one in those) else FOLLOWS,
            f"{member} sent no heartbeat for its session timeout ({key}: {_value(value, default)}) and "
            f"was removed, {times(len(those))}: "
            "it was killed, paused or cut off"
            + (
                ", or its library went silent because the application did not poll"
                if modern
                else ""
            ),
            evidence_of(those),
        )


def _never_rejoined(story: GroupStory) -> Iterator[Finding]:
    for each in story.rebalances:
        if each.held_up_by is None or not each.removed or each.join_phase_ms is None:
            continue
        came = _came(story, each)
        again = [name for name in each.removed if name in came]
        yield Finding(
            "never-rejoins",
            each.held_up_by,
            None,
            SHOWN,
            f"generation {each.generation} waited {each.join_phase_ms / 1000:.1f} s for {', '.join(each.removed)}: "
            + (
                f"{', '.join(again)} had begun anew under another member id and left the former one behind, whose session had to end first"
                if again == each.removed
                else "its session ended meanwhile, without a heartbeat"
                if any("has failed, removing" in line.text for line in each.evidence[1:])
                else "it did not join again before the rebalance timeout, and was removed"
            ),
            each.evidence,
        )


def _came(story: GroupStory, rebalance: Rebalance) -> set[str]:
    """Return the names of the members that joined while a rebalance waited."""
    began = rebalance.began or 0
    return {rebalance.member or ""} | {
        client_of(each.fact.member) or each.fact.member
        for each in story.seen
        if isinstance(each.fact, Joined)
        and began - _ONE_OCCASION_MS <= (each.at or 0) <= (rebalance.at or 0)
    }


def _static_too_late(story: GroupStory, people: People) -> Iterator[Finding]:
    for index, back in enumerate(story.rebalances):
        if back.cause != "static-restart" or not back.returns:
            continue
        before = [
            each
            for each in story.rebalances[:index]
            if each.cause == "expired" and each.member == back.member
        ]
        if not before:
            continue
        gone = before[-1]
        text = ""
        if back.began is not None and gone.began is not None:
            text = f" {(back.began - gone.began) / 1000:.1f} s later"
        value = setting_of(story, people, back.member, "session.timeout.ms")
        yield Finding(
            "static-restart-too-late",
            back.member,
            "session.timeout.ms",
            FOLLOWS,
            f"static member {back.member} was removed when its session ended, and came back{text}: two rebalances that a longer "
            f"session.timeout.ms would have spared ({_value(value, 'the default of Java and librdkafka is 45000 ms')})",
            evidence_of([gone, back]),
        )


def _fenced(story: GroupStory) -> Iterator[Finding]:
    fenced: dict[str, list[Evidence]] = {}
    for event in story.events:
        if event.kind == "fenced" and event.member:
            fenced.setdefault(event.member, []).extend(event.evidence)
    for member, lines in fenced.items():
        yield Finding(
            "member-fenced",
            member,
            "group.instance.id",
            LIKELY,
            f"{member} was fenced: another process has the same group.instance.id. Two processes run with one id, or the former one was "
            "not gone when its successor started",
            lines,
        )
    for each in story.rebalances:
        if each.cause == "member-fenced" and each.member:
            yield Finding(
                "member-fenced",
                each.member,
                None,
                SHOWN,
                f"the coordinator removed {each.member}: it did not give up partitions that it had to give up within its rebalance "
                "timeout (max.poll.interval.ms of a Java consumer), as when a callback or a batch takes too long",
                each.evidence,
            )


def _heartbeats(story: GroupStory) -> Iterator[Finding]:
    """Find clients whose heartbeats were not answered. A paused process logs the same, so
    clients whose session expired, that missed their poll or were fenced are left out."""
    told = {each.member for each in story.rebalances if each.cause in ("expired", "poll-timeout")}
    moved = _moves(story)
    told |= {each.fact.client for each in story.seen if isinstance(each.fact, ClientFenced)}
    lines: dict[str, list[Evidence]] = {}
    last: dict[str, int] = {}
    for each in story.seen:
        if isinstance(each.fact, SessionTimedOut) and each.fact.client not in told:
            client, at = each.fact.client, each.at or 0
            if any(abs(at - one) <= _MOVING_MS for one in moved):
                continue  # its coordinator went away then
            if client not in lines or at - last[client] > _ONE_OCCASION_MS or not each.at:
                lines.setdefault(client, []).append(each.evidence)
            last[client] = at
    for client, those in lines.items():
        yield Finding(
            "heartbeats-unanswered",
            client,
            None,
            LIKELY,
            f"{client} had no answer to its heartbeats for its session timeout, {times(len(those))}: the network or the coordinator's "
            "broker was at fault, or the process itself was paused",
            those,
        )


_WITHIN_MS = 600_000
_MOVING_MS = 60_000
_ONE_OCCASION_MS = 2_000
"""Libraries log one thing in two lines: what was noticed, and what is done about it."""


def _commits(story: GroupStory) -> Iterator[Finding]:
    """Find commits that were refused to a client which had lost its partitions, as its own lines
    show."""
    lost: dict[str, Seen] = {}
    found: dict[str, list[Evidence]] = {}
    for each in story.seen:
        fact = each.fact
        if isinstance(fact, ClientPollExpired | ClientRemoved) or (
            isinstance(fact, ClientLeaving) and poll_missed(fact)
        ):
            lost[fact.client] = each
        elif isinstance(fact, CommitRefused) and fact.client in lost:
            before = lost[fact.client]
            if (each.at or 0) - (before.at or 0) <= _WITHIN_MS:
                found.setdefault(fact.client, [before.evidence]).append(each.evidence)
    for client, lines in found.items():
        yield Finding(
            "commits-refused",
            client,
            None,
            FOLLOWS,
            f"{client} was no longer in the group when it committed: what it had processed since its last commit is processed "
            "again by the member that has the partitions now",
            list(dict.fromkeys(lines)),
        )


def _producers(story: GroupStory) -> Iterator[Finding]:
    fenced: dict[str, list[Evidence]] = {}
    late: dict[str, list[Evidence]] = {}
    for each in story.seen:
        if isinstance(each.fact, ProducerFenced):
            fenced.setdefault(each.fact.transactional, []).append(each.evidence)
        elif isinstance(each.fact, TransactionTimedOut):
            late.setdefault(each.fact.transactional, []).append(each.evidence)
    for name, lines in fenced.items():
        if name in late:
            continue
        yield Finding(
            "producer-fenced",
            name,
            "transactional.id",
            LIKELY,
            f"the producer of transactional id {name} was fenced: another one began with the same id, as a second process or the "
            "successor of one that still ran; a transaction that is longer than transaction.timeout.ms looks the same to a client",
            lines,
        )
    for name, lines in late.items():
        yield Finding(
            "transaction-timed-out",
            name,
            "transaction.timeout.ms",
            SHOWN,
            f"the coordinator rolled a transaction of {name} back, {times(len(lines))}: it was open for longer than "
            "transaction.timeout.ms (its value is not in these lines), and its producer is fenced then",
            [*lines, *fenced.get(name, [])],
        )
