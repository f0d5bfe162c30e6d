"""The one vocabulary of control: faults, verbs and expectations as plain typed data, for every way
in.

Python, pytest, scenario files, HTTP and the command line build these values and nothing else; none
of them has words of its own.
"""
