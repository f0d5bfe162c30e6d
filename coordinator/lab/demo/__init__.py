"""The demo: three client libraries in one group, rebalanced by a real server process, explained and
judged (`coordinator demo`).

`play` is the plot, `processes` runs its players, `judges` pronounces on what was logged and
reported. The players (`producer`, `consumer_*`) are programs of their own: they know Kafka's
protocol through their library and nothing of this project but how to report.
"""
