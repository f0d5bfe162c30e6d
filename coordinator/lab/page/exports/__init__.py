"""Exports: a run of the page, or a group of a log, as a scenario file (`as_file.py`,
`copying.py`) or as a pytest test (`as_pytest.py`)."""
