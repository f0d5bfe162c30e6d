"""`coordinator serve` and what belongs to it: environment, health, the log in a topic."""
