-- Changes of usage: voids, amendments, corrections by selection and backfills
-- (docs/decisions/corrections.md). Rows of usage carry the number of their change, on the log and in
-- ClickHouse; all of them count once the one row here is `visible`.
--
--   open     its records may be on the log and stored; nobody sees them
--   closing  all of its records are durable on the log, before the positions of `ends_at`
--   visible  all of them are loaded; written by the aggregator
--   reverted nobody sees them any more; they stay stored, unless `rows_removed_at` is set
--
-- Numbers of an environment are in the order in which the rows were committed: a reader that knows of one
-- knows of all before it (insertUsageChange in domain/store/usage-changes.ts). Ordinary usage has the
-- number 0.
CREATE SEQUENCE usage_change_numbers;

CREATE TABLE usage_changes (
  number           bigint PRIMARY KEY DEFAULT nextval('usage_change_numbers'),
  environment      text NOT NULL REFERENCES environments (id),
  id               text NOT NULL UNIQUE,
  kind             text NOT NULL CHECK (kind IN ('void', 'amendment', 'selection', 'backfill')),
  state            text NOT NULL CHECK (state IN ('open', 'closing', 'visible', 'reverted')),
  -- It takes events away: set before the first of its voids is on the log.
  has_voids        boolean NOT NULL,
  -- What was asked for, by kind: a reason, a selection, a name and span.
  request          jsonb NOT NULL,
  -- [{"logId", "partition", "end"}]: its records are before these positions. Null while it is open.
  ends_at          jsonb,
  created_by       text NOT NULL,
  created_at       timestamptz NOT NULL,
  closed_at        timestamptz,
  visible_at       timestamptz,
  reverted_at      timestamptz,
  rows_removed_at  timestamptz
);

-- The newest, and those that nobody may see (domain/store/usage-views.ts).
CREATE INDEX usage_changes_of_environment ON usage_changes (environment, number DESC);
CREATE INDEX usage_changes_hidden ON usage_changes (environment, number)
  WHERE state <> 'visible' AND rows_removed_at IS NULL;
CREATE INDEX usage_changes_with_voids ON usage_changes (environment) WHERE has_voids;
CREATE INDEX usage_changes_closing ON usage_changes (number) WHERE state = 'closing';
CREATE INDEX usage_changes_list ON usage_changes (environment, kind, created_at DESC, id DESC);

-- Which change takes an event away: one at most. Where the event is stored is found by customer, meter and
-- time; `of_change` is the change that the event itself is of. `written` is false until its record is durable
-- on the log.
CREATE TABLE usage_voids (
  environment  text NOT NULL,
  event_id     text NOT NULL,
  change       bigint NOT NULL REFERENCES usage_changes (number),
  of_change    bigint NOT NULL,
  customer_id  text NOT NULL,
  meter_key    text NOT NULL,
  occurred_at  timestamptz NOT NULL,
  written      boolean NOT NULL DEFAULT false,
  PRIMARY KEY (environment, event_id)
);

CREATE INDEX usage_voids_of_change ON usage_voids (change, event_id);
CREATE INDEX usage_voids_unwritten ON usage_voids (change, event_id) WHERE NOT written;
