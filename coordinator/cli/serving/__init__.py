"""The command `coordinator serve` (`serve.py`) and its parts: settings from the environment, the
health check, the log in a topic."""
