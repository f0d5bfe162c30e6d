"""The version of this distribution, alone, so that every layer may say it without importing the
package's entry points."""

from __future__ import annotations

__version__ = "0.1.0"
