"""The data pipeline: event logs become tables, metrics, plots and a report; sweeps of simulations
make the logs (docs/pipeline.md).

`schemas` declares the tables, `fold` fills the rows of one run in pure Python, `placement`
distributes the work over tasks. Everything that needs Spark and Arrow is in `spark`, which
is imported only for the pipeline. Reads the event log and the judges; sweeps import the
simulator when a simulation runs.
"""
