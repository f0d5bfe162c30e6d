"""The computations of SASL logins at both ends: PLAIN and SCRAM.

Imports the standard library alone: the server decides who may log in (`server.security`).
"""

from __future__ import annotations
