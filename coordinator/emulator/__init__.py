"""Public: settings for client libraries, in `coordinator.emulator.client_config`.

The emulator itself is `coordinator.Emulator`. The code stands in `coordinator.kit.emulator`; nothing
in the project imports this package.
"""

from __future__ import annotations
