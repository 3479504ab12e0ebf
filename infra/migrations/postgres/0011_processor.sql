-- What the payment processor sends is kept until it can be applied, and may be mapped to what there is here.

-- `changed_at` is the processor's own time and its order (see subscription-event.ts), `reading` what was read
-- of an event that waits, as JSON with a version. `missing_*` name the mappings whose absence makes it wait:
-- prices, a customer by the processor's id, a customer by ours. `applied_at` is set once all of it but its
-- items is applied. Older rows have no more than id and time.
ALTER TABLE processor_events
  ADD COLUMN status text NOT NULL DEFAULT 'applied' CHECK (status IN ('applied', 'ignored', 'unmatched')),
  ADD COLUMN reasons text[] NOT NULL DEFAULT '{}',
  ADD COLUMN type text,
  ADD COLUMN processor_subscription_id text,
  ADD COLUMN changed_at timestamptz,
  ADD COLUMN applied_at timestamptz,
  ADD COLUMN reading text,
  ADD COLUMN reading_bytes integer NOT NULL DEFAULT 0,
  ADD COLUMN missing_prices text[] NOT NULL DEFAULT '{}',
  ADD COLUMN missing_customer text,
  ADD COLUMN missing_name text;
CREATE INDEX processor_events_newest ON processor_events (environment, received_at DESC, id DESC);
CREATE INDEX processor_events_waiting ON processor_events (environment, processor_subscription_id)
  WHERE status = 'unmatched';

-- Prices of the processor: each belongs to at most one plan and at most one add-on. Of a price with both the
-- quantity is the add-on's: seats.
CREATE TABLE processor_prices (
  environment  text NOT NULL REFERENCES environments (id),
  price_id     text NOT NULL,
  plan_id      text REFERENCES plans (id),
  addon_id     text REFERENCES addons (id),
  CHECK ((plan_id IS NULL) <> (addon_id IS NULL))
);
CREATE UNIQUE INDEX processor_prices_plan ON processor_prices (environment, price_id)
  WHERE plan_id IS NOT NULL;
CREATE UNIQUE INDEX processor_prices_addon ON processor_prices (environment, price_id)
  WHERE addon_id IS NOT NULL;
CREATE INDEX processor_prices_of_plan ON processor_prices (plan_id, price_id);
CREATE INDEX processor_prices_of_addon ON processor_prices (addon_id, price_id);

ALTER TABLE customers ADD COLUMN processor_customer_id text;
CREATE UNIQUE INDEX customers_processor ON customers (environment, processor_customer_id)
  WHERE processor_customer_id IS NOT NULL;

-- Whether the processor set it: only then it takes it away again.
ALTER TABLE subscription_addons ADD COLUMN from_processor boolean NOT NULL DEFAULT false;

-- `local_changed_at` is when somebody last changed here what the processor may change too;
-- `processor_cancel_at` what the processor said of the cancellation. A simulated one lives in the time of a
-- test clock of the processor: our own clock has nothing to say of it.
ALTER TABLE subscriptions
  ADD COLUMN local_changed_at timestamptz,
  ADD COLUMN processor_cancel_at timestamptz,
  ADD COLUMN processor_simulated boolean NOT NULL DEFAULT false;

-- What the processor says of itself is waited for: it has a time of its own.
DROP INDEX subscriptions_trial_due;
DROP INDEX subscriptions_cancel_due;
CREATE INDEX subscriptions_trial_due ON subscriptions (trial_end, id)
  WHERE status = 'trialing' AND processor_subscription_id IS NULL;
CREATE INDEX subscriptions_linked_trial_due ON subscriptions (trial_end, id)
  WHERE status = 'trialing' AND processor_subscription_id IS NOT NULL AND NOT processor_simulated;
CREATE INDEX subscriptions_cancel_due ON subscriptions (cancel_at, id)
  WHERE cancel_at IS DISTINCT FROM processor_cancel_at AND status NOT IN ('canceled', 'incomplete_expired');
CREATE INDEX subscriptions_linked_cancel_due ON subscriptions (cancel_at, id)
  WHERE cancel_at = processor_cancel_at AND NOT processor_simulated
    AND status NOT IN ('canceled', 'incomplete_expired');
