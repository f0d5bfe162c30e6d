"""The page and the lessons in a real browser, and their engine as WebAssembly in Node."""

from __future__ import annotations
