-- What a subscription pays for, from when on: written in the transaction of each change, and one row ahead
-- for a start in the future. `addons`: [{"addonId", "quantity"}]. Its cost is computed from these rows
-- (domain/rules/rating/priced-spans.ts).
CREATE TABLE subscription_terms (
  subscription_id  text NOT NULL REFERENCES subscriptions (id),
  starts_at        timestamptz NOT NULL,
  is_charged       boolean NOT NULL,
  plan_id          text NOT NULL REFERENCES plans (id),
  plan_version     integer,
  addons           jsonb NOT NULL,
  anchor           timestamptz NOT NULL,
  interval         text NOT NULL,
  interval_count   integer NOT NULL,
  PRIMARY KEY (subscription_id, starts_at)
);

-- Plans had no prices before: what subscriptions are now has been so from their start.
INSERT INTO subscription_terms
SELECT s.id, s.starts_at, s.status IN ('active', 'past_due'), s.plan_id, s.plan_version,
       (SELECT coalesce(jsonb_agg(jsonb_build_object('addonId', a.addon_id, 'quantity', a.quantity)
                                  ORDER BY a.addon_id), '[]')
          FROM subscription_addons a WHERE a.subscription_id = s.id),
       s.anchor, s.interval, s.interval_count
  FROM subscriptions s;
