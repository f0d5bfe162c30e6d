"""FindCoordinator of share partitions (KIP-932, SH-FC-1)."""

from __future__ import annotations

from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.sharing import PROFILE, Shared

_ID = "A" * 22


@scenario(PROFILE, since="4.2")
def keys_of_share_partitions(s: Session) -> None:
    """Group, topic id and partition, read from the right."""
    Shared(s)
    link = s.connect()
    keys = [
        *(f"g:{_ID}:0", f"g:{_ID}:-1", f"g:{_ID}:+1", f"g:{_ID}:{(1 << 31) - 1}"),
        *(f"g:x:{_ID}:1", f"g::{_ID}:1", f" :{_ID}:1"),
        *(f":{_ID}:0", f"g:{_ID}:x", f"g:{_ID}:", f"g:{_ID}:{1 << 31}", f"g:{_ID}:1.0"),
        *("", "g", "g:0", f"g:{_ID}", "g:A:1", f"g:{_ID}A:1", f"g:{'=' * 22}:1", "g:x:1:2"),
    ]
    link.ask("FindCoordinator", 6, key_type=2, coordinator_keys=keys)
    link.ask("FindCoordinator", 5, key_type=2, coordinator_keys=keys[:1])
    link.ask("FindCoordinator", 6, key_type=3, coordinator_keys=keys[:1])
