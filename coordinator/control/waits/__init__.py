"""What a wait looks at: conditions of groups, and what members have done with what they were given."""

from __future__ import annotations
