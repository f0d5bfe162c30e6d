"""Files as log lines: decompression, broken lines, prefixes of other tools, time stamps. It must
not know any log message; `coordinator/clusters/dialects/` does."""
