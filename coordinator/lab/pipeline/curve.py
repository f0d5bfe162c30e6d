"""The curve: costs of joins, departures, crashes and deployments against the size of a group, for
each rebalance protocol.

Defines the simulations (a sweep of `docs/curve/scenario.toml`) and the measures taken from them.
`spark.curve` runs them; `curve_page` writes the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Final, NamedTuple

from ..statistics import Estimate
from .sweeps import Sweep, Variant
from .windows import Begins

SIZES: Final = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
PROTOCOLS: Final[Mapping[str, tuple[str, ...]]] = {
    "eager range": ("assignor=range",),
    "eager sticky": ("assignor=sticky",),
    "cooperative-sticky": ("assignor=cooperative-sticky",),
    "static members, range": ("assignor=range", "static=true"),
    "KIP-848, uniform": ("protocol=consumer", "assignor=uniform"),
}
"""The rebalance protocols, and the settings of the members that use each."""
WINDOWS: Final[Begins] = (
    ("join", 0),
    ("leave", "churn 1"),
    ("crash", "churn 2"),
    ("one more", "churn 3"),
    ("deployment", "churn 4"),
)
EVENTS: Final = {
    "join": "all members join a new group within nine seconds",
    "leave": "one member leaves (a static one is closed, which Kafka does not tell the group: its session has to expire)",
    "crash": "one member is killed; its session expires after 45 s",
    "one more": "one member joins",
    "deployment": "a tenth of the members is restarted, in five steps of 20 s, each within 3 s of its step and back after 5 s",
}
TOPICS: Final = 10
_STEPS = 5
_DEFAULT_IS_ENOUGH: Final = 2000
"""Members of the largest group whose generation fits into Kafka's message.max.bytes, with any
protocol."""
_LARGE_RECORDS: Final = "brokers.config.message.max.bytes=10485760"


class Measured(NamedTuple):
    """A column of table `windows` that becomes a curve. `scale`: factor from its unit to that of
    the page and the plots."""

    column: str
    title: str
    scale: float


MEASURED: Final = (
    Measured("recovered_ms", "time until the group is Stable again, s", 1 / 1000),
    Measured("unavailable_partition_ms", "partitions unavailable, partition s", 1 / 1000),
    Measured("moved", "partitions moved", 1),
    Measured("extra_bytes", "traffic beyond heartbeats, kB", 1 / 1000),
)


class CurvePoint(NamedTuple):
    """Distribution of one measure over the seeds, in the unit of its column."""

    protocol: str
    members: int
    event: str
    measure: str
    median: Estimate
    p5: float
    p95: float


def curve_settings(protocol: str, members: int) -> tuple[str, ...]:
    """Return the scenario's settings for a size: two partitions for each member, in ten topics.
    `members` is at least 10."""
    rolling = members // 10
    rest = members - rolling
    own = [f"members.{kind}.{each}" for kind in ("app", "rolling") for each in PROTOCOLS[protocol]]
    topics = [f"topics.t{number}={ceil(2 * members / TOPICS)}" for number in range(TOPICS)]
    larger = (_LARGE_RECORDS,) if members > _DEFAULT_IS_ENOUGH else ()
    return (
        *own,
        *topics,
        *larger,
        f"members.app.count={rest}",
        f"members.rolling.count={rolling}",
        f"churn.1.to={rest - 1}",
        f"churn.2.to={rest - 2}",
        f"churn.3.to={rest - 1}",
        f"churn.4.at_once={ceil(rolling / _STEPS)}",
    )


def curve_sweep(
    text: str, sizes: Sequence[int], seeds: int, protocols: Sequence[str] = tuple(PROTOCOLS)
) -> Sweep:
    """Return the sweep of the curve: sizes from 10 on, seeds 1 to `seeds`. `text`: the
    scenario's."""
    variants = tuple(
        Variant(f"{protocol}: {size}", curve_settings(protocol, size))
        for size in sizes
        for protocol in protocols
    )
    return Sweep(
        "docs/curve/scenario.toml", text, variants, tuple(range(1, seeds + 1)), "windows", WINDOWS
    )


def plot_name(event: str, measure: Measured) -> str:
    """Return the name of a plot's files."""
    return f"{event.replace(' ', '-')}-{measure.column.removesuffix('_ms').replace('_', '-')}"
