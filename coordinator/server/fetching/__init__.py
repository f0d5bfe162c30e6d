"""Parts of the Fetch API: fetch sessions, fetches that wait for data, and injected errors. Start
with `sessions.py`; the handler is `handlers/fetch.py`.
"""
