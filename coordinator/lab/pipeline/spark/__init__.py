"""The part of the pipeline that runs on Spark and writes Parquet. It needs the `spark` extra
(PySpark, PyArrow) and, for a session, Java. Begin with `tables.py`."""
