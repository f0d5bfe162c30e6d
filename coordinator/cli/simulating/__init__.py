"""Commands that run scenarios under virtual time: one run, comparisons, the swarm."""
