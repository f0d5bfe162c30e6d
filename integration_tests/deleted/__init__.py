"""Consumers whose records are deleted or compacted, in five client libraries: what docs/testing_deleted.md
says of each.

Read `topics.py` first: it makes the logs. Each reader is a program that is given the broker's
address and a list of tasks, and prints a line for each. A task is one argument, its words separated
by a bar:

    read|NAME|TOPIC|GROUP|AUTO_OFFSET_RESET|ISOLATION_LEVEL|UNTIL
    times|NAME|TOPIC|TIMESTAMP_MS

`read` consumes partition 0 as a member of the group until its position is UNTIL, and prints the
offsets of what it was given: `NAME: read 10 11`. `times` prints what the library's look-up by time
answers: `NAME: found 10`, or `NAME: found nothing`. An error that the application is told ends a
task: `NAME: OffsetOutOfRangeError`.
"""
