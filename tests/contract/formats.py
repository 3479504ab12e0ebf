"""What the fuzzer sends for the formats of the description."""

import json
from datetime import datetime, timezone

import schemathesis
from hypothesis import strategies as st

# Times that usage can have (control-plane/http/json-schema.ts): `format: date-time` means any year.
moments = st.datetimes(datetime(1970, 1, 2), datetime(2099, 12, 30), timezones=st.just(timezone.utc))
schemathesis.openapi.format("date-time", moments.map(datetime.isoformat))

# Bodies that are JSON as text; nullable-members.ts gives them their media type as format.
ids = st.text(st.characters(min_codepoint=1, exclude_categories=["Cs", "Cc"]), min_size=1, max_size=128)

usage_events = st.fixed_dictionaries(
    {"idempotencyKey": ids, "customerId": ids, "meterId": ids, "value": st.integers(-(10**9), 10**9)},
    optional={"occurredAt": moments.map(datetime.isoformat)},
)
lines = st.lists(usage_events.map(json.dumps), min_size=1, max_size=5).map("\n".join)
schemathesis.openapi.format("application/x-ndjson", lines)

funnel_events = st.fixed_dictionaries(
    {"event": st.sampled_from(["widget_view", "checkout_started"]), "sessionId": ids},
    optional={"planId": ids},
)
schemathesis.openapi.format("application/json", funnel_events.map(json.dumps))


@schemathesis.serializer("application/x-ndjson")
def serialize_lines(ctx, value):
    text = value if isinstance(value, str) else json.dumps(value)
    return text.encode("utf-8", "surrogatepass")
