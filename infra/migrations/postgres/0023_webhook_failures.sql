-- How the last failed attempt of an endpoint ended, while it fails (`failures` > 0).
ALTER TABLE webhook_endpoints ADD COLUMN last_status integer, ADD COLUMN last_error text;

-- A user asked for this delivery alone: its next attempt does not wait for an open circuit.
ALTER TABLE webhook_queue ADD COLUMN is_hurried boolean NOT NULL DEFAULT false;
CREATE INDEX webhook_queue_hurried ON webhook_queue (endpoint_id, due_at) WHERE is_hurried;

-- Of a delivery that failed or was held: the one that was made when it was replayed.
ALTER TABLE webhook_deliveries ADD COLUMN replayed_as text;
