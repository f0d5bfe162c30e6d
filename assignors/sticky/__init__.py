"""How the sticky assignors work inside: `numbers` (partitions as ints), `claims` (who holds what),
`equal` and `general` (the two ways)."""
