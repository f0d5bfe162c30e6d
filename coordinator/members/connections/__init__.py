"""A client's side of its connections: bytes, login, carrying out what a member wants."""
