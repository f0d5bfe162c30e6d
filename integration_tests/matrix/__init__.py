"""The client matrix of docs/clients.md: client libraries of several languages in several versions,
each played in an environment of its own on the emulator."""
