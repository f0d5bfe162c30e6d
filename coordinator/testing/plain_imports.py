"""Keeps pytest from rewriting the assertions of this package, except in ready tests.

pytest rewrites the assertions of a plugin's whole package, so it parses each module when it is
imported. Modules are imported here when they are first needed, also by an emulator's own thread,
and CPython 3.11 fails with "SystemError: AST constructor recursion depth mismatch" when two
threads parse at the same time. Ready tests (`coordinator.kit.ready_tests`) are imported by tests
alone, and keep their detailed assertions.
"""

from __future__ import annotations

import pytest

_PACKAGE = "coordinator"


def leave_plain(config: pytest.Config) -> None:
    """Exclude this package from pytest's assertion rewriting. If pytest's import hook has other
    internals, nothing is changed."""
    hook = getattr(config.pluginmanager, "rewrite_hook", None)
    marked = getattr(hook, "_must_rewrite", None)
    cache = getattr(hook, "_marked_for_rewrite_cache", None)
    if isinstance(marked, set) and isinstance(cache, dict) and _PACKAGE in marked:
        marked.remove(_PACKAGE)
        marked |= {f"{_PACKAGE}.testing", f"{_PACKAGE}.kit.ready_tests"}
        cache.clear()
