"""Times that usage can have (control-plane/http/json-schema.ts): `format: date-time` means any year."""

from datetime import datetime, timezone

import schemathesis
from hypothesis import strategies as st

moments = st.datetimes(datetime(1970, 1, 2), datetime(2099, 12, 30), timezones=st.just(timezone.utc))
schemathesis.openapi.format("date-time", moments.map(datetime.isoformat))
