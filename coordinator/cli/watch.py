"""The command `coordinator watch`: its options and exit status. The page and its server are in
`coordinator/lab/page/`."""

from __future__ import annotations

import os
import signal
from argparse import ArgumentTypeError, Namespace
from threading import Event
from typing import TYPE_CHECKING, Final

from . import Subparsers, UsageError

if TYPE_CHECKING:
    from coordinator.lab.page.following import Follower

DESCRIPTION: Final = """Look at an event log in a browser, and what is added to it while
it grows.

The page draws each group's states, its members and who owns which partition over time, and says of
each event what happened and why. Two logs are shown side by side, with one cursor. It is served on
loopback until Ctrl-C. A file that is no log, or a run that is not in it: what, where, what would
be right; status 2."""


def add_parser(subparsers: Subparsers) -> None:
    """Declare the options of `watch`."""
    parser = subparsers.add_parser(
        "watch",
        help="show an event log in a browser",
        description=DESCRIPTION,
        allow_abbrev=False,
    )
    parser.add_argument(
        "log",
        metavar="LOG",
        help="the log, as written by `coordinator serve --log LOG` or `simulate --log LOG`",
    )
    parser.add_argument(
        "beside", metavar="OTHER", nargs="?", help="a second log, shown beside the first one"
    )
    parser.add_argument(
        "--run",
        metavar="RUN",
        help="this run of LOG if it holds several (default: the last one; of OTHER the last one)",
    )
    parser.add_argument(
        "--port",
        type=port,
        default=0,
        metavar="PORT",
        help="listen on this port of 127.0.0.1 (default: a free one)",
    )


def port(text: str) -> int:
    """Return the number of a port, from an option's text."""
    if not text.isdecimal() or int(text) > 65535:
        raise ArgumentTypeError(f"{text!r} is no port: give a number from 0 (a free one) to 65535")
    return int(text)


def run(args: Namespace) -> int:
    """Serve the page until a signal; return 0, or 2 if the log cannot be shown."""
    from coordinator.lab.page.server import PageServer, assets

    follower = _follower(args.log, args.run)
    beside = None if args.beside is None else _follower(args.beside)
    try:
        server = PageServer("127.0.0.1", args.port, assets(), "watch.html", follower, beside=beside)
    except OSError as error:
        raise UsageError(
            f"--port {args.port}: cannot listen there: {error.strerror or error}; --port 0 takes a free one"
        ) from None
    logs = args.log if beside is None else f"{args.log} and {args.beside}"
    serve_until_signal(server, f"{logs} on {server.url}")
    return 0


def _follower(path: str, run: str | None = None) -> Follower:
    """Return the reader of a log. Raises UsageError if it cannot be shown."""
    from coordinator.events import LogError
    from coordinator.lab.page.following import LONG_BYTES, Follower

    try:
        size = os.stat(path).st_size
        if size > LONG_BYTES:
            print(f"reading {path}, {size / 1e6:,.0f} MB", flush=True)
        return Follower(path, run)
    except LogError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        folder = isinstance(error, IsADirectoryError)
        right = (
            "give the event log itself, a file in it"
            if folder
            else f"`coordinator serve --log {path}` writes one"
        )
        raise UsageError(f"cannot read {path}: {error.strerror or error}; {right}") from None


def serve_until_signal(server: object, what: str) -> None:
    """Serve a page until SIGINT or SIGTERM."""
    from coordinator.lab.page.server import PageServer

    assert isinstance(server, PageServer)
    ended = Event()
    former = {
        number: signal.signal(number, lambda *_: ended.set())
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        server.start()
        print(f"showing {what}; Ctrl-C ends")
        print(f"ready: {server.url}", flush=True)
        while not ended.wait(3600):
            pass
        print("stopping", flush=True)
    finally:
        server.stop()
        for number, handler in former.items():
            signal.signal(number, handler)
