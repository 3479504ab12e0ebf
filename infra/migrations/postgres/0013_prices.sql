-- What a plan's version, or an add-on, costs from a time on: the list of its prices, decimals as texts. A
-- version has one row for each change while it is a draft, so that what was used before a change keeps the
-- price of its time.
CREATE TABLE plan_prices (
  plan_id    text NOT NULL REFERENCES plans (id),
  version    integer NOT NULL,
  starts_at  timestamptz NOT NULL,
  prices     jsonb NOT NULL,
  PRIMARY KEY (plan_id, version, starts_at)
);

CREATE TABLE addon_prices (
  addon_id   text NOT NULL REFERENCES addons (id),
  starts_at  timestamptz NOT NULL,
  prices     jsonb NOT NULL,
  PRIMARY KEY (addon_id, starts_at)
);
