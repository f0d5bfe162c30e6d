"""The shop: writes orders, one a second, for the billing service to have something to do.

python shop.py 20                    # so many; KAFKA_BOOTSTRAP_SERVERS says where, localhost:9092 if it is not set
"""

from __future__ import annotations

import json
import os
import sys
import time

from kafka import KafkaProducer

CUSTOMERS = ("ada", "barbara", "grace", "hedy", "radia")


def order(number: int) -> tuple[bytes, bytes]:
    """Key and value of an order. A customer's orders have one key, so they stay in one partition
    and in their order."""
    customer = CUSTOMERS[number % len(CUSTOMERS)]
    fields = {"id": f"A-{number}", "customer": customer, "cents": 500 + number * 125}
    return customer.encode(), json.dumps(fields).encode()


def main() -> None:
    """Write as many orders as the first argument says, 20 without one."""
    producer = KafkaProducer(
        bootstrap_servers=os.environ.get("KAFKA_BOOTSTRAP_SERVERS", "localhost:9092")
    )
    for number in range(int(sys.argv[1]) if len(sys.argv) > 1 else 20):
        key, value = order(number)
        producer.send("orders", key=key, value=value).get(timeout=10)
        print(f"ordered {value.decode()}", flush=True)
        time.sleep(1)
    producer.close()


if __name__ == "__main__":
    main()
