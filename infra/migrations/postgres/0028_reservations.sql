-- What customers hold of their limits and credits (docs/decisions/holds.md). An account is the lock of all
-- that the holds of a customer do; it is made before the first of them and never removed.
CREATE TABLE reservation_accounts (
  environment   text NOT NULL REFERENCES environments (id),
  customer_id   text NOT NULL,
  PRIMARY KEY (environment, customer_id)
);

-- What the reservations of a customer's meter take together, written in the transactions that change them.
-- `beyond`: how much of `held` goes beyond the limit, which credits pay at `rate`, as of the last hold.
-- `uncounted`: how much of it is committed, and may be counted or not. `has_commits`: there were some ever.
CREATE TABLE reserved_amounts (
  environment   text NOT NULL REFERENCES environments (id),
  customer_id   text NOT NULL,
  meter_key     text NOT NULL,
  held          numeric NOT NULL CHECK (held >= 0),
  beyond        numeric NOT NULL CHECK (beyond >= 0),
  rate          numeric NOT NULL,
  uncounted     numeric NOT NULL CHECK (uncounted >= 0 AND uncounted <= held),
  has_commits   boolean NOT NULL,
  PRIMARY KEY (environment, customer_id, meter_key)
);

-- The order of commits: a number is taken once the event is durable.
CREATE SEQUENCE reservation_commits;

-- `reserved`: what it takes of the limit now. `renewed_at` is when `expires_at` was set, so that a clock that
-- was ahead can be corrected. `committing`: its event may be on the log or not; the event has `value`,
-- `occurred_at` and `event_properties`. `event`: as it was written. `decision`: of what was consumed at once.
CREATE TABLE reservations (
  id            text PRIMARY KEY,
  environment   text NOT NULL REFERENCES environments (id),
  customer_id   text NOT NULL,
  feature_key   text NOT NULL,
  meter_key     text NOT NULL,
  counts_events boolean NOT NULL,
  amount        numeric NOT NULL CHECK (amount > 0),
  reserved      numeric NOT NULL CHECK (reserved >= 0),
  status        text NOT NULL CHECK (status IN ('held', 'committing', 'committed', 'released', 'expired')),
  on_expiry     text NOT NULL CHECK (on_expiry IN ('release', 'commit')),
  properties    jsonb,
  created_by    text NOT NULL,
  created_at    timestamptz NOT NULL,
  renewed_at    timestamptz NOT NULL,
  expires_at    timestamptz NOT NULL,
  ended_at      timestamptz,
  value         numeric CHECK (value >= 0),
  late          boolean NOT NULL DEFAULT false,
  occurred_at   timestamptz,
  event_properties text,
  committing_at timestamptz,
  commit_number bigint,
  event         text,
  decision      text,
  CHECK (status NOT IN ('committing', 'committed') OR (value IS NOT NULL AND occurred_at IS NOT NULL)),
  CHECK (status <> 'committed' OR (event IS NOT NULL AND commit_number IS NOT NULL))
);

CREATE INDEX reservations_due ON reservations (expires_at) WHERE status = 'held';
CREATE INDEX reservations_held ON reservations (environment, customer_id, expires_at) WHERE status = 'held';
CREATE INDEX reservations_committing ON reservations (committing_at) WHERE status = 'committing';
CREATE INDEX reservations_uncounted ON reservations (environment, customer_id, commit_number)
  WHERE status = 'committed' AND reserved > 0;
CREATE INDEX reservations_list ON reservations (environment, created_at DESC, id DESC);
CREATE INDEX reservations_of_customer
  ON reservations (environment, customer_id, created_at DESC, id DESC);
CREATE INDEX reservations_ended ON reservations (ended_at) WHERE status NOT IN ('held', 'committing');
