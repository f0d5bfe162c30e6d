"""The testing kit: faults, verbs, waits and views as plain typed data, the emulator that a test holds,
and every way in.

Python, pytest, scenario files, HTTP and the command line build the same values; none of them has
words of its own. `emulator` is the embeddable object, `http` the control port and its remote twin,
`ready_tests` the cases that judge an application, `admin` an administrator's client. Begin with `kit.py`
(what a test may ask), then `faults.py` and `cluster.py`.

Imports everything below: server, members, history. Nothing here is imported by them.
"""
