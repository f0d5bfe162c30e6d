"""A Chromium that is not told of network interfaces that come and go.

A container that starts brings an interface, and Chromium then ends every request under way with
ERR_NETWORK_CHANGED. It is told by the kernel over a netlink socket; without one it takes the
network to be as it is. `python undisturbed.py PROGRAM ARGUMENTS` runs a program that cannot open
such a socket (a seccomp filter answers EAFNOSUPPORT); no rights are needed for it.
"""

from __future__ import annotations

import ctypes
import os
import platform
import shlex
import struct
import sys
from pathlib import Path
from typing import Final

_SOCKET: Final = {"x86_64": 41, "aarch64": 198}
"""The number of the system call `socket`."""
_AF_NETLINK: Final = 16
_EAFNOSUPPORT: Final = 97
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_NUMBER, _FIRST_ARGUMENT = 0, 16
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _FILTER = 22, 38, 2


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def undisturbed(program: str, folder: Path) -> str:
    """A command in `folder` that runs this program so; the program itself where that is not
    known to work (no Linux, another processor)."""
    if sys.platform != "linux" or platform.machine() not in _SOCKET:
        return program
    command = folder / "undisturbed"
    words = shlex.join([sys.executable, os.path.abspath(__file__), program])
    command.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    return str(command)


def main(program: str, *arguments: str) -> None:
    """Become the program, without sockets of the kind. Raises OSError where the kernel refuses."""
    steps = (
        (_LOAD, 0, 0, _NUMBER),
        (_EQUAL, 0, 3, _SOCKET[platform.machine()]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_EQUAL, 0, 1, _AF_NETLINK),
        (_RETURN, 0, 0, _ERRNO | _EAFNOSUPPORT),
        (_RETURN, 0, 0, _ALLOW),
    )
    code = b"".join(struct.pack("HBBI", *step) for step in steps)
    kept = ctypes.create_string_buffer(code, len(code))
    filtering = _Program(len(steps), ctypes.addressof(kept))
    libc = ctypes.CDLL(None, use_errno=True)
    for asked in (
        (_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
        (_PR_SET_SECCOMP, _FILTER, ctypes.byref(filtering), 0, 0),
    ):
        if libc.prctl(*asked):
            raise OSError(ctypes.get_errno(), "prctl")
    os.execv(program, [program, *arguments])


if __name__ == "__main__":
    main(*sys.argv[1:])
