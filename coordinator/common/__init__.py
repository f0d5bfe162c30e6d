"""Common parts that no package owns: deadlines, work in slices, Java's hash, text made printable.
Depends on the standard library alone."""

from __future__ import annotations
