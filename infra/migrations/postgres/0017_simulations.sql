-- What customers would have paid with other prices: jobs of control-plane/cost/simulator.ts. `offer` holds
-- the simulated prices and entitlements as they were when the job was requested; `position` is the last
-- customer that is done. The rows are removed after some days.
CREATE TABLE simulations (
  id            text PRIMARY KEY,
  environment   text NOT NULL REFERENCES environments (id),
  status        text NOT NULL CHECK (status IN ('pending', 'running', 'completed', 'failed')),
  plan_id       text REFERENCES plans (id),
  offer         jsonb NOT NULL,
  -- Null: all that have a subscription.
  customer_ids  text[],
  starts_at     timestamptz NOT NULL,
  ends_at       timestamptz NOT NULL,
  customers     integer NOT NULL,
  done          integer NOT NULL DEFAULT 0,
  position      text NOT NULL DEFAULT '',
  failures      integer NOT NULL DEFAULT 0,
  as_of         timestamptz,
  totals        jsonb,
  created_at    timestamptz NOT NULL,
  worked_at     timestamptz NOT NULL,
  finished_at   timestamptz
);

CREATE INDEX simulations_open ON simulations (worked_at) WHERE status IN ('pending', 'running');
CREATE INDEX simulations_environment ON simulations (environment, created_at);
CREATE INDEX simulations_oldest ON simulations (created_at);

-- `totals`: [{"currency", "current", "simulated"}], decimals as texts. `difference` is the largest of these,
-- for the order. `beyond`: the limits that the customer would have passed.
CREATE TABLE simulated_customers (
  simulation_id  text NOT NULL REFERENCES simulations (id),
  customer_id    text NOT NULL,
  totals         jsonb NOT NULL,
  difference     numeric NOT NULL,
  beyond         jsonb NOT NULL,
  PRIMARY KEY (simulation_id, customer_id)
);

CREATE INDEX simulated_customers_order ON simulated_customers (simulation_id, difference DESC, customer_id);
