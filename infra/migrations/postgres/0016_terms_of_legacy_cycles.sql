-- Periods of a subscription of an earlier release that are no whole number of days, as in `subscriptions`.
ALTER TABLE subscription_terms ADD COLUMN legacy_interval_ms bigint CHECK (legacy_interval_ms > 0);

UPDATE subscription_terms t SET legacy_interval_ms = s.legacy_interval_ms
  FROM subscriptions s WHERE s.id = t.subscription_id AND s.legacy_interval_ms IS NOT NULL;

-- Whether anything was ever subscribed to a plan is looked up when its prices change.
CREATE INDEX subscription_terms_plan ON subscription_terms (plan_id);
