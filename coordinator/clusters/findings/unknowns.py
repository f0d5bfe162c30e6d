"""Sentences about facts that these files cannot show, with the log that would show each, and the
instant to look at."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts import (
    AssignmentChanged,
    ClientAsked,
    ClientFenced,
    ClientJoined,
    ClientLeaving,
    ClientRemoved,
    CommitRefused,
    Prepared,
    Seen,
    SessionTimedOut,
    Unnumbered,
)
from ..lines.stamps import iso
from ..stories.people import People
from ..stories.reasons import poll_missed, someone_else, told
from ..stories.story import FOLLOWS, LIKELY, GroupStory, Rebalance
from .evidence import setting_of

_MOST = 8
_LONG_MS = 5_000


def sentences(story: GroupStory, people: People) -> list[str]:
    """Return one sentence for each thing that is not known."""
    return list(dict.fromkeys(_sentences(story, people)))


def _sentences(story: GroupStory, people: People) -> Iterator[str]:
    clients = {each.fact.client for each in story.seen if isinstance(each.fact, ClientJoined)}
    unknown = [each for each in story.rebalances if each.cause == "unknown"]
    for each in unknown:
        if each.missing:
            yield (
                f"Whether {', '.join(each.missing)} left or fell silent before generation {each.generation} "
                f"({_when(story, each)}): its own log, or the GroupCoordinator lines of the broker (INFO), would tell."
            )
            continue
        if each.reason:
            yield (
                f"Why generation {each.generation} began ({_when(story, each)}): the broker gives a reason that names no known cause "
                f"({each.reason}). The other lines of that broker at that instant would tell."
            )
            continue
        yield (
            f"Why generation {each.generation} began ({_when(story, each)}): the GroupCoordinator lines of the broker "
            "(INFO) of that time would tell."
        )
    for each in story.rebalances:
        yield from _of(story, each, people, clients)
    yield from _replaced(story)
    yield from _alone(story)
    if story.rebalances and not story.broker:
        yield (
            "Generations that these clients did not take part in, the other members, and how long each join phase took: "
            "the GroupCoordinator lines of the broker (INFO) would tell."
        )
        numbers = sorted(each.generation for each in story.rebalances)
        missing = [n for n in range(numbers[0], numbers[-1]) if n not in set(numbers)][:20]
        if missing:
            yield f"What began generation {', '.join(map(str, missing))}: no client of these files was in it."
    if story.offset is None and story.seen and any(each.at is not None for each in story.seen):
        yield "The time zone of the stamps: no line carries one (--zone tells it)."
    if not story.one_clock:
        yield (
            "Whether the clocks of these files agree: one of them logs nothing that another one logs too, so its times "
            "stand as they are."
        )
    yield from _assignments(story)
    yield from _states(story)
    yield from _at_the_end(story, people)


def _when(story: GroupStory, each: Rebalance) -> str:
    return iso(each.began if each.began is not None else each.at, story.offset) or "no time stamp"


def _of(story: GroupStory, each: Rebalance, people: People, clients: set[str]) -> Iterator[str]:
    when = _when(story, each)
    if each.cause == "expired":
        yield f"Why {each.member} fell silent (removed {when}): its own log, and that of its host, around that time would tell."
        if story.protocol == "classic" and (
            setting_of(story, people, each.member, "session.timeout.ms") is None
        ):
            yield f"The session timeout of {each.member}: the client's configuration (ConsumerConfig values, when it starts) would tell."
    elif each.cause == "poll-timeout":
        yield f"What the application of {each.member} did between its polls before {when}: its own log or a thread dump would tell."
    elif each.cause == "left" and each.member not in clients:
        yield f"Why {each.member} left ({when}): its own log would tell; a consumer that is closed leaves too."
    elif each.cause == "left":
        yield f"Why the application closed {each.member} ({when}): these lines say only that it left."
    elif each.cause in ("joined", "first-join") and each.returns is None and each.member_id:
        if each.member == each.member_id:
            yield f"Which client {each.member} is, and whether it was in the group before under another id: "
            "no line of a client names this id."
    elif (
        each.cause in ("leader-rejoined", "subscription-changed", "rejoined")
        and each.certainty != FOLLOWS
        and not each.reason
    ):
        yield f"Why {each.member} joined again ({when}): its own log would tell."
    if each.cause == "topic-grew" and each.certainty == LIKELY and story.broker:
        yield (
            f"Whether the partitions of a subscribed topic changed in epoch {each.generation} ({when}), or a consumer subscribed to other "
            "topics: brokers log that at DEBUG only; the members' logs (Subscribed to topic(s)) would tell."
        )
    waited = each.join_phase_ms or 0
    if each.held_up_by is None and waited >= _LONG_MS and not each.after_empty:
        yield (
            f"For whom generation {each.generation} waited {waited / 1000:.1f} s ({when}): nobody was removed, so that the "
            "broker does not name the member; the members' logs ((Re-)joining group) would tell who joined last."
        )
    if each.held_up_by is not None and not each.removed:
        yield f"What {each.held_up_by} did before it joined again ({when}): its own log or a thread dump would tell."
    elif each.held_up_by is not None and each.held_up_by == each.member:
        yield f"Why {each.member} began anew without leaving ({when}): its own log would tell."
    elif each.held_up_by is not None:
        yield f"Why {each.held_up_by} did not join again ({when}): its own log would tell."


def _alone(story: GroupStory) -> Iterator[str]:
    """Yield sentences about clients' lines in a story without a rebalance."""
    if story.rebalances:
        return
    rebalancing: dict[str, list[Seen]] = {}
    told: set[str] = set()
    gone: set[str] = set()
    for each in story.seen:
        fact = each.fact
        when = iso(each.at, story.offset) or "no time stamp"
        if poll_missed(fact):
            client = getattr(fact, "client", "")
            if client not in told:
                yield f"What the application of {client} did between its polls before {when}: its own log or a thread dump would tell."
            told.add(client)
        elif isinstance(fact, ClientLeaving) and fact.client not in told:
            told.add(fact.client)
            yield f"Why the application closed {fact.client} ({when}): these lines say only that it left."
        elif isinstance(fact, SessionTimedOut) and fact.client not in told:
            told.add(fact.client)
            yield (
                f"Why {fact.client} had no answer to its heartbeats ({when}): the log of the coordinator's broker, and that of the "
                "client's host, would tell."
            )
        elif isinstance(fact, ClientFenced) and fact.client not in told:
            told.add(fact.client)
            yield (
                f"Which other process has the instance id of {fact.client} ({when}): the GroupCoordinator lines of the broker (INFO) name "
                "both member ids, and the log of the other process would tell."
            )
        elif isinstance(fact, ClientRemoved) and fact.client not in gone | told:
            gone.add(fact.client)
            yield (
                f"Why the coordinator did not have {fact.client} as a member any more ({when}): the GroupCoordinator lines of the broker "
                "(INFO) before that would tell; the client is only told that it is so."
            )
        elif (
            isinstance(fact, CommitRefused) and not fact.joining and fact.client not in gone | told
        ):
            gone.add(fact.client)
            yield (
                f"Why the group had rebalanced without {fact.client} when it committed ({when}): the lines of this client before that, or "
                "the GroupCoordinator lines of the broker (INFO), would tell. What the line says of max.poll.interval.ms is a guess that "
                "the library always makes."
            )
        elif isinstance(fact, ClientAsked) and someone_else(fact.reason):
            rebalancing.setdefault(fact.client, []).append(each)
    for client, those in rebalancing.items():
        first, last = (
            iso(each.at, story.offset) or "no time stamp" for each in (those[0], those[-1])
        )
        span = first if first == last else f"{first} to {last}"
        yield (
            f"Why the group was rebalancing ({span}), and which member caused it: {client} logged only that it was; the "
            "GroupCoordinator lines of the broker (INFO) would tell."
        )


def _replaced(story: GroupStory) -> Iterator[str]:
    fenced = {event.member for event in story.events if event.kind == "fenced"}
    for event in story.events:
        if event.kind == "replaced" and event.member not in fenced:
            yield (
                f"Whether {event.member} was restarted or a second process has the same instance id: the broker's lines are the "
                "same; the log of the former process would tell."
            )


def _assignments(story: GroupStory) -> Iterator[str]:
    """Yield sentences about KIP-848 clients: they log that their assignment changed, and no
    epochs."""
    changes: dict[str, list[str]] = {}
    for each in story.seen:
        if isinstance(each.fact, AssignmentChanged):
            when = iso(each.at, story.offset) or "no time stamp"
            changes.setdefault(each.fact.client, []).append(
                f"{when} (+{each.fact.added}, -{each.fact.revoked})"
            )
    yield from _unnumbered(story)
    if story.rebalances:
        return
    for client, times in changes.items():
        more = f" and {len(times) - _MOST} times more" if len(times) > _MOST else ""
        yield (
            f"Why the assignment of {client} changed at {', '.join(times[:_MOST])}{more}, and in which epoch: the GroupCoordinator "
            "lines of the broker (INFO) of these times would tell."
        )


def _unnumbered(story: GroupStory) -> Iterator[str]:
    """Yield sentences about clients whose library logs less: KafkaJS no generation, sarama no
    reason."""
    times: dict[tuple[str, str], list[str]] = {}
    for each in story.seen:
        if isinstance(each.fact, Unnumbered):
            when = iso(each.at, story.offset) or "no time stamp"
            number = "" if each.fact.generation is None else f" (generation {each.fact.generation})"
            times.setdefault((each.fact.client, each.fact.what), []).append(f"{when}{number}")
    if story.broker:
        return
    for (client, what), shown in times.items():
        said = "joined the group" if what == "joined" else "was released from a generation"
        more = f" and {len(shown) - _MOST} times more" if len(shown) > _MOST else ""
        yield (
            f"Why {client} {said} at {', '.join(shown[:_MOST])}{more}: its library does not log it; the GroupCoordinator lines of "
            "the broker (INFO) of these times would tell."
        )


def _states(story: GroupStory) -> Iterator[str]:
    if not story.states:
        return
    if any(
        state.described.state in ("rebalancing", "PreparingRebalance", "CompletingRebalance")
        for state in story.states
    ):
        if not story.rebalances:
            yield (
                "Why the rebalance that the describe shows began, who kept it waiting and how long it took: the GroupCoordinator "
                "lines of the broker would tell. The owners shown during a rebalance are those of the generation before."
            )
    if not story.rebalances:
        yield (
            "Whether the group rebalanced before and after: a describe shows an instant; the GroupCoordinator lines of the broker "
            "(INFO) would tell."
        )
    if any(state.described.state == "Empty" for state in story.states) and not story.rebalances:
        yield "Whether the members left or their sessions ended: a describe shows only that they are gone."


def _cause_of(begun: Prepared, people: People) -> str:
    about = told(begun.reason)
    member = people.name(about.member)
    return f"{about.cause}, {member}" if member else about.cause


def _at_the_end(story: GroupStory, people: People) -> Iterator[str]:
    begun: Prepared | None = None
    ended = {each.generation for each in story.rebalances}
    for each in story.seen:
        if isinstance(each.fact, Prepared):
            begun = each.fact
    if begun is not None and begun.old_generation + 1 not in ended:
        yield (
            f"How the rebalance after generation {begun.old_generation} ended ({_cause_of(begun, people)}): it was under way when "
            "the file ended."
        )
