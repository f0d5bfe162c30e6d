"""The newest release, which is the reference: older releases are described by their differences
from it.

Does not depend on the older ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .model import Feature, Release

_METADATA_VERSIONS: Final[Mapping[int, str]] = {
    7: "3.3-IV3",
    8: "3.4-IV0",
    9: "3.5-IV0",
    10: "3.5-IV1",
    11: "3.5-IV2",
    12: "3.6-IV0",
    13: "3.6-IV1",
    14: "3.6-IV2",
    15: "3.7-IV0",
    16: "3.7-IV1",
    17: "3.7-IV2",
    18: "3.7-IV3",
    19: "3.7-IV4",
    20: "3.8-IV0",
    21: "3.9-IV0",
    22: "4.0-IV0",
    23: "4.0-IV1",
    24: "4.0-IV2",
    25: "4.0-IV3",
    26: "4.1-IV0",
    27: "4.1-IV1",
    28: "4.2-IV0",
    29: "4.2-IV1",
    30: "4.3-IV0",
    31: "4.4-IV0",
    32: "4.4-IV1",
    33: "4.4-IV2",
}

_API_VERSIONS: Final[Mapping[int, tuple[int, int]]] = {
    0: (0, 13),
    1: (4, 18),
    2: (1, 11),
    3: (0, 13),
    8: (2, 10),
    9: (1, 10),
    10: (0, 6),
    11: (0, 9),
    12: (0, 4),
    13: (0, 5),
    14: (0, 5),
    15: (0, 6),
    16: (0, 5),
    17: (0, 1),
    18: (0, 5),
    19: (2, 7),
    20: (1, 6),
    21: (0, 2),
    22: (0, 5),
    23: (2, 4),
    24: (0, 5),
    25: (0, 4),
    26: (0, 5),
    27: (1, 2),
    28: (0, 6),
    29: (1, 3),
    30: (1, 3),
    31: (1, 3),
    32: (1, 4),
    33: (0, 2),
    34: (1, 2),
    35: (1, 5),
    36: (0, 2),
    37: (0, 3),
    38: (1, 3),
    39: (1, 2),
    40: (1, 2),
    41: (1, 3),
    42: (0, 3),
    43: (0, 2),
    44: (0, 1),
    45: (0, 1),
    46: (0, 0),
    47: (0, 0),
    48: (0, 1),
    49: (0, 1),
    50: (0, 0),
    51: (0, 0),
    55: (0, 2),
    57: (0, 2),
    60: (0, 2),
    61: (0, 0),
    64: (0, 0),
    65: (0, 0),
    66: (0, 2),
    68: (0, 1),
    69: (0, 1),
    74: (0, 1),
    75: (0, 0),
    76: (1, 1),
    77: (1, 1),
    78: (1, 2),
    79: (1, 2),
    80: (0, 1),
    81: (0, 0),
    83: (0, 0),
    84: (0, 0),
    85: (0, 1),
    86: (0, 0),
    87: (0, 1),
    88: (0, 1),
    89: (0, 1),
    90: (0, 1),
    91: (0, 0),
    92: (0, 0),
    93: (0, 0),
    94: (0, 0),
}
"""Those of the newest release. Produce 0-2 are advertised for librdkafka's sake, as Kafka does, and
close the connection."""


def _newest() -> Release:
    return Release(
        name="4.4",
        number="4.4.0",
        api_versions=_API_VERSIONS,
        features={
            "group.version": Feature(lowest=0, highest=1, finalized=1),
            "kraft.version": Feature(lowest=0, highest=1),
            "metadata.version": Feature(lowest=7, highest=33, finalized=33),
            "share.version": Feature(lowest=0, highest=2, finalized=2),
            "streams.version": Feature(lowest=0, highest=1),
            "transaction.version": Feature(lowest=0, highest=2, finalized=2),
            "eligible.leader.replicas.version": Feature(lowest=0, highest=1, finalized=1),
        },
        metadata_versions=_METADATA_VERSIONS,
    )


NEWEST: Final = _newest()
