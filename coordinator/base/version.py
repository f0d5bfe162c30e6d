"""The version of this distribution, in a module of its own, so that every layer can import it
without the package's entry points.
"""

from __future__ import annotations

__version__ = "0.1.0"
