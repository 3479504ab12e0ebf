-- The credits that a plan's version grants again and again: the list of them, decimals as texts. One row
-- for each change while the version is a draft: a period that is granted late gets what held at its start.
CREATE TABLE plan_credit_grants (
  plan_id    text NOT NULL REFERENCES plans (id),
  version    integer NOT NULL,
  starts_at  timestamptz NOT NULL,
  grants     jsonb NOT NULL,
  PRIMARY KEY (plan_id, version, starts_at)
);

-- Which grant of which period of a subscription this is: there is none a second time. `part` 0 is what was
-- rolled over, 1 the grant, and more what a change to a larger plan added. `lapsed`: what was left of a grant
-- when it expired.
ALTER TABLE credit_grants
  ADD COLUMN subscription_id  text REFERENCES subscriptions (id),
  ADD COLUMN grant_key        text,
  ADD COLUMN period_start     timestamptz,
  ADD COLUMN part             smallint,
  ADD COLUMN lapsed           numeric NOT NULL DEFAULT 0,
  ADD CONSTRAINT credit_grants_recurring UNIQUE (subscription_id, grant_key, period_start, part),
  ADD CONSTRAINT credit_grants_recurring_check
    CHECK (num_nulls(subscription_id, grant_key, period_start, part) IN (0, 4));

-- When time alone makes a subscription's next grant due: at its start, or in the middle of its period.
CREATE TABLE credit_schedules (
  subscription_id  text PRIMARY KEY REFERENCES subscriptions (id),
  environment      text NOT NULL REFERENCES environments (id),
  due_at           timestamptz NOT NULL
);
CREATE INDEX credit_schedules_due ON credit_schedules (due_at, subscription_id);
