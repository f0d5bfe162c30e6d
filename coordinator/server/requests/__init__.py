"""Parts around a handler: the values it exchanges (`call`), refusals in Kafka's form (`refusals`,
`error_places`), large requests in slices, and answers held until they are replicated
(`commit_gate`). Knows no handler; begin with `call.py`.
"""
