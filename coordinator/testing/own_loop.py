"""The emulator of `akafka` on the test's own event loop, which pytest-asyncio or anyio runs.
Neither is required.

Both start asynchronous fixtures on the loop of the test. The test chooses one of them, so there
is a private fixture for each, and `akafka` uses the right one. With pytest-asyncio a loop
belongs to a function, a class, a module, a package or the session; there is a fixture for each
of these, defined only if pytest-asyncio is a plugin of the run.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from types import ModuleType
from typing import Any, Literal

import pytest

SCOPES: tuple[Literal["function", "class", "module", "package", "session"], ...] = (
    "function",
    "class",
    "module",
    "package",
    "session",
)
ON_ANYIO = "_akafka_of_anyio"
Started = Callable[[pytest.FixtureRequest], AsyncIterator[Any]]


def register(config: pytest.Config, started: Started) -> None:
    """Register the private fixtures. `started`: starts the emulator of a request, yields it, and
    ends it."""
    holder = ModuleType("kafka_on_the_loop_of_the_test")

    async def of_anyio(request: pytest.FixtureRequest, anyio_backend: Any) -> AsyncIterator[Any]:
        async for kafka in started(request):
            yield kafka

    setattr(holder, ON_ANYIO, pytest.fixture(name=ON_ANYIO)(of_anyio))
    if config.pluginmanager.hasplugin("asyncio"):
        import pytest_asyncio

        for scope in SCOPES:

            async def of_asyncio(request: pytest.FixtureRequest) -> AsyncIterator[Any]:
                async for kafka in started(request):
                    yield kafka

            setattr(
                holder,
                _of_asyncio(scope),
                pytest_asyncio.fixture(name=_of_asyncio(scope), loop_scope=scope)(of_asyncio),
            )
    config.pluginmanager.register(holder, "kafka-on-the-loop-of-the-test")


def fixture_for(request: pytest.FixtureRequest) -> str | None:
    """Return the name of the private fixture that starts the emulator on this test's loop; None
    if no plugin runs a loop for the test."""
    if any(kind.__module__.startswith("pytest_asyncio.") for kind in type(request.node).__mro__):
        marker = request.node.get_closest_marker("asyncio")
        given = {} if marker is None else marker.kwargs
        return _of_asyncio(
            given.get("loop_scope")
            or given.get("scope")
            or request.config.getini("asyncio_default_test_loop_scope")
        )
    if "anyio_backend" in request.fixturenames:
        backend = request.getfixturevalue("anyio_backend")
        name = backend if isinstance(backend, str) else backend[0]
        if name != "asyncio":
            pytest.fail(
                f"akafka runs on asyncio, this test on {name}: let its fixture anyio_backend return 'asyncio'",
                pytrace=False,
            )
        return ON_ANYIO
    return None


def _of_asyncio(scope: str) -> str:
    return f"_akafka_of_asyncio_{scope}"
