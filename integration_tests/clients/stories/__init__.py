"""The stories of the client matrix, one file a theme. Every variant plays all that suit it."""
