"""Resident memory: a server at rest, and what each member adds, its connection included."""

from __future__ import annotations

from benchmarks.process import Client, Row, member_alone, server

_MEMBERS = 1000


def _measure(loop: str, members: int) -> tuple[int, float]:
    """(bytes at rest, bytes a member)."""
    with server("--topic", "orders:12", loop=loop) as serving:
        first = Client(serving.address)
        member_alone(first, "warm")  # loads what any group needs
        idle = serving.resident_bytes()
        clients = [Client(serving.address) for _ in range(members)]
        for index, client in enumerate(clients):
            member_alone(client, f"group-{index // 10}-{index % 10}")
        each = (serving.resident_bytes() - idle) / members
        for client in (first, *clients):
            client.close()
    return idle, each


def run(members: int = _MEMBERS) -> list[Row]:
    """Measure both kinds of loop. Every member has a group of its own, which is the dearest way."""
    rows = []
    for loop in ("uvloop", "asyncio"):
        idle, each = _measure(loop, members)
        rows.append(Row(f"resident memory at rest, {loop}", idle / 1e6, "MB", "<= 45"))
        rows.append(
            Row(
                f"resident memory of a member, with its group and connection, {loop}",
                each / 1000,
                "kB",
                "<= 10",
            )
        )
    return rows


if __name__ == "__main__":
    print(*run(), sep="\n")
