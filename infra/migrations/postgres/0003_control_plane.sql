-- The catalogue, customers' subscriptions, keys and what the control plane tells of its changes. Every tenant
-- row carries its environment. Times of objects are written by the control plane, so that an answer, its
-- event and its row say the same millisecond.

ALTER TABLE workspaces
  ADD COLUMN past_due_grace_days integer NOT NULL DEFAULT 7 CHECK (past_due_grace_days BETWEEN 0 AND 365),
  ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now();

-- `rotated_to` names the successor while the old key lives on for its overlap. `created_by` is a key's id, or
-- 'operator'.
ALTER TABLE api_keys
  ADD COLUMN created_by text NOT NULL DEFAULT 'operator',
  ADD COLUMN rotated_to text,
  ADD COLUMN last_used_at timestamptz;
CREATE INDEX api_keys_newest ON api_keys (environment, created_at DESC, id DESC);

ALTER TABLE customers ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now();
CREATE INDEX customers_email ON customers (environment, lower(email));
-- What a search looks through: 100,000 customers in 21 ms, and in 88 ms by three ILIKE.
ALTER TABLE customers ADD COLUMN search_text text NOT NULL
  GENERATED ALWAYS AS (lower(name || E'\n' || email || coalesce(E'\n' || external_id, ''))) STORED;

ALTER TABLE meters ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now();

-- A product's id is the caller's own, or one of ours.
CREATE TABLE products (
  environment  text NOT NULL REFERENCES environments (id),
  id           text NOT NULL,
  name         text NOT NULL,
  created_at   timestamptz NOT NULL,
  PRIMARY KEY (environment, id)
);
CREATE INDEX products_newest ON products (environment, created_at DESC, id DESC);

CREATE TABLE features (
  id           text PRIMARY KEY,
  environment  text NOT NULL REFERENCES environments (id),
  key          text NOT NULL,
  name         text NOT NULL,
  type         text NOT NULL CHECK (type IN ('boolean', 'limit', 'metered')),
  meter_key    text,
  created_at   timestamptz NOT NULL,
  updated_at   timestamptz NOT NULL,
  UNIQUE (environment, key),
  CHECK ((type = 'metered') = (meter_key IS NOT NULL)),
  FOREIGN KEY (environment, meter_key) REFERENCES meters (environment, key)
);
CREATE INDEX features_newest ON features (environment, created_at DESC, id DESC);

CREATE TABLE plans (
  id            text PRIMARY KEY,
  environment   text NOT NULL REFERENCES environments (id),
  key           text NOT NULL,
  name          text NOT NULL,
  description   text,
  product_id    text NOT NULL,
  status        text NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'published', 'archived')),
  version       integer NOT NULL DEFAULT 1,
  created_at    timestamptz NOT NULL,
  updated_at    timestamptz NOT NULL,
  UNIQUE (environment, key),
  FOREIGN KEY (environment, product_id) REFERENCES products (environment, id)
);
CREATE INDEX plans_newest ON plans (environment, created_at DESC, id DESC);

-- What a plan's version grants. A version of a published plan never changes, so that a subscription can stay
-- on it. `enabled` is for boolean features; for the others a missing amount is unlimited.
CREATE TABLE plan_entitlements (
  plan_id     text NOT NULL REFERENCES plans (id),
  version     integer NOT NULL,
  feature_id  text NOT NULL REFERENCES features (id) ON DELETE CASCADE,
  enabled     boolean,
  amount      numeric,
  soft        boolean NOT NULL DEFAULT false,
  PRIMARY KEY (plan_id, version, feature_id)
);
CREATE INDEX plan_entitlements_feature ON plan_entitlements (feature_id);

CREATE TABLE addons (
  id           text PRIMARY KEY,
  environment  text NOT NULL REFERENCES environments (id),
  key          text NOT NULL,
  name         text NOT NULL,
  created_at   timestamptz NOT NULL,
  updated_at   timestamptz NOT NULL,
  UNIQUE (environment, key)
);
CREATE INDEX addons_newest ON addons (environment, created_at DESC, id DESC);

CREATE TABLE addon_entitlements (
  addon_id    text NOT NULL REFERENCES addons (id),
  feature_id  text NOT NULL REFERENCES features (id) ON DELETE CASCADE,
  enabled     boolean,
  amount      numeric,
  soft        boolean NOT NULL DEFAULT false,
  PRIMARY KEY (addon_id, feature_id)
);
CREATE INDEX addon_entitlements_feature ON addon_entitlements (feature_id);

-- `plan_version` is set where the subscription is pinned. A period rolls from the anchor, by months or, where
-- its first length is no whole number of months, by milliseconds; never before `no_roll_before`.
CREATE TABLE subscriptions (
  id                         text PRIMARY KEY,
  environment                text NOT NULL REFERENCES environments (id),
  customer_id                text NOT NULL REFERENCES customers (id),
  plan_id                    text NOT NULL REFERENCES plans (id),
  plan_version               integer,
  status                     text NOT NULL CHECK (status IN ('incomplete', 'incomplete_expired', 'trialing',
                               'active', 'past_due', 'unpaid', 'paused', 'canceled')),
  status_since               timestamptz NOT NULL,
  current_period_start       timestamptz NOT NULL,
  current_period_end         timestamptz NOT NULL CHECK (current_period_end > current_period_start),
  anchor                     timestamptz NOT NULL,
  interval_months            integer,
  interval_ms                bigint,
  no_roll_before             timestamptz,
  rolls_at                   timestamptz NOT NULL
    GENERATED ALWAYS AS (greatest(current_period_end, no_roll_before)) STORED,
  cancel_at                  timestamptz,
  canceled_at                timestamptz,
  trial_end                  timestamptz,
  processor_subscription_id  text,
  processor_changed_at       timestamptz,
  metadata                   jsonb,
  created_at                 timestamptz NOT NULL,
  updated_at                 timestamptz NOT NULL,
  UNIQUE (environment, processor_subscription_id),
  CHECK ((interval_months IS NULL) <> (interval_ms IS NULL))
);
CREATE INDEX subscriptions_newest ON subscriptions (environment, created_at DESC, id DESC);
CREATE INDEX subscriptions_customer ON subscriptions (customer_id, created_at);
CREATE INDEX subscriptions_plan ON subscriptions (plan_id);
CREATE INDEX subscriptions_session ON subscriptions (environment, (metadata ->> 'sessionId'))
  WHERE metadata ? 'sessionId';
-- What the subscription clock looks for; those that ended are never due again.
CREATE INDEX subscriptions_trial_due ON subscriptions (trial_end, id) WHERE status = 'trialing';
CREATE INDEX subscriptions_cancel_due ON subscriptions (cancel_at, id)
  WHERE cancel_at IS NOT NULL AND status NOT IN ('canceled', 'incomplete_expired');
CREATE INDEX subscriptions_period_due ON subscriptions (rolls_at, id)
  WHERE processor_subscription_id IS NULL AND status NOT IN ('canceled', 'incomplete_expired');

CREATE TABLE subscription_addons (
  subscription_id  text NOT NULL REFERENCES subscriptions (id),
  addon_id         text NOT NULL REFERENCES addons (id),
  quantity         integer NOT NULL CHECK (quantity > 0),
  PRIMARY KEY (subscription_id, addon_id)
);
CREATE INDEX subscription_addons_addon ON subscription_addons (addon_id);

-- Jobs that one process of an installation does at a time. The epoch grows with every owner and fences the
-- ones before.
CREATE TABLE job_leases (
  job         text PRIMARY KEY,
  owner       text NOT NULL,
  epoch       bigint NOT NULL,
  expires_at  timestamptz NOT NULL
);

-- Keys of the payment processor, sealed under the server's secret.
CREATE TABLE processor_connections (
  environment     text PRIMARY KEY REFERENCES environments (id),
  api_key         bytea,
  api_key_last4   text,
  webhook_secret  bytea,
  updated_at      timestamptz NOT NULL
);

-- Calls of the processor that were taken, so that a replay changes nothing. Kept as long as one may come.
CREATE TABLE processor_events (
  environment  text NOT NULL REFERENCES environments (id),
  id           text NOT NULL,
  received_at  timestamptz NOT NULL,
  PRIMARY KEY (environment, id)
);
CREATE INDEX processor_events_oldest ON processor_events (received_at);

CREATE TABLE funnel_events (
  id           text PRIMARY KEY,
  environment  text NOT NULL REFERENCES environments (id),
  event        text NOT NULL CHECK (event IN ('widget_view', 'checkout_started')),
  session_id   text NOT NULL,
  plan_id      text,
  created_at   timestamptz NOT NULL
);
CREATE INDEX funnel_events_time ON funnel_events (environment, created_at);
CREATE INDEX funnel_events_oldest ON funnel_events (created_at);

CREATE TABLE webhook_endpoints (
  id           text PRIMARY KEY,
  environment  text NOT NULL REFERENCES environments (id),
  url          text NOT NULL,
  events       text[] NOT NULL,
  status       text NOT NULL DEFAULT 'enabled' CHECK (status IN ('enabled', 'disabled')),
  secret       bytea NOT NULL,
  created_at   timestamptz NOT NULL,
  updated_at   timestamptz NOT NULL
);
CREATE INDEX webhook_endpoints_newest ON webhook_endpoints (environment, created_at DESC, id DESC);

-- The outbox: one row per event, written in the transaction of what it reports. `body` is the envelope, byte
-- for byte as it is signed and sent. `object_id` says what it reports.
CREATE TABLE webhook_events (
  id           text PRIMARY KEY,
  environment  text NOT NULL REFERENCES environments (id),
  type         text NOT NULL,
  object_id    text NOT NULL,
  body         text NOT NULL,
  created_at   timestamptz NOT NULL
);
CREATE INDEX webhook_events_newest ON webhook_events (environment, created_at DESC, id DESC);
CREATE INDEX webhook_events_object ON webhook_events (object_id);

-- Who changed what, with what it was before and is after, without secrets. `actor` is a key's id, or one of
-- 'operator', 'clock', 'processor'.
CREATE TABLE audit_log (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  environment  text NOT NULL REFERENCES environments (id),
  actor        text NOT NULL,
  action       text NOT NULL,
  object_id    text NOT NULL,
  before       jsonb,
  after        jsonb,
  request_id   text,
  created_at   timestamptz NOT NULL
);
CREATE INDEX audit_log_newest ON audit_log (environment, created_at DESC, id DESC);
