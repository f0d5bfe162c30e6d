"""The story of each group: members by one name, and the cause of each rebalance by the lines of both ends."""
