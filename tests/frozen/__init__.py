"""Outputs made from stored logs, frozen: whoever changes one on purpose stores the new one with it.

`logs/` has logs, compressed, each made once and never again, so that a later version, verb or
scenario changes nothing here: every shipped scenario (seed 1), every one that can be switched to the
consumer protocol (KIP-848), the lessons, seeds of the swarm, a live run of three client libraries
(`live`), a simulation's scenario played in real time (`live-crash`), and the event log's vectors. All
scenarios are whole; none was shortened. `outputs/` has what was made of each, by the output's name.

    python -m tests.frozen                      write all outputs anew
    python -m tests.frozen NAME ...             write those of some logs anew
    python -m tests.frozen --show NAME OUTPUT   print one as it is stored
    python -m tests.frozen --logs               make logs that are missing

`git diff` shows compressed files as binary; `python -m tests.frozen --diff` prints what writing
would change.
"""
