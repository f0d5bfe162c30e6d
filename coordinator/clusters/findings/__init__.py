"""Findings about the story of a group, each with the lines that show it, and what the files cannot show."""
