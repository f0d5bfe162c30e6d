"""Diagnosis of Kafka clusters of other people from the text that they have: logs of brokers and of
clients, output of `kafka-consumer-groups`.

`reading` turns files into facts (`lines` and `dialects`), `joining` puts the facts of all files
together into one story for each group (`stories`), `findings` judges it, `output` shows it.
A cause is stated only where a line states it; anything else is marked as not known.
"""
