"""The demo: three client libraries in one group, rebalanced by a real server process, explained and
judged (`coordinator demo`).

`play.py` is the script, `processes.py` runs the processes, `judges.py` judges what was logged
and reported. The clients (`producer`, `consumer_*`) are programs of their own: they know Kafka
through their library, and nothing of this project except `report.py`.
"""
