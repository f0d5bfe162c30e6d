"""Consumer groups of the KIP-848 protocol: model, decisions and views.

Time is an argument; assignors, the cluster's topics and the matcher of patterns are injected
(`environment`). Only `evolve` changes a membership. Does not know classic membership, sockets,
clocks or randomness. Begin with `model.py` and `heartbeat.py`.
"""
