"""Share groups at one broker: share sessions, share partitions of the partitions that it leads, and
the share coordinator's state. Handlers translate; the rules are in `share_partitions` and
`share_states`."""
