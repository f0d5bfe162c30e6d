"""The page: groups drawn from an event log, lessons that run the simulator in the browser, and the
server that shows a log.

`picture` folds a log into what is drawn and said; it reads plain lines and knows neither groups nor
brokers. `engine` plays a scenario under virtual time. The JavaScript under `assets` draws what it
is given and holds no rule of the protocol.
"""

from __future__ import annotations
