"""Options of a pytest that a test runs on a suite of its own, in a process of its own.

Hypothesis's plugin is left out: such suites draw nothing, and to import it takes a second.
"""

from __future__ import annotations

from typing import Final

PLAIN: Final = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest")
"""Warnings are shown, and tests may be spread over workers."""

QUIET: Final = (*PLAIN, "-p", "no:xdist", "-W", "ignore")
"""One process, which shows no warnings."""
