"""What the stage and an agent say to each other: the one contract of the client matrix.

An *agent* is a process that hosts consumers of one client library. It is told what to do by lines
on its standard input and tells what happened by lines on its standard output: one JSON object a
line, UTF-8, flushed at once. Standard error is for the library's own log. End of input means: exit
at once, without leaving any group. An agent never decides anything, never retries, never judges;
whatever is odd it reports.

One agent hosts many *members*, each with a thread (or task) of its own. A member carries out its
commands one after the other, and polls in between while its polling is on; so a command waits for
at most one poll. Commands of different members do not wait for each other.

Commands: every one has `id` (int, echoed in its reply) and `do`.

    {"id": 1, "do": "produce", "bootstrap": "127.0.0.1:9092", "records": [["topic", 0, "value", 1000], ...]}
        of the agent, not of a member. Topic, partition, value (UTF-8 text, no key), timestamp in ms or null for now.
        All records are acknowledged (acks=all) before the reply; one producer per bootstrap address may be kept.
        Records of one partition keep their order. Result: [["topic", 0, first offset, last offset], ...], sorted.

The others are of a member, `member` (a name without chance, unique in its agent):

    {"id": 2, "do": "create", "member": "A", "config": {"bootstrap.servers": "127.0.0.1:9092", "group.id": "g", ...}}
        Makes the consumer. The keys are Kafka's own names; values are strings, numbers or booleans. Java and librdkafka
        take them as they are, but for `partition.assignment.strategy`, which is one of `range`, `roundrobin`, `sticky`,
        `cooperative-sticky`. A library that lacks a key translates it to its nearest, or leaves it out. Values of records
        are text. Keys and values of the config that the stage sends always: bootstrap.servers, group.id, client.id,
        partition.assignment.strategy, session.timeout.ms, heartbeat.interval.ms, max.poll.interval.ms, auto.offset.reset,
        enable.auto.commit, metadata.max.age.ms; sometimes: group.instance.id, auto.commit.interval.ms, max.poll.records,
        isolation.level, allow.auto.create.topics.
    {"do": "subscribe", "topics": ["t", ...], "on_revoked": "commit"}   or   {"do": "subscribe", "pattern": "^t-.*"}
        Subscribes with a rebalance listener that reports every call. `on_revoked` is optional: "commit" makes the listener
        commit the current positions, synchronously, inside its revoked call, after reporting the call.
    {"do": "assign", "partitions": [["t", 0], ...]}         manual assignment, no group membership
    {"do": "unsubscribe"}
    {"do": "poll", "on": true}                              polls of about 100 ms from now on, until "on": false
    {"do": "pause", "partitions": [["t", 0]]}      {"do": "resume", "partitions": [["t", 0]]}
    {"do": "seek", "partition": ["t", 0], "offset": 3}
    {"do": "seek_to_beginning", "partitions": [...]}    {"do": "seek_to_end", "partitions": [...]}
    {"do": "commit"}                                        synchronously, the current positions of all that is assigned
    {"do": "commit", "offsets": [["t", 0, 3], ...]}         synchronously, these
    {"do": "committed", "partitions": [["t", 0], ...]}      -> [["t", 0, offset or null], ...]
    {"do": "position", "partitions": [["t", 0], ...]}       -> [["t", 0, offset or null], ...]
    {"do": "beginning_offsets", "partitions": [...]}        -> [["t", 0, offset], ...]
    {"do": "end_offsets", "partitions": [...]}              -> [["t", 0, offset], ...]
    {"do": "offsets_for_times", "times": [["t", 0, ms], ...]}   -> [["t", 0, offset or null], ...]   null: nothing so late
    {"do": "assignment"}                                    -> [["t", 0], ...]
    {"do": "paused"}                                        -> [["t", 0], ...]
    {"do": "subscription"}                                  -> ["t", ...]
    {"do": "member_id"}                                     -> text   (null where the library does not tell)
    {"do": "close"}                                         closes the consumer as an application would; the member is gone
    {"do": "wakeup"}                                        Java: at once, from another thread; others answer "Unsupported"

Replies: {"reply": id, "result": value} or {"reply": id, "error": NAME}. The result of a command
without one is null. Lists of partitions and offsets are sorted by topic, then partition.

Events, in the order in which they happened to the member:

    {"event": "assigned", "member": "A", "partitions": [["t", 0], ...]}     the listener was called: with these, sorted
    {"event": "revoked", "member": "A", "partitions": [...]}
    {"event": "lost", "member": "A", "partitions": [...]}
    {"event": "committed in revoked", "member": "A", "result": null}        or "error": NAME
    {"event": "records", "member": "A", "records": [["t", 0, offset, "value"], ...]}    what one poll returned, if anything
    {"event": "poll failed", "member": "A", "error": NAME}    a poll raised; the same error again in a row is not told again.
        The member waits 100 ms and polls on.
    {"event": "odd", "member": "A", "text": "..."}            anything that should not happen (a stack trace, say)

The order of lines is the order of things: a listener's event is written before the reply of the
command or before the records of the poll inside which it was called.

`NAME` is the error's name in Kafka's table of error codes (`FENCED_INSTANCE_ID`,
`ILLEGAL_GENERATION`), where the library passes on a broker's error; for what only clients know it
is the library's exception class without a suffix `Error` or `Exception` (`CommitFailed`,
`RebalanceInProgress`, `Wakeup`, `NoOffsetForPartition`); for librdkafka's own codes, their name
(`_MAX_POLL_EXCEEDED`). Java: `Errors.forException`, unless that is UNKNOWN_SERVER_ERROR, then the
class.

The first line an agent writes is {"ready": "library version"}.
"""

from __future__ import annotations
