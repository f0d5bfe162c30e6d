"""One run folded into the rows of all tables, line by line, in pure Python.

`run.RunFold` feeds every line to one observer for each subject; an observer hands rows to `emit` as
soon as they are whole. The same fold runs in a task of Spark and, without Spark, in
`plain.tables_of`. Does not depend on the coordinator's groups: it reads lines.
"""
