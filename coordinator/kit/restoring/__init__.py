"""Going back: snapshots of a whole emulator, emptying it, restarts of its brokers."""
