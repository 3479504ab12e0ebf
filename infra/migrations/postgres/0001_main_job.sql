-- Everything the main job needs. Every tenant row carries its environment ('ws_…:live' | 'ws_…:test').

CREATE TABLE workspaces (
  id                 text PRIMARY KEY,
  name               text NOT NULL,
  strict_meters      boolean NOT NULL DEFAULT false,
  first_api_call_at  timestamptz,
  created_at         timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE environments (
  id            text PRIMARY KEY,
  workspace_id  text NOT NULL REFERENCES workspaces (id),
  mode          text NOT NULL CHECK (mode IN ('live', 'test')),
  UNIQUE (workspace_id, mode)
);

-- `hash` is HMAC-SHA-256 of the key's text under the server's pepper; the text itself is stored nowhere.
CREATE TABLE api_keys (
  id            text PRIMARY KEY,
  environment   text NOT NULL REFERENCES environments (id),
  kind          text NOT NULL CHECK (kind IN ('secret', 'publishable')),
  hash          bytea NOT NULL UNIQUE,
  last4         text NOT NULL,
  name          text,
  scopes        text[] NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now(),
  expires_at    timestamptz,
  revoked_at    timestamptz
);

CREATE TABLE customers (
  id           text PRIMARY KEY,
  environment  text NOT NULL REFERENCES environments (id),
  external_id  text,
  name         text NOT NULL,
  email        text NOT NULL,
  metadata     jsonb,
  status       text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
  created_at   timestamptz NOT NULL DEFAULT now(),
  UNIQUE (environment, external_id)
);
CREATE INDEX customers_newest ON customers (environment, created_at DESC, id DESC);

CREATE TABLE meters (
  id            text PRIMARY KEY,
  environment   text NOT NULL REFERENCES environments (id),
  key           text NOT NULL,
  name          text NOT NULL,
  aggregation   text NOT NULL CHECK (aggregation IN ('sum', 'count', 'max', 'latest', 'unique')),
  property      text,
  unit          text,
  credit_rate   numeric,
  credit_rates  jsonb,
  source        text NOT NULL DEFAULT 'api' CHECK (source IN ('api', 'auto')),
  status        text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
  created_at    timestamptz NOT NULL DEFAULT now(),
  UNIQUE (environment, key),
  CHECK ((aggregation = 'unique') = (property IS NOT NULL))
);
CREATE INDEX meters_newest ON meters (environment, created_at DESC, id DESC);

-- The answer of a control-plane POST, kept 24 hours per (environment, method, path, key).
CREATE TABLE idempotent_answers (
  environment   text NOT NULL,
  method        text NOT NULL,
  path          text NOT NULL,
  key           text NOT NULL,
  request_hash  bytea NOT NULL,
  status        integer NOT NULL,
  body          bytea NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (environment, method, path, key)
);
CREATE INDEX idempotent_answers_oldest ON idempotent_answers (created_at);

-- One-off facts of this installation: 'identity_key' (32 bytes, made once, never rotated).
CREATE TABLE installation (
  name   text PRIMARY KEY,
  value  bytea NOT NULL
);

-- Who may move a partition's position. The epoch grows with every owner and fences the ones before.
CREATE TABLE partition_leases (
  log_id      text NOT NULL,
  partition   integer NOT NULL,
  owner       text NOT NULL,
  epoch       bigint NOT NULL,
  expires_at  timestamptz NOT NULL,
  PRIMARY KEY (log_id, partition)
);

-- The frozen ranges [lo, hi) of the log and how far each has come. `dropped` lists the line numbers left out.
CREATE TABLE log_ranges (
  log_id       text NOT NULL,
  partition    integer NOT NULL,
  lo           bigint NOT NULL,
  hi           bigint NOT NULL CHECK (hi > lo),
  epoch        bigint NOT NULL,
  state        text NOT NULL CHECK (state IN ('pending', 'loaded', 'settled')),
  event_count  integer NOT NULL,
  dropped      integer[] NOT NULL DEFAULT '{}',
  checksum     bigint NOT NULL,
  through_ms   bigint NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (log_id, partition, lo)
);
CREATE INDEX log_ranges_unsettled ON log_ranges (log_id, partition, lo) WHERE state <> 'settled';

-- Lines that ClickHouse refused, kept for the operator; each raises an alarm in /readyz until it is resolved.
CREATE TABLE quarantine (
  log_id       text NOT NULL,
  partition    integer NOT NULL,
  lo           bigint NOT NULL,
  line         integer NOT NULL,
  body         bytea NOT NULL,
  reason       text NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  resolved_at  timestamptz,
  PRIMARY KEY (log_id, partition, lo, line)
);

-- What stands in the way of a partition, in words: readyz names it. Empty while all is well.
CREATE TABLE partition_alarms (
  log_id      text NOT NULL,
  partition   integer NOT NULL,
  code        text NOT NULL,
  message     text NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (log_id, partition, code)
);

-- Asked for by `npm run audit`, done by the aggregator between two loads. `differences` is null until then.
CREATE TABLE audit_runs (
  id            text PRIMARY KEY,
  repair        boolean NOT NULL,
  state         text NOT NULL DEFAULT 'asked' CHECK (state IN ('asked', 'running', 'done', 'failed')),
  differences   jsonb,
  hours         bigint,
  asked_at      timestamptz NOT NULL DEFAULT now(),
  finished_at   timestamptz
);
