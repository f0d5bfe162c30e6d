"""The command `coordinator lessons`: its options and exit status. It serves files that are built already
(`tools/page_site`); the server itself is `coordinator/lab/page/server.py`."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Final

from . import Subparsers, UsageError
from .watch import port, serve_until_signal

DESCRIPTION: Final = """Look at the lessons that `make site` built, or at any folder that
holds the built site.

They are served on loopback until Ctrl-C: a browser loads their parts only from a server. A folder
without the site: status 2."""


def add_parser(subparsers: Subparsers) -> None:
    """The options of `lessons`."""
    parser = subparsers.add_parser(
        "lessons",
        help="show the built lessons in a browser",
        description=DESCRIPTION,
        allow_abbrev=False,
    )
    parser.add_argument(
        "directory", metavar="DIR", help="the folder with the built site, such as build/site"
    )
    parser.add_argument(
        "--port",
        type=port,
        default=0,
        metavar="PORT",
        help="listen on this port of 127.0.0.1 (default: a free one)",
    )


def run(args: Namespace) -> int:
    """Serve until a signal; 0, or 2 for a folder that holds no site."""
    from coordinator.lab.page.server import PageServer

    root = Path(args.directory)
    if not (root / "site.json").is_file():
        raise UsageError(
            f"{root} holds no built site (there is no site.json in it); in a checkout, `make site` builds one into build/site"
        )
    try:
        server = PageServer("127.0.0.1", args.port, root, "index.html")
    except OSError as error:
        raise UsageError(
            f"--port {args.port}: cannot listen there: {error.strerror or error}; --port 0 takes a free one"
        ) from None
    serve_until_signal(server, f"{root} on {server.url}")
    return 0
