"""A live emulator of Kafka's group coordinator.

`from coordinator import Emulator` is what embeds it in a program; `python -m coordinator` is the
command line. The import is lazy: `coordinator.wire` or `coordinator.core.groups` alone never pull in
asyncio.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.version import __version__

if TYPE_CHECKING:
    from coordinator.kit.emulator.embedded import Emulator

__all__ = ["Emulator", "__version__"]


def __getattr__(name: str) -> object:
    """PEP 562: load `Emulator` when it is first asked for."""
    if name == "Emulator":
        from coordinator.kit.emulator.embedded import Emulator

        return Emulator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
