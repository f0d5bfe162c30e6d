"""Findings about the story of a group (`of_groups.py`, `of_members.py`), each with the lines
that show it, and a list of what the files cannot show (`unknowns.py`)."""
