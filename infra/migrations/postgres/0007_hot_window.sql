-- The smallest HOT_WINDOW_HOURS that the key store was used with: what is older than that may be swept.
ALTER TABLE key_stores ADD COLUMN window_ms bigint;
