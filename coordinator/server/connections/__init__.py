"""One connection as bytes: frames in, requests handled, answers out, and the lines of the log that say so."""

from __future__ import annotations
