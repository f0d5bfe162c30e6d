"""Options of commands that write an event log (`--log PATH`, `--log-append [PATH]`, `--log-replace
[PATH]`), and what each does to a file that exists."""

from __future__ import annotations

import argparse

from . import UsageError


def take(args: argparse.Namespace, *modes: str, needs_path: bool = True) -> None:
    """Set `log` and `log_mode` from the options; both are None if no option names a log.
    `modes`: the command's options for append and replace. Raises UsageError for two paths, or
    for none."""
    args.log_mode = None
    for mode in modes:
        path = getattr(args, f"log_{mode}")
        if path is None:
            continue
        args.log_mode = mode
        if path is not True and args.log not in (None, path):
            raise UsageError(
                f"--log {args.log} and --log-{mode} {path}: there is one log; name its path once"
            )
        args.log = args.log if path is True else path
        if args.log is None and needs_path:
            raise UsageError(f"--log-{mode}: of which log? Write --log PATH --log-{mode}")
