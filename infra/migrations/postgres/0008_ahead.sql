-- The largest EVENT_AHEAD_MINUTES_MAX that the key store was used with: so much longer its keys are needed.
ALTER TABLE key_stores ADD COLUMN ahead_ms bigint;
