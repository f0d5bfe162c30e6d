"""The page: groups drawn from an event log, lessons that run the simulator in the browser, and the
server that shows a log.

`picture` folds a log into what is drawn; it must not know groups or brokers. `engine` plays a
scenario under virtual time. The JavaScript under `assets` draws what it gets and knows no rule
of the protocol. Begin with `picture.py`.
"""

from __future__ import annotations
