"""Internals of the sticky assignors: `numbers` (partitions as ints), `claims` (owners before),
`equal` and `general` (the algorithms for equal and for different subscriptions)."""
