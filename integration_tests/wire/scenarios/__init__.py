"""The scenarios, one module an area. Each function's docstring says what it shows, with the rules
it touches."""
