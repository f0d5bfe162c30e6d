"""Authorization of requests at a broker with an authorizer, before the handler serves them.

`table` says which right each API needs and which error its lack causes; `asking` asks the
authorizer; `special` has the APIs that need more than an error in the entry's place. A broker
without an authorizer loads none of it. Begin with `table.py`.
"""

from __future__ import annotations
