"""State made anew from a log: of one broker (`one_broker`) or of several (`several_brokers`)."""

from __future__ import annotations
