-- The history of each customer's meter: by which periods its usage is counted, and up to which limits it is
-- covered, from when on (schemas/rules/metered-terms.ts). A row is written in the transaction of the change
-- that begins it; what time will change is written ahead. `period_start` is the start of the period in which
-- the term begins. Without a subscription periods are calendar months. `source_start` and `source_end` are
-- the subscription's period as it was recorded.
CREATE TABLE metered_terms (
  environment         text NOT NULL,
  customer_id         text NOT NULL REFERENCES customers (id),
  meter_key           text NOT NULL,
  starts_at           timestamptz NOT NULL,
  period_start        timestamptz NOT NULL,
  limits              numeric[] NOT NULL,
  is_unlimited        boolean NOT NULL,
  subscription_id     text REFERENCES subscriptions (id),
  source_start        timestamptz,
  source_end          timestamptz,
  anchor              timestamptz,
  interval            text,
  interval_count      integer,
  legacy_interval_ms  bigint,
  PRIMARY KEY (environment, customer_id, meter_key, starts_at),
  CHECK ((subscription_id IS NULL) = (anchor IS NULL)),
  CHECK (num_nulls(source_start, source_end, anchor, interval, interval_count) IN (0, 5)),
  FOREIGN KEY (environment, meter_key) REFERENCES meters (environment, key)
);

-- What holds of customers now, as it was read until now: a limit as it is now covers all of the time that its
-- subscription has lived; one that has ended, or an override that has expired, covers its own.
INSERT INTO metered_terms
WITH lived AS (
  SELECT s.*, coalesce(s.plan_version, p.version) AS version,
         CASE s.status WHEN 'past_due' THEN s.status_since + w.past_due_grace_days * interval '24 hours'
                       WHEN 'paused' THEN s.status_since
                       WHEN 'unpaid' THEN s.status_since END AS stops_counting
    FROM subscriptions s
    JOIN plans p ON p.id = s.plan_id
    JOIN environments e ON e.id = s.environment
    JOIN workspaces w ON w.id = e.workspace_id
   WHERE s.status NOT IN ('incomplete', 'incomplete_expired')),
given AS (
  SELECT lived.id, pe.feature_id, f.meter_key, pe.amount
    FROM lived
    JOIN plan_entitlements pe ON pe.plan_id = lived.plan_id AND pe.version = lived.version
    JOIN features f ON f.id = pe.feature_id AND f.meter_key IS NOT NULL
  UNION ALL
  SELECT lived.id, ae.feature_id, f.meter_key, ae.amount * sa.quantity
    FROM lived
    JOIN subscription_addons sa ON sa.subscription_id = lived.id
    JOIN addon_entitlements ae ON ae.addon_id = sa.addon_id
    JOIN features f ON f.id = ae.feature_id AND f.meter_key IS NOT NULL),
granted AS (
  SELECT lived.environment, lived.customer_id, lived.created_at, lived.starts_at, lived.canceled_at,
         lived.stops_counting, given.*
    FROM lived JOIN given USING (id)),
replaced AS (
  SELECT o.environment, o.customer_id, o.feature_id, f.meter_key, o.amount, o.expires_at
    FROM overrides o JOIN features f ON f.id = o.feature_id AND f.meter_key IS NOT NULL),
moments AS (
  SELECT environment, customer_id, meter_key, starts_at AS at FROM granted
  UNION SELECT environment, customer_id, meter_key, canceled_at FROM granted
  UNION SELECT environment, customer_id, meter_key, stops_counting FROM granted
  UNION SELECT environment, customer_id, meter_key, expires_at FROM replaced
  UNION SELECT environment, customer_id, meter_key, to_timestamp(0) FROM replaced),
giving AS (
  SELECT m.environment, m.customer_id, m.meter_key, m.at, g.id, g.created_at, g.feature_id, g.amount,
         g.stops_counting IS NULL OR m.at < g.stops_counting AS counts
    FROM moments m
    JOIN granted g USING (environment, customer_id, meter_key)
   WHERE g.starts_at <= m.at AND (g.canceled_at IS NULL OR m.at < g.canceled_at)),
in_force AS (
  SELECT m.environment, m.customer_id, m.meter_key, m.at, r.feature_id, r.amount
    FROM moments m
    JOIN replaced r USING (environment, customer_id, meter_key)
   WHERE r.expires_at IS NULL OR m.at < r.expires_at),
resolved AS (
  SELECT environment, customer_id, meter_key, at, feature_id,
         CASE WHEN bool_and(amount IS NOT NULL) THEN sum(amount) END AS amount
    FROM giving
   WHERE counts AND NOT EXISTS (
         SELECT FROM in_force o
          WHERE (o.environment, o.customer_id, o.feature_id, o.at)
              = (giving.environment, giving.customer_id, giving.feature_id, giving.at))
   GROUP BY environment, customer_id, meter_key, at, feature_id
  UNION ALL
  SELECT environment, customer_id, meter_key, at, feature_id, amount FROM in_force),
limited AS (
  SELECT environment, customer_id, meter_key, at, bool_or(amount IS NULL) AS is_unlimited,
         coalesce(array_agg(amount ORDER BY amount) FILTER (WHERE amount IS NOT NULL), '{}') AS limits
    FROM resolved GROUP BY environment, customer_id, meter_key, at),
sourced AS (
  SELECT DISTINCT ON (environment, customer_id, meter_key, at)
         environment, customer_id, meter_key, at, id AS subscription_id
    FROM giving ORDER BY environment, customer_id, meter_key, at, counts DESC, created_at, id),
terms AS (
  SELECT m.*, coalesce(l.limits, '{}') AS limits, coalesce(l.is_unlimited, false) AS is_unlimited,
         s.subscription_id,
         lag(s.subscription_id, 1, '') OVER own IS DISTINCT FROM s.subscription_id AS is_other
    FROM moments m
    LEFT JOIN limited l USING (environment, customer_id, meter_key, at)
    LEFT JOIN sourced s USING (environment, customer_id, meter_key, at)
   WHERE m.at IS NOT NULL
  WINDOW own AS (PARTITION BY m.environment, m.customer_id, m.meter_key ORDER BY m.at)),
runs AS (
  SELECT terms.*, count(*) FILTER (WHERE is_other) OVER (
           PARTITION BY environment, customer_id, meter_key ORDER BY at) AS run
    FROM terms)
SELECT runs.environment, runs.customer_id, runs.meter_key, runs.at,
       min(runs.at) OVER (PARTITION BY runs.environment, runs.customer_id, runs.meter_key, run),
       runs.limits, runs.is_unlimited, runs.subscription_id, s.current_period_start, s.current_period_end,
       s.anchor, s.interval, s.interval_count, s.legacy_interval_ms
  FROM runs LEFT JOIN subscriptions s ON s.id = runs.subscription_id;

-- When a change of many was made: what it changes holds from then on, whenever each customer's turn comes.
ALTER TABLE fanout_jobs ADD COLUMN changed_at timestamptz;
UPDATE fanout_jobs SET changed_at = asked_at;
ALTER TABLE fanout_jobs ALTER COLUMN changed_at SET NOT NULL;

-- What was used in the span under the label, so that it is not read again; unknown of rows that are older.
ALTER TABLE credit_burns
  ADD COLUMN used numeric,
  DROP CONSTRAINT credit_burns_burned_check,
  ADD CHECK (burned >= 0);

-- Usage that is corrected gives back what it burned.
ALTER TABLE credit_ledger
  DROP CONSTRAINT credit_ledger_type_check,
  DROP CONSTRAINT credit_ledger_check,
  DROP CONSTRAINT credit_ledger_check1,
  DROP CONSTRAINT credit_ledger_customer_id_meter_key_period_start_burn_hour_key,
  ADD CHECK (type IN ('grant', 'repayment', 'burn', 'reversal', 'expiry')),
  ADD CHECK ((type IN ('burn', 'reversal')) = (grant_id IS NULL)),
  ADD CHECK ((type IN ('burn', 'reversal'))
             = (meter_key IS NOT NULL AND period_start IS NOT NULL AND burn_hour IS NOT NULL)),
  ADD UNIQUE (customer_id, meter_key, period_start, burn_hour, type);

-- What a meter has burned so far, by the grant that paid it; '' is what is unpaid. Its sums are those of
-- credit_burns, and tell to which grants a correction gives back.
CREATE TABLE credit_uses (
  environment  text NOT NULL,
  customer_id  text NOT NULL REFERENCES credit_wallets (customer_id),
  meter_key    text NOT NULL,
  grant_id     text NOT NULL,
  amount       numeric NOT NULL CHECK (amount > 0),
  PRIMARY KEY (customer_id, meter_key, grant_id)
);

-- Of what was burned before nobody kept from which grant it came: as if meters had burned one after the
-- other, in the order in which grants are burned.
INSERT INTO credit_uses
WITH burned AS (
  SELECT environment, customer_id, meter_key, sum(burned) AS amount FROM credit_burns
   GROUP BY environment, customer_id, meter_key),
expired AS (
  SELECT grant_id, -sum(amount) AS amount FROM credit_ledger WHERE type = 'expiry' GROUP BY grant_id),
paid AS (
  SELECT g.customer_id, g.id AS grant_id, g.amount - g.remaining - coalesce(x.amount, 0) AS amount,
         row_number() OVER (PARTITION BY g.customer_id
                            ORDER BY g.priority, g.expires_at NULLS LAST, g.created_at, g.id) AS place
    FROM credit_grants g LEFT JOIN expired x ON x.grant_id = g.id
  UNION ALL
  SELECT customer_id, '', unpaid, 2147483647 FROM credit_wallets),
spent AS (
  SELECT b.*, sum(amount) OVER own - amount AS lo, sum(amount) OVER own AS hi FROM burned b
  WINDOW own AS (PARTITION BY customer_id ORDER BY meter_key)),
held AS (
  SELECT p.*, sum(amount) OVER own - amount AS lo, sum(amount) OVER own AS hi FROM paid p WHERE amount > 0
  WINDOW own AS (PARTITION BY customer_id ORDER BY place))
SELECT spent.environment, spent.customer_id, spent.meter_key, held.grant_id,
       least(spent.hi, held.hi) - greatest(spent.lo, held.lo)
  FROM spent JOIN held USING (customer_id)
 WHERE least(spent.hi, held.hi) > greatest(spent.lo, held.lo);
