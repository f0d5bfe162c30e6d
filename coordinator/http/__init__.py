"""Public: the testing kit at the other end of a control port, in `coordinator.http.remote`.

The code stands in `coordinator.kit.http`; nothing in the project imports this package.
"""

from __future__ import annotations
