"""Parts without a dependency: error numbers, releases of Kafka as data, deadlines, work in slices,
Java's hash order, text made printable.

Begin with `errors` and `deadlines`. Imports the standard library alone.
"""

from __future__ import annotations
