"""Scenarios told in raw protocol messages, played against any Kafka address, and the transcripts
they leave.

    python -m integration_tests.wire.compare A B [names]      the same scenarios on two brokers; prints where they part
    python -m integration_tests.wire.fuzz A B --of groups     random scenarios, seed after seed (also logs, batches, frames, admin)
    python -m integration_tests.wire.record A [names]         keeps a real broker's transcripts in integration_tests/golden/wire
    python -m integration_tests.wire.coverage                 which scenarios touch which rules

What was kept is replayed against the emulator by integration_tests/test_wire.py, without any other
broker. The brokers that scenarios of a profile expect are configured as `registry.PROFILES` says.
Broker A may live on: every run brings its own names.
"""
