"""The data pipeline: event logs become tables, metrics, plots and a report; sweeps of simulations
make the logs (docs/pipeline.md).

`schemas` declares the tables, `fold` fills the rows of one run in pure Python, `placement` says
which task does what. All that needs Spark and Arrow stands in `spark`, which nobody imports who
does not ask for the pipeline. Reads the event log and the judges only; sweeps import the simulator,
where a simulation runs.
"""
