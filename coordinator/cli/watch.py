"""The command `coordinator watch`: its options and exit status. The page and its server are in
`coordinator/lab/page/`."""

from __future__ import annotations

import os
import signal
from argparse import ArgumentTypeError, Namespace
from threading import Event
from typing import Final

from . import Subparsers, UsageError

DESCRIPTION: Final = """Look at an event log in a browser, and what is added to it while
it grows.

The page draws each group's states, its members and who owns which partition over time, and says of
each event what happened and why. It is served on loopback until Ctrl-C. A file that is no log, or a
run that is not in it: what, where, what would be right; status 2."""


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
        "--run", metavar="RUN", help="this run of a log that holds several (default: the last one)"
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
    from coordinator.events import LogError
    from coordinator.lab.page.following import LONG_BYTES, Follower
    from coordinator.lab.page.server import PageServer, assets

    try:
        size = os.stat(args.log).st_size
        if size > LONG_BYTES:
            print(f"reading {args.log}, {size / 1e6:,.0f} MB", flush=True)
        follower = Follower(args.log, args.run)
    except LogError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        folder = isinstance(error, IsADirectoryError)
        right = (
            "give the event log itself, a file in it"
            if folder
            else f"`coordinator serve --log {args.log}` writes one"
        )
        raise UsageError(f"cannot read {args.log}: {error.strerror or error}; {right}") from None
    try:
        server = PageServer("127.0.0.1", args.port, assets(), "watch.html", follower)
    except OSError as error:
        raise UsageError(
            f"--port {args.port}: cannot listen there: {error.strerror or error}; --port 0 takes a free one"
        ) from None
    serve_until_signal(server, f"{args.log} on {server.url}")
    return 0


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
