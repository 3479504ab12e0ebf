-- What one customer holds beside its subscriptions: overrides, credits, budgets, and what was told of it.
-- Every tenant row carries its environment.

-- Overrides. One per customer and feature, in place of what subscriptions give. `enabled` is for boolean
-- features; for the others a missing amount is unlimited. One that has expired stays until it is replaced.
CREATE TABLE overrides (
  id           text PRIMARY KEY,
  environment  text NOT NULL REFERENCES environments (id),
  customer_id  text NOT NULL REFERENCES customers (id),
  feature_id   text NOT NULL REFERENCES features (id) ON DELETE CASCADE,
  enabled      boolean,
  amount       numeric,
  expires_at   timestamptz,
  reason       text,
  created_at   timestamptz NOT NULL,
  updated_at   timestamptz NOT NULL,
  UNIQUE (customer_id, feature_id)
);
CREATE INDEX overrides_feature ON overrides (feature_id);

-- Credits. A wallet's row is the lock of all that moves its customer's credits. `balance` is what its grants
-- have left, `unpaid` what was burned beyond it; one of the two is zero. Amounts have up to 24 fraction
-- digits: a rate times an amount of usage.
CREATE TABLE credit_wallets (
  customer_id  text PRIMARY KEY REFERENCES customers (id),
  environment  text NOT NULL REFERENCES environments (id),
  balance      numeric NOT NULL DEFAULT 0 CHECK (balance >= 0),
  unpaid       numeric NOT NULL DEFAULT 0 CHECK (unpaid >= 0),
  CHECK (balance = 0 OR unpaid = 0)
);

CREATE TABLE credit_grants (
  id           text PRIMARY KEY,
  environment  text NOT NULL REFERENCES environments (id),
  customer_id  text NOT NULL REFERENCES credit_wallets (customer_id),
  amount       numeric NOT NULL CHECK (amount > 0),
  remaining    numeric NOT NULL CHECK (remaining >= 0 AND remaining <= amount),
  reason       text NOT NULL,
  priority     integer NOT NULL,
  expires_at   timestamptz,
  created_at   timestamptz NOT NULL
);
-- In the order in which they are burned.
CREATE INDEX credit_grants_open ON credit_grants (customer_id, priority, expires_at, created_at, id)
  WHERE remaining > 0;
CREATE INDEX credit_grants_due ON credit_grants (expires_at, id)
  WHERE remaining > 0 AND expires_at IS NOT NULL;

-- `amount` is what an entry changed the balance by, `unpaid` the unpaid rest: the sums of both are the
-- wallet. What one meter burned in one hour is one entry, so that the ledger grows with the hours and not
-- with the settlements; all others are written once.
CREATE TABLE credit_ledger (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  environment   text NOT NULL REFERENCES environments (id),
  customer_id   text NOT NULL REFERENCES credit_wallets (customer_id),
  type          text NOT NULL CHECK (type IN ('grant', 'repayment', 'burn', 'expiry')),
  amount        numeric NOT NULL,
  unpaid        numeric NOT NULL,
  grant_id      text REFERENCES credit_grants (id),
  meter_key     text,
  period_start  timestamptz,
  burn_hour     timestamptz,
  created_at    timestamptz NOT NULL,
  updated_at    timestamptz NOT NULL,
  UNIQUE (customer_id, meter_key, period_start, burn_hour),
  CHECK ((type = 'burn') = (grant_id IS NULL)),
  CHECK ((type = 'burn') = (meter_key IS NOT NULL AND period_start IS NOT NULL AND burn_hour IS NOT NULL))
);
CREATE INDEX credit_ledger_newest ON credit_ledger (environment, customer_id, created_at DESC, id DESC);

-- What was told of entitlements. Of a customer the last told value of each feature that was told to be
-- allowed: true, an amount as text, or null for unlimited. One without a row was told nothing. The row is the
-- lock of what is told of its customer; `version` grows with whatever touches what the customer holds.
-- `resolved_at` is the moment that was told of, `next_turn` the next at which time alone may change a value.
CREATE TABLE entitlements_told (
  environment  text NOT NULL REFERENCES environments (id),
  customer_id  text NOT NULL REFERENCES customers (id),
  told         jsonb NOT NULL DEFAULT '{}',
  version      bigint NOT NULL DEFAULT 1,
  resolved_at  timestamptz NOT NULL,
  next_turn    timestamptz,
  PRIMARY KEY (environment, customer_id)
) WITH (fillfactor = 80);
CREATE INDEX entitlements_told_turn ON entitlements_told (next_turn) WHERE next_turn IS NOT NULL;

-- What plans, features, add-ons and the workspace's settings are: grows with each change of one of them.
CREATE TABLE catalogue_versions (
  environment  text PRIMARY KEY REFERENCES environments (id),
  version      bigint NOT NULL
);

-- Changes that touch many customers. One goes through them from `position` to the end and, where its target
-- has changed again meanwhile, once more from the start up to `round_to`. The row is gone when it is done.
CREATE TABLE fanout_jobs (
  environment  text NOT NULL REFERENCES environments (id),
  scope        text NOT NULL CHECK (scope IN ('plan', 'addon', 'feature', 'past_due')),
  target       text NOT NULL,
  position     text NOT NULL DEFAULT '',
  round_to     text NOT NULL DEFAULT '',
  is_round     boolean NOT NULL DEFAULT false,
  revision     bigint NOT NULL DEFAULT 1,
  asked_at     timestamptz NOT NULL,
  worked_at    timestamptz NOT NULL,
  PRIMARY KEY (environment, scope, target)
);

-- In the order in which they go through customers.
DROP INDEX subscriptions_plan;
CREATE INDEX subscriptions_plan ON subscriptions (plan_id, customer_id);
DROP INDEX subscription_addons_addon;
CREATE INDEX subscription_addons_addon ON subscription_addons (addon_id, subscription_id);
-- Each change of a plan asks whether its version is pinned: without it every subscription was looked at.
CREATE INDEX subscriptions_pinned ON subscriptions (plan_id, plan_version) WHERE plan_version IS NOT NULL;
CREATE INDEX subscriptions_past_due ON subscriptions (environment, customer_id) WHERE status = 'past_due';

-- What customers hold at this moment counts as told: the first event is of the first change from here on. No
-- overrides yet.
INSERT INTO entitlements_told (environment, customer_id, told, resolved_at, next_turn)
WITH living AS (
  SELECT s.environment, s.customer_id, s.id, s.plan_id, s.plan_version,
         CASE s.status WHEN 'past_due' THEN s.status_since + w.past_due_grace_days * interval '24 hours' END
           AS grace_ends
    FROM subscriptions s
    JOIN customers c ON c.id = s.customer_id AND c.status = 'active'
    JOIN environments e ON e.id = s.environment
    JOIN workspaces w ON w.id = e.workspace_id
   WHERE s.status IN ('trialing', 'active', 'past_due')),
counted AS (
  SELECT * FROM living WHERE grace_ends IS NULL OR grace_ends > now()),
given AS (
  SELECT counted.customer_id, pe.feature_id, pe.enabled, pe.amount, pe.soft, 1 AS times
    FROM counted
    JOIN plans ON plans.id = counted.plan_id
    JOIN plan_entitlements pe
      ON pe.plan_id = plans.id AND pe.version = coalesce(counted.plan_version, plans.version)
  UNION ALL
  SELECT counted.customer_id, ae.feature_id, ae.enabled, ae.amount, ae.soft, sa.quantity
    FROM counted
    JOIN subscription_addons sa ON sa.subscription_id = counted.id
    JOIN addon_entitlements ae ON ae.addon_id = sa.addon_id),
resolved AS (
  SELECT customer_id, feature_id, bool_or(enabled) AS enabled, bool_or(soft) AS soft,
         CASE WHEN bool_and(amount IS NOT NULL) THEN sum(amount * times) END AS amount
    FROM given GROUP BY customer_id, feature_id),
told AS (
  SELECT r.customer_id,
         jsonb_object_agg(f.key, CASE f.type WHEN 'boolean' THEN to_jsonb(true)
                                             ELSE to_jsonb(trim_scale(r.amount)::text) END) AS told
    FROM resolved r
    JOIN features f ON f.id = r.feature_id
   WHERE CASE f.type WHEN 'boolean' THEN r.enabled ELSE r.amount IS NULL OR r.amount > 0 OR r.soft END
   GROUP BY r.customer_id)
SELECT living.environment, living.customer_id, coalesce(max(told.told::text), '{}')::jsonb, now(),
       min(living.grace_ends) FILTER (WHERE living.grace_ends > now())
  FROM living LEFT JOIN told USING (customer_id)
 GROUP BY living.environment, living.customer_id;

-- What a meter's usage costs, from when on: a version owns what occurs from its start up to the next one's,
-- the first of a meter that was made with rates everything before as well. Credits are burned from
-- `burns_from` on.
CREATE TABLE meter_rates (
  environment   text NOT NULL REFERENCES environments (id),
  meter_key     text NOT NULL,
  version       integer NOT NULL,
  started_at    timestamptz NOT NULL,
  burns_from    timestamptz NOT NULL,
  credit_rate   numeric,
  credit_rates  jsonb,
  PRIMARY KEY (environment, meter_key, version),
  FOREIGN KEY (environment, meter_key) REFERENCES meters (environment, key)
);
-- Rates of an earlier release were only shown: what occurred under them burns nothing afterwards.
INSERT INTO meter_rates (environment, meter_key, version, started_at, burns_from, credit_rate, credit_rates)
SELECT environment, key, 1, to_timestamp(0), now(), credit_rate, credit_rates
  FROM meters WHERE credit_rate IS NOT NULL OR credit_rates IS NOT NULL;

-- Thresholds that a customer's usage of a meter is watched by. At least one of the two.
CREATE TABLE budgets (
  environment  text NOT NULL REFERENCES environments (id),
  customer_id  text NOT NULL REFERENCES customers (id),
  meter_key    text NOT NULL,
  soft         numeric,
  hard         numeric,
  created_at   timestamptz NOT NULL,
  updated_at   timestamptz NOT NULL,
  PRIMARY KEY (environment, customer_id, meter_key),
  CHECK (soft IS NOT NULL OR hard IS NOT NULL),
  CHECK (soft <= hard),
  FOREIGN KEY (environment, meter_key) REFERENCES meters (environment, key)
);
CREATE INDEX budgets_meter ON budgets (environment, meter_key);
CREATE INDEX features_meter ON features (environment, meter_key) WHERE meter_key IS NOT NULL;

-- What usage has burned so far: one row per customer, meter, span of occurred time, rate version and value of
-- the rates' property ('=' and the value; '' is what has no rate of its own). Spans of one customer's meter
-- never overlap: a span lies within one billing period and one rate version, and is cut where either turns
-- out to end sooner.
CREATE TABLE credit_burns (
  environment  text NOT NULL REFERENCES environments (id),
  customer_id  text NOT NULL,
  meter_key    text NOT NULL,
  span_from    timestamptz NOT NULL,
  span_to      timestamptz NOT NULL CHECK (span_to > span_from),
  version      integer NOT NULL,
  label        text NOT NULL,
  burned       numeric NOT NULL CHECK (burned > 0),
  PRIMARY KEY (environment, customer_id, meter_key, span_from, label)
) WITH (fillfactor = 80);

-- Thresholds that were crossed: each is told once in a period.
CREATE TABLE usage_crossings (
  environment   text NOT NULL REFERENCES environments (id),
  customer_id   text NOT NULL,
  meter_key     text NOT NULL,
  period_start  timestamptz NOT NULL,
  threshold     numeric NOT NULL,
  crossed_at    timestamptz NOT NULL,
  PRIMARY KEY (environment, customer_id, meter_key, period_start, threshold)
);

-- What a change of budgets, limits or rates leaves to be settled anew. Without a customer: everybody whose
-- usage of the meter occurred from then on, `position` says how far that is done.
CREATE TABLE settlement_marks (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  environment  text NOT NULL REFERENCES environments (id),
  customer_id  text,
  meter_key    text NOT NULL,
  from_at      timestamptz NOT NULL,
  position     text NOT NULL DEFAULT ''
);
