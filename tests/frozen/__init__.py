"""Logs and what is made of them: a few are stored, many are compared between two checkouts.

`scenarios/` has short scenarios, `logs/` what is simulated from them, and two recordings: `live`, of
three client libraries, and `live-crash`, of a scenario that was played in real time. `outputs/` has a
text file for each log. A change of a sentence, of a table or of the simulator shows in `git diff`:

    python -m tests.frozen                            store logs and outputs anew
    python -m tests.frozen NAME ...                   those of some logs

A change that must not show anywhere, such as a move of modules, is tried with many more logs: shipped
scenarios, lessons, a swarm, the event log's vectors (`making.py`) and the stored ones. All outputs of
each are made by this checkout and by another one, for example a `git worktree` of the commit before:

    python -m tests.frozen --against CHECKOUT         print what differs, in some minutes
    python -m tests.frozen --against CHECKOUT 'lesson-*' swarm-3
"""
