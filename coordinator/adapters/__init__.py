"""Public: this project's assignors for other client libraries, one module a library.

The code stands in `coordinator.members.adapters`; nothing in the project imports this package.
"""

from __future__ import annotations
