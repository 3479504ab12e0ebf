-- Delivery of the outbox. A delivery is one event for one endpoint. It is `pending` exactly while it has a
-- row in webhook_queue; `held`: its endpoint was disabled; the others have ended. Who disables or deletes
-- an endpoint changes its row alone: the dispatch then takes its deliveries out of the queue. Where both
-- are locked, the endpoint's row comes first.

-- Events of earlier releases are told to nobody: none of their endpoints was promised them.
ALTER TABLE webhook_events ADD COLUMN fanned_out boolean NOT NULL DEFAULT true;
ALTER TABLE webhook_events ALTER COLUMN fanned_out SET DEFAULT false;
CREATE INDEX webhook_events_not_fanned_out ON webhook_events (created_at) WHERE NOT fanned_out;

-- `failures` in a row, since `failing_since`. While `circuit_until` is set the circuit is open: nothing is
-- sent before it, and then one delivery, the probe. `circuit_probes` of them have failed. `disabled_reason`
-- of the dispatch: 'gone' (answered 410) or 'failing' (for days, and nothing else).
ALTER TABLE webhook_endpoints
  ADD COLUMN failures integer NOT NULL DEFAULT 0,
  ADD COLUMN failing_since timestamptz,
  ADD COLUMN circuit_until timestamptz,
  ADD COLUMN circuit_probes integer NOT NULL DEFAULT 0,
  ADD COLUMN disabled_reason text;

-- Partitions of a day each, by UTC, that go as a whole. The default ones are a net for days that nobody
-- made.
CREATE TABLE webhook_deliveries (
  id               text NOT NULL,
  environment      text NOT NULL,
  endpoint_id      text NOT NULL,
  event_id         text NOT NULL,
  state            text NOT NULL CHECK (state IN ('pending', 'succeeded', 'failed', 'held')),
  attempts         integer NOT NULL DEFAULT 0,
  last_status      integer,
  last_error       text,
  last_attempt_at  timestamptz,
  created_at       timestamptz NOT NULL,
  PRIMARY KEY (id, created_at)
) PARTITION BY RANGE (created_at);
CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (endpoint_id, created_at DESC, id DESC);
CREATE TABLE webhook_deliveries_default PARTITION OF webhook_deliveries DEFAULT;

-- `created_at` is that of the delivery, so that both go together; of whole milliseconds. Heads are as they
-- were sent and received; the body is cut off.
CREATE TABLE webhook_attempts (
  delivery_id    text NOT NULL,
  number         integer NOT NULL,
  environment    text NOT NULL,
  created_at     timestamptz NOT NULL,
  started_at     timestamptz NOT NULL,
  duration_ms    integer NOT NULL,
  status         integer,
  error_code     text,
  request_head   text NOT NULL,
  response_head  text,
  response_body  text,
  PRIMARY KEY (delivery_id, number, created_at)
) PARTITION BY RANGE (created_at);
CREATE TABLE webhook_attempts_default PARTITION OF webhook_attempts DEFAULT;

-- What is still to be sent. An attempt is made under a lease; who has taken it, and until when. Rows are
-- changed in place, so that taking them touches no index.
CREATE TABLE webhook_queue (
  delivery_id          text PRIMARY KEY,
  delivery_created_at  timestamptz NOT NULL,
  environment          text NOT NULL,
  endpoint_id          text NOT NULL,
  event_id             text NOT NULL,
  attempts             integer NOT NULL DEFAULT 0,
  due_at               timestamptz NOT NULL,
  owner                text,
  lease_until          timestamptz
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
CREATE INDEX webhook_queue_due ON webhook_queue (endpoint_id, due_at, delivery_id);

-- Endpoints with anything to be sent, each with its first moment: one step down the index for each of them,
-- however much waits behind it.
CREATE VIEW webhook_waiting AS
WITH RECURSIVE waiting AS (
  (SELECT endpoint_id, due_at FROM webhook_queue ORDER BY endpoint_id, due_at LIMIT 1)
  UNION ALL
  SELECT next.endpoint_id, next.due_at FROM waiting, LATERAL (
    SELECT q.endpoint_id, q.due_at FROM webhook_queue q WHERE q.endpoint_id > waiting.endpoint_id
     ORDER BY q.endpoint_id, q.due_at LIMIT 1
  ) AS next
)
SELECT endpoint_id, due_at FROM waiting;

-- Makes the partitions of some days, from a day on. Those that are there stay as they are.
CREATE FUNCTION make_webhook_partitions(first_day date, days integer) RETURNS void LANGUAGE plpgsql
SET lock_timeout = '2s' AS $$
DECLARE
  day date;
  parent text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('webhook_partitions'));
  FOR day IN SELECT first_day + n FROM generate_series(0, days - 1) AS n LOOP
    FOREACH parent IN ARRAY ARRAY['webhook_deliveries', 'webhook_attempts'] LOOP
      IF to_regclass(parent || to_char(day, '"_"YYYYMMDD')) IS NULL THEN
        BEGIN
          EXECUTE format(
            'CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L) WITH (fillfactor = 70)',
            parent || to_char(day, '"_"YYYYMMDD'), parent,
            day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC');
        EXCEPTION WHEN check_violation THEN
          NULL; -- rows of that day are in the net, and stay there
        END;
      END IF;
    END LOOP;
  END LOOP;
END $$;

-- Drops the partitions of days before a day, and what waits in the queue or strayed into the net from then.
CREATE FUNCTION drop_webhook_partitions(kept_from date) RETURNS integer LANGUAGE plpgsql
SET lock_timeout = '2s' AS $$
DECLARE
  moment timestamptz := kept_from::timestamp AT TIME ZONE 'UTC';
  child text;
  dropped integer := 0;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('webhook_partitions'));
  DELETE FROM webhook_queue WHERE delivery_created_at < moment;
  DELETE FROM webhook_deliveries_default WHERE created_at < moment;
  DELETE FROM webhook_attempts_default WHERE created_at < moment;
  FOR child IN
    SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent IN ('webhook_deliveries'::regclass, 'webhook_attempts'::regclass)
       AND c.relname ~ '_[0-9]{8}$' AND right(c.relname, 8) < to_char(kept_from, 'YYYYMMDD')
  LOOP
    EXECUTE format('DROP TABLE %I', child);
    dropped := dropped + 1;
  END LOOP;
  RETURN dropped;
END $$;

SELECT make_webhook_partitions((now() AT TIME ZONE 'UTC')::date, 4);

-- A wake-up for whoever delivers; the poll is the net.
CREATE FUNCTION notify_metergate_outbox() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NOTIFY metergate_outbox;
  RETURN NULL;
END $$;
CREATE TRIGGER webhook_events_told AFTER INSERT ON webhook_events
  FOR EACH STATEMENT EXECUTE FUNCTION notify_metergate_outbox();
CREATE TRIGGER webhook_queue_told AFTER INSERT ON webhook_queue
  FOR EACH STATEMENT EXECUTE FUNCTION notify_metergate_outbox();

-- While a secret is being replaced both sign; sealed for the same purpose as `secret`.
ALTER TABLE webhook_endpoints ADD COLUMN previous_secret bytea, ADD COLUMN previous_secret_until timestamptz;
