-- What a pricing page shows of a plan, and where. It is no part of what a version offers.
ALTER TABLE plans
  ADD COLUMN position        integer,
  ADD COLUMN highlights      text[] NOT NULL DEFAULT '{}',
  ADD COLUMN call_to_action  text;
