"""Epochs fence: who begins anew under a transactional id gets an epoch that nobody had before."""

from __future__ import annotations

from typing import Final

from .base import Judge, Line

_ANEW: Final = -1
_FORGETS: Final = frozenset({"TransactionalIdDeleted", "TransactionalIdExpired"})
_OF_EPOCHS: Final = _FORGETS | {
    "ProducerInitialized",
    "TransactionPrepared",
    "TransactionCompleted",
}


class EpochsFence(Judge):
    """A producer that begins anew has another epoch than any before it."""

    name = "epochs_fence"
    promise = (
        "whoever begins anew under a transactional id gets another producer id, or a higher epoch than any before it, so that the one "
        "before is fenced (KIP-98); only who asks again as the producer that it is may be told the same epoch again (KIP-360)"
    )
    needs = frozenset({"transaction"})
    unasked = True
    looks_at = _OF_EPOCHS | {"LogTruncated"}

    def __init__(self) -> None:
        super().__init__()
        self._epochs: dict[tuple[str, int], int] = {}
        """The highest epoch that a producer id of a transactional id was told."""

    def see(self, line: Line) -> None:
        kind = line["type"]
        if kind == "LogTruncated":  # whoever loads the ids next may not know of the last epochs
            if line["topic"] == "__transaction_state" and line["lost"]:
                self._epochs.clear()
            return
        if kind not in _OF_EPOCHS:
            return
        name = line["transactional_id"]
        if kind in _FORGETS:
            self._epochs = {key: epoch for key, epoch in self._epochs.items() if key[0] != name}
            return
        key, epoch = (name, line["producer_id"]), line["producer_epoch"]
        before = self._epochs.get(key)
        if before is not None and epoch <= before and _is_anew(line):
            self.blame(
                line,
                f"a producer begins anew as {name}, with the id {key[1]} and the epoch {epoch}, and epoch {before} was another's",
            )
        if kind == "TransactionPrepared" and line.get("last_producer_epoch", -1) >= 0:
            return  # the markers' epoch, which fences and is told to nobody
        self._epochs[key] = max(epoch, -1 if before is None else before)


def _is_anew(line: Line) -> bool:
    return line["type"] == "ProducerInitialized" and bool(line["last_producer_epoch"] == _ANEW)
