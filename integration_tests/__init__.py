"""Black-box tests: they know addresses and the protocol, never the inside of what they test."""
