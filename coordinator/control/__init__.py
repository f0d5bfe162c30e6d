"""Public: the verbs as data, in `coordinator.control.cluster`.

The code stands in `coordinator.kit`; nothing in the project imports this package.
"""

from __future__ import annotations
