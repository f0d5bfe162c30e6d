"""Applications as pure state machines: consuming, working on a share group's records, and producing
at a steady rate. `reports` has the values by which they report. They know no clock or
connection.
"""

from __future__ import annotations
