"""With the SDK of OpenMeter for Python, as it is: one event, a batch, the batch again, and events that cannot
be counted. Run by ../check-openmeter.ts, which knows what they come to.
"""

import asyncio
import os
from datetime import datetime, timezone

from corehttp.exceptions import HttpResponseError
from openmeter import Client
from openmeter.aio import Client as AsyncClient
from openmeter.models import Event

URL, KEY, SUBJECT = (os.environ[name] for name in ("METERGATE_URL", "METERGATE_KEY", "SUBJECT"))


def prompt(event_id, tokens, subject=SUBJECT, kind="prompt"):
    data = {"tokens": tokens, "model": "large"}
    names = {"id": event_id, "source": "/py", "type": kind, "subject": subject}
    return {"specversion": "1.0", **names, "data": data}


def assert_rejected(call, status):
    try:
        call()
    except HttpResponseError as error:
        assert error.status_code == status, error
    else:
        raise AssertionError(f"it is taken; expected {status}")


async def ingest_async():
    async with AsyncClient(endpoint=URL, token=KEY) as client:
        await client.events.ingest_event(prompt("async", 3))


client = Client(endpoint=URL, token=KEY)
now = datetime.now(timezone.utc)
model = Event(
    id="model", source="/py", specversion="1.0", type="prompt", subject=SUBJECT, time=now, data={"tokens": 2}
)
batch = [prompt(f"py-{at}", "0.25" if at % 2 else 0.25) for at in range(500)]

client.events.ingest_event(prompt("one", 5))
client.events.ingest_event(model)
client.events.ingest_events(batch)
client.events.ingest_events(batch)
client.events.ingest_event(prompt("unheard", 1, kind="unheard"))
assert_rejected(lambda: client.events.ingest_event(prompt("nobody", 1, subject="nobody")), 404)
# Of a batch the others count.
assert_rejected(
    lambda: client.events.ingest_events([prompt("with", 7), prompt("nobody", 1, subject="nobody")]), 400
)
assert_rejected(lambda: Client(endpoint=URL, token="sk_wrong").events.ingest_event(prompt("wrong", 1)), 401)
asyncio.run(ingest_async())
