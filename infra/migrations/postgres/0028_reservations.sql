-- What customers hold of their limits and credits (docs/decisions/holds.md). An account is the lock of all
-- that the holds of a customer do; it is made before the first of them and never removed.
CREATE TABLE reservation_accounts (
  environment   text NOT NULL REFERENCES environments (id),
  customer_id   text NOT NULL,
  PRIMARY KEY (environment, customer_id)
);

-- The open holds of a customer's meter together, written in the transactions that change them. `beyond`: how
-- much of `held` goes beyond the limit, which credits pay at `rate`, as of the last hold.
CREATE TABLE reserved_amounts (
  environment   text NOT NULL REFERENCES environments (id),
  customer_id   text NOT NULL,
  meter_key     text NOT NULL,
  held          numeric NOT NULL CHECK (held >= 0),
  beyond        numeric NOT NULL CHECK (beyond >= 0),
  rate          numeric NOT NULL,
  PRIMARY KEY (environment, customer_id, meter_key)
);

-- `renewed_at` is when `expires_at` was set, so that a clock that was ahead can be corrected.
CREATE TABLE reservations (
  id            text PRIMARY KEY,
  environment   text NOT NULL REFERENCES environments (id),
  customer_id   text NOT NULL,
  feature_key   text NOT NULL,
  meter_key     text NOT NULL,
  amount        numeric NOT NULL CHECK (amount > 0),
  status        text NOT NULL CHECK (status IN ('held', 'released', 'expired')),
  properties    jsonb,
  created_by    text NOT NULL,
  created_at    timestamptz NOT NULL,
  renewed_at    timestamptz NOT NULL,
  expires_at    timestamptz NOT NULL,
  ended_at      timestamptz
);

CREATE INDEX reservations_due ON reservations (expires_at) WHERE status = 'held';
CREATE INDEX reservations_held ON reservations (environment, customer_id, expires_at) WHERE status = 'held';
CREATE INDEX reservations_list ON reservations (environment, created_at DESC, id DESC);
CREATE INDEX reservations_of_customer
  ON reservations (environment, customer_id, created_at DESC, id DESC);
CREATE INDEX reservations_ended ON reservations (ended_at) WHERE status <> 'held';
