-- Corrections through the API (control-plane/corrections). Of a change of usage: how many events it voids so
-- far; the event that it put in place of the voided one, as the response showed it; up to where a selection
-- has been read; and when its webhook event was emitted.
ALTER TABLE usage_changes
  ADD COLUMN voided       bigint NOT NULL DEFAULT 0,
  ADD COLUMN added_event  json,
  ADD COLUMN position     jsonb,
  ADD COLUMN announced_at timestamptz;

CREATE INDEX usage_changes_open ON usage_changes (number) WHERE state = 'open';
CREATE INDEX usage_changes_unannounced ON usage_changes (number)
  WHERE state = 'visible' AND announced_at IS NULL;

-- Its expiry was set by hand: no change of its subscription's periods moves it.
ALTER TABLE credit_grants ADD COLUMN expiry_is_set boolean NOT NULL DEFAULT false;
