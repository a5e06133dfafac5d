"""Makes payouts in some threads until standard input ends, and prints their ids and the errors.

With COUNT, each thread ends after so many.
"""

import itertools
import json
import os
import sys
import threading

import causeway

reference = os.environ["REFERENCE"]
count = int(os.environ.get("COUNT", "1000000"))
payout = {
    "amount": "1000",
    "currency": "VND",
    "reference": reference,
    "beneficiary_id": os.environ["BENEFICIARY"],
}
client = causeway.Client(os.environ["BASE_URL"], os.environ["KEY_ID"], os.environ["SECRET"])
made, failed, stopped = [], [], threading.Event()


def pay(worker):
    for number in itertools.islice(itertools.count(), count):
        if stopped.is_set():
            return
        try:
            made.append(client.payouts.create(payout, f"{reference} {worker} {number}")["id"])
        except causeway.CausewayError as error:
            failed.append(f"{type(error).__name__}: {error}")


threads = [threading.Thread(target=pay, args=(worker,)) for worker in range(4)]
for thread in threads:
    thread.start()
if "COUNT" not in os.environ:
    sys.stdin.read()
    stopped.set()
for thread in threads:
    thread.join()
print(json.dumps({"made": made, "failed": failed}))
