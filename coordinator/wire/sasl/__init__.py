"""Logins by SASL as both ends compute them: PLAIN and SCRAM.

Imports the standard library alone: who may log in is the server's (`server.security`).
"""

from __future__ import annotations
