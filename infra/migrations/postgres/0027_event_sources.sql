-- Which events of other formats a meter counts, and how: {eventType, valueProperty?, filters?, groupBy?}.
ALTER TABLE meters ADD COLUMN event_source jsonb;
CREATE INDEX meters_with_event_source ON meters (environment) WHERE event_source IS NOT NULL;
