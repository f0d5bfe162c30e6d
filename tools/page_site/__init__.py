"""Building the site of lessons: static files that any host serves, with Python as WebAssembly
beside them."""

from __future__ import annotations
