-- The length of a subscription's periods is stored as it was asked for. Until now it was derived from the
-- first period: as so many months, or as a length of time. What was derived becomes explicit, with the same
-- anchor, so that no period begins or ends at another moment than it would have. A length that is no whole
-- number of days cannot be asked for any more: it stays as it is (`legacy_interval_ms`) until an interval is
-- set. `interval` and `interval_count` say nothing beside it.
ALTER TABLE subscriptions
  ADD COLUMN interval            text NOT NULL DEFAULT 'month'
    CHECK (interval IN ('day', 'week', 'month', 'year')),
  ADD COLUMN interval_count      integer NOT NULL DEFAULT 1 CHECK (interval_count > 0),
  ADD COLUMN legacy_interval_ms  bigint CHECK (legacy_interval_ms > 0),
  -- From when on it counts: a subscription may be made long before its first period.
  ADD COLUMN starts_at           timestamptz,
  -- Whether `cancel_at` is the end of the period, or of the trial, and moves with it.
  ADD COLUMN cancels_at_period_end boolean NOT NULL DEFAULT false,
  -- The plan that it changes to at the end of its period.
  ADD COLUMN pending_plan_id     text REFERENCES plans (id);

UPDATE subscriptions SET
  interval = CASE
    WHEN interval_ms IS NOT NULL THEN 'day'
    WHEN interval_months % 12 = 0 THEN 'year'
    ELSE 'month' END,
  interval_count = CASE
    WHEN interval_ms IS NOT NULL THEN greatest(1, interval_ms / 86400000)
    WHEN interval_months % 12 = 0 THEN interval_months / 12
    ELSE interval_months END,
  legacy_interval_ms = CASE WHEN interval_ms % 86400000 <> 0 THEN interval_ms END,
  -- Until now each counted from the moment on that it was made, also one whose period lies ahead.
  starts_at = least(created_at, anchor, current_period_start),
  cancels_at_period_end = cancel_at IS NOT DISTINCT FROM current_period_end
    AND status NOT IN ('canceled', 'incomplete_expired');

ALTER TABLE subscriptions
  ALTER COLUMN starts_at SET NOT NULL,
  DROP COLUMN interval_months,
  DROP COLUMN interval_ms;

-- What processes of the release before read while this one is rolled out: they go on to answer checks and to
-- settle, and change no subscription any more. Nothing else uses these two.
ALTER TABLE subscriptions
  ADD COLUMN interval_months integer GENERATED ALWAYS AS (
    CASE WHEN legacy_interval_ms IS NULL THEN
      CASE interval WHEN 'month' THEN interval_count WHEN 'year' THEN 12 * interval_count END END) STORED,
  ADD COLUMN interval_ms bigint GENERATED ALWAYS AS (
    coalesce(legacy_interval_ms,
      CASE interval WHEN 'day' THEN 86400000 * interval_count::bigint
                    WHEN 'week' THEN 604800000 * interval_count::bigint END)) STORED;

-- Workspaces that there are keep their own.
ALTER TABLE workspaces ALTER COLUMN past_due_grace_days SET DEFAULT 14;
