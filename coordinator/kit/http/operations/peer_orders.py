"""Operations without a body that each kind of simulated member has: pause, resume, crash, ..."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..json_values import DONE
from ..operation import operation
from ..port import Port


def register(
    path: str,
    name: str,
    orders: Mapping[str, str],
    crash: str,
    registered: Callable[[Port], Any],
    shown: Callable[[Any], dict[str, Any]],
    answer: Any,
    tell: Any,
) -> None:
    """Register `POST path/{peer_id}/ORDER` for each order, by its name as a method of the member, with
    its summary; and the same for `crash`, after which the member is forgotten. `name`: the beginning
    of the operations' names. `registered`: returns the members that were started over HTTP. `shown`:
    a member as `answer` describes it. `tell`: the answer as text."""

    def order(method: str, summary: str) -> None:
        def give(port: Port, body: Any, peer_id: str) -> Any:
            found = registered(port).find(peer_id)
            getattr(found.handle, method)()
            return shown(found)

        give.__name__ = f"{name}_{method}"
        operation(
            "POST", f"{path}/{{peer_id}}/{method}", summary=summary, answer=answer, tell=tell
        )(give)

    def give_crash(port: Port, body: Any, peer_id: str) -> Any:
        found = registered(port).find(peer_id)
        found.handle.crash()
        registered(port).forget(found)
        return {"done": True}

    for method, summary in orders.items():
        order(method, summary)
    give_crash.__name__ = f"{name}_crash"
    operation("POST", f"{path}/{{peer_id}}/crash", summary=crash, answer=DONE)(give_crash)
