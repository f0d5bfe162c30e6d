"""Reading records: fetch sessions, fetches that wait for data, where errors of a fetch stand."""
