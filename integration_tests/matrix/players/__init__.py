"""Players: one small program a client library, which is one member of a group and uses nothing but
what the library's users use.

A player is called with `ADDRESS GROUP TOPIC PROTOCOL [INSTANCE]`; the protocol is classic, consumer
or share. It reads orders from its standard input, a line each, and answers on its standard output:

    commit                what it has read is committed (a share group: acknowledged): "done"
    release               of a share group: what it has read goes back: "done"
    transact OUT commit   it writes what it has read to the topic OUT and commits it, in one
    transact OUT abort    transaction, or takes both back: "done"
    leave                 it closes its consumer as an application does, and ends

In between it polls, and says of each record `read PARTITION OFFSET VALUE`. It reads what is
committed only. `failed TEXT` is the last line of a player that cannot go on.
"""
