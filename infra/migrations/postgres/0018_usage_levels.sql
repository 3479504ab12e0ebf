-- What customers have used of their limits and budgets in the running period: one row for each meter of a
-- customer that has one and has used something. The settlement keeps it, in the transaction that settles the
-- usage. `changes_at` is when time alone makes it another: the period's end, or a change of the limit that is
-- known ahead. `used_ahead`: there is usage of a time after the period.
CREATE TABLE usage_levels (
  environment   text NOT NULL REFERENCES environments (id),
  customer_id   text NOT NULL,
  meter_key     text NOT NULL,
  share         numeric NOT NULL,
  current       numeric NOT NULL,
  usage_limit   numeric,
  budget        numeric,
  period_start  timestamptz NOT NULL,
  period_end    timestamptz NOT NULL,
  changes_at    timestamptz NOT NULL,
  used_ahead    boolean NOT NULL,
  updated_at    timestamptz NOT NULL,
  PRIMARY KEY (environment, customer_id, meter_key)
);
CREATE INDEX usage_levels_share ON usage_levels (environment, share DESC, customer_id, meter_key);
CREATE INDEX usage_levels_of_meter ON usage_levels (environment, meter_key, share DESC, customer_id);
CREATE INDEX usage_levels_due ON usage_levels (changes_at);

-- What was used before is written by the settlement, which finds these marks.
INSERT INTO settlement_marks (environment, customer_id, meter_key, from_at)
SELECT environment, customer_id, meter_key, date_trunc('milliseconds', now())
  FROM (SELECT environment, customer_id, meter_key FROM budgets
        UNION
        SELECT environment, customer_id, meter_key FROM metered_terms WHERE limits <> '{}') AS limited;

-- Deliveries of all endpoints are listed, newest first, also those of one state or type.
ALTER TABLE webhook_deliveries ADD COLUMN event_type text;
UPDATE webhook_deliveries d SET event_type = e.type FROM webhook_events e WHERE e.id = d.event_id;
CREATE INDEX webhook_deliveries_all ON webhook_deliveries (environment, created_at DESC, id DESC);
CREATE INDEX webhook_deliveries_unsent ON webhook_deliveries (environment, state, created_at DESC, id DESC)
  WHERE state <> 'succeeded';
CREATE INDEX webhook_deliveries_type
  ON webhook_deliveries (environment, event_type, created_at DESC, id DESC);
