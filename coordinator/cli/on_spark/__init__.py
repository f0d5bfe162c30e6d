"""Commands that work on Spark: tables, sweeps, statistics, reports, alerts."""
