-- How long a limit of a metered feature lasts, where a value says it: day, week, month, billing_period or
-- never. Null: as the other values of the feature say, else billing_period.
ALTER TABLE plan_entitlements ADD COLUMN resets text;
ALTER TABLE addon_entitlements ADD COLUMN resets text;
ALTER TABLE overrides ADD COLUMN resets text;

-- `resets`: of each of the limits; null: all last for the billing period. `since`: from when on the
-- subscription gives the periods; null, as a process of the release before writes it: since `period_start`.
ALTER TABLE metered_terms ADD COLUMN resets text[], ADD COLUMN since timestamptz;
UPDATE metered_terms t SET since = first.since
  FROM (SELECT environment, customer_id, meter_key, subscription_id, min(period_start) AS since
          FROM metered_terms GROUP BY 1, 2, 3, 4) first
 WHERE t.environment = first.environment AND t.customer_id = first.customer_id
   AND t.meter_key = first.meter_key AND t.subscription_id IS NOT DISTINCT FROM first.subscription_id;
