-- Up to which migration of ClickHouse the process that froze the range fills its tables. A process of a
-- release before this one leaves it out, and so cannot freeze a range any more: it would insert events
-- without their hours, which no view makes since migration 4 of ClickHouse.
ALTER TABLE log_ranges ADD COLUMN filled_to smallint NOT NULL DEFAULT 0;
ALTER TABLE log_ranges ALTER COLUMN filled_to DROP DEFAULT;
