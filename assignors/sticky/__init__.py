"""The algorithms of the sticky assignors: `numbers` (partitions as ints), `claims` (former owners),
`equal` and `general` (equal and different subscriptions).

`assignors.sticky_assignor` has the two classes that use them.
"""
