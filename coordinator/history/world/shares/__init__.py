"""The facts of share groups (KIP-932): their members, and who held which records until when."""

from __future__ import annotations
