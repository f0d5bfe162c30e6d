"""Consumer groups of the KIP-848 protocol: model, events, decisions and views, as pure as the
classic ones beside them.

Rules: time is an argument; assignors, the topics of the cluster and the matcher of patterns are
injected (`environment`). Only `evolve` changes a membership. This package does not depend on the
classic membership, sockets, clocks or chance.
"""
