"""The diagnosis as text, Markdown, HTML, JSON and event log, and with stable names in place of the real ones."""
