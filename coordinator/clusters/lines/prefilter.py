"""Selects the raw lines that are worth decoding: a search for a few literals, before anything else.

A broker's log of a gigabyte has millions of lines; some hundreds of them concern a group.
"""

from __future__ import annotations


def may_matter(raw: bytes) -> bool:
    """Return True if a line contains a word that some dialect looks for."""
    # A chain of `in` is several times as fast as a loop or a regular expression; the first two words
    # stand for most dialects, and are looked at more closely then.
    return (
        (b"roup" in raw and _of_groups(raw))
        or (b"onsumer" in raw and _of_consumers(raw))
        or (b"member" in raw and (b"ound member: " in raw or b"member/topic/" in raw))
        or b"ebalanc" in raw
        or b"[Worker " in raw
        or b"[Producer " in raw
        or b"TransactionCoordinator" in raw
        or b"KafkaError{" in raw
        or b"CommitFailedException" in raw
        or b"kafka.coordinator" in raw
        or b"client_id=" in raw
        or b"[N:" in raw
        or b"kafka server: " in raw
        or b"GROUP" in raw
        or b" poll interval (" in raw
        or b"application poll interval" in raw
        or b"Heartbeat" in raw
        or b"coordinator dead" in raw
        or b"poll timeout has expired" in raw
        or b"OffsetCommit" in raw
        or b"TOPIC" in raw
    )


def _of_groups(raw: bytes) -> bool:
    return (
        b"[Group" in raw
        or b"Stabilized group" in raw
        or b"Assignment received" in raw
        or b" member with " in raw
        or b"GroupId" in raw
        or b"in group " in raw
        or b"consumergroup" in raw
        or b'"groupId"' in raw
        or b"; group: " in raw
        or b" group=" in raw
        or b'"group"' in raw
        or b"onsumer group" in raw
        or b"hare group" in raw
        or b'roup "' in raw
        or b"JoinGroup response" in raw
        or b"LeaveGroup request" in raw
        or b"oined group " in raw
        or b"oining group" in raw
        or b"eaving group" in raw
        or b"leader for group" in raw
        or b"Group member (" in raw
        or b"roup coordinator (" in raw
        or b"roup instance id" in raw
        or b"for group " in raw
    )


def _of_consumers(raw: bytes) -> bool:
    return (
        b"[Consumer " in raw
        or b"[ShareConsumer " in raw
        or b"ConsumerConfig values" in raw
        or b"#consumer-" in raw
        or b"aiokafka.consumer" in raw
        or b"consumer/broker/" in raw
    )


def of_other_group(raw: bytes, group: bytes) -> bool:
    """Return True if a broker's line is about another group than the one of interest. A line
    that names only members, as those of a fence or a new leader do, may be about any group."""
    return (
        b"[GroupCoordinator " in raw
        and group not in raw
        and b" for static member with " not in raw
        and b"Group leader [" not in raw
    )
