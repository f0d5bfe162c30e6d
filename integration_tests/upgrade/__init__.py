"""A rolling upgrade of three brokers, told the same way of real ones and of the emulator's."""
