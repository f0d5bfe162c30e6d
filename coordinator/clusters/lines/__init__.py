"""Files as log lines: unpacking, broken lines, prefixes of other tools, time stamps. Knows no log message."""
