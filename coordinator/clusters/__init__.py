"""Diagnosis of other people's Kafka clusters from text: logs of brokers and of clients, output of
`kafka-consumer-groups`.

`reading` turns files into facts (`lines` and `dialects`), `joining` puts the facts of all files
together into one story for each group (`stories`), `findings` judges it, `output` shows it. A
cause is stated only if a line states it; everything else is marked as not known. Begin with
`diagnosis.py`.
"""
