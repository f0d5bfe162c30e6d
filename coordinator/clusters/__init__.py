"""Other people's Kafka, told from the text that they have: logs of brokers and of clients, output of
`kafka-consumer-groups`.

`reading` turns files into facts (one module a dialect), `joining` puts the facts of all files
together into one story a group, `findings` and `unknowns` judge it, `frame` and `text` show it.
A cause is told only where a line tells it: what the files do not tell is `unknown`.
"""
