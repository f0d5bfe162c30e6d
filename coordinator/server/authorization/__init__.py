"""Checks of a broker with an authorizer before serving a request: one table of APIs, and how their
refusals are made.

`table` says which right an API wants and which error its lack is; `asking` decides; `special` has
the APIs whose answers are more than one error in its place. A broker without an authorizer loads
none of it.
"""

from __future__ import annotations
