"""Folds one run into the rows of all tables, line by line, in pure Python.

`run.RunFold` feeds every line to one observer for each subject; an observer passes rows to
`emit` as soon as they are complete. The same code runs in a task of Spark and, without Spark, in
`without_spark.tables_of`. It reads lines; it must not know the coordinator's groups.
"""
