-- The schema after migration 32, for review. By `npm run schema`; nothing runs it.

CREATE TABLE addon_entitlements (
  addon_id text NOT NULL,
  feature_id text NOT NULL,
  enabled boolean,
  amount numeric,
  soft boolean NOT NULL DEFAULT false,
  resets text,
  CONSTRAINT addon_entitlements_addon_id_fkey FOREIGN KEY (addon_id) REFERENCES addons(id),
  CONSTRAINT addon_entitlements_feature_id_fkey FOREIGN KEY (feature_id) REFERENCES features(id) ON DELETE CASCADE,
  CONSTRAINT addon_entitlements_pkey PRIMARY KEY (addon_id, feature_id)
);
CREATE INDEX addon_entitlements_feature ON public.addon_entitlements USING btree (feature_id);

CREATE TABLE addon_prices (
  addon_id text NOT NULL,
  starts_at timestamp with time zone NOT NULL,
  prices jsonb NOT NULL,
  CONSTRAINT addon_prices_addon_id_fkey FOREIGN KEY (addon_id) REFERENCES addons(id),
  CONSTRAINT addon_prices_pkey PRIMARY KEY (addon_id, starts_at)
);

CREATE TABLE addons (
  id text NOT NULL,
  environment text NOT NULL,
  key text NOT NULL,
  name text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT addons_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT addons_environment_key_key UNIQUE (environment, key),
  CONSTRAINT addons_pkey PRIMARY KEY (id)
);
CREATE INDEX addons_newest ON public.addons USING btree (environment, created_at DESC, id DESC);

CREATE TABLE api_keys (
  id text NOT NULL,
  environment text NOT NULL,
  kind text NOT NULL,
  hash bytea NOT NULL,
  last4 text NOT NULL,
  name text,
  scopes text[] NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  created_by text NOT NULL DEFAULT 'operator'::text,
  rotated_to text,
  last_used_at timestamp with time zone,
  CONSTRAINT api_keys_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT api_keys_hash_key UNIQUE (hash),
  CONSTRAINT api_keys_kind_check CHECK ((kind = ANY (ARRAY['secret'::text, 'publishable'::text]))),
  CONSTRAINT api_keys_pkey PRIMARY KEY (id)
);
CREATE INDEX api_keys_newest ON public.api_keys USING btree (environment, created_at DESC, id DESC);

CREATE TABLE audit_log (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  environment text NOT NULL,
  actor text NOT NULL,
  action text NOT NULL,
  object_id text NOT NULL,
  before jsonb,
  after jsonb,
  request_id text,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT audit_log_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT audit_log_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_log_newest ON public.audit_log USING btree (environment, created_at DESC, id DESC);
CREATE INDEX audit_log_object ON public.audit_log USING btree (environment, object_id, created_at DESC, id DESC);
CREATE INDEX audit_log_of_customer ON public.audit_log USING btree (environment, COALESCE((after ->> 'customerId'::text), (before ->> 'customerId'::text), object_id), created_at DESC, id DESC);

CREATE TABLE audit_runs (
  id text NOT NULL,
  repair boolean NOT NULL,
  state text NOT NULL DEFAULT 'asked'::text,
  differences jsonb,
  hours bigint,
  asked_at timestamp with time zone NOT NULL DEFAULT now(),
  finished_at timestamp with time zone,
  CONSTRAINT audit_runs_pkey PRIMARY KEY (id),
  CONSTRAINT audit_runs_state_check CHECK ((state = ANY (ARRAY['asked'::text, 'running'::text, 'done'::text, 'failed'::text])))
);
CREATE INDEX audit_runs_finished ON public.audit_runs USING btree (finished_at);

CREATE TABLE budgets (
  environment text NOT NULL,
  customer_id text NOT NULL,
  meter_key text NOT NULL,
  soft numeric,
  hard numeric,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT budgets_check CHECK (((soft IS NOT NULL) OR (hard IS NOT NULL))),
  CONSTRAINT budgets_check1 CHECK ((soft <= hard)),
  CONSTRAINT budgets_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  CONSTRAINT budgets_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT budgets_environment_meter_key_fkey FOREIGN KEY (environment, meter_key) REFERENCES meters(environment, key),
  CONSTRAINT budgets_pkey PRIMARY KEY (environment, customer_id, meter_key)
);
CREATE INDEX budgets_meter ON public.budgets USING btree (environment, meter_key);

CREATE TABLE catalogue_versions (
  environment text NOT NULL,
  version bigint NOT NULL,
  CONSTRAINT catalogue_versions_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT catalogue_versions_pkey PRIMARY KEY (environment)
);

CREATE TABLE credit_burns (
  environment text NOT NULL,
  customer_id text NOT NULL,
  meter_key text NOT NULL,
  span_from timestamp with time zone NOT NULL,
  span_to timestamp with time zone NOT NULL,
  version integer NOT NULL,
  label text NOT NULL,
  burned numeric NOT NULL,
  used numeric,
  CONSTRAINT credit_burns_burned_check CHECK ((burned >= (0)::numeric)),
  CONSTRAINT credit_burns_check CHECK ((span_to > span_from)),
  CONSTRAINT credit_burns_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT credit_burns_pkey PRIMARY KEY (environment, customer_id, meter_key, span_from, label)
) WITH (fillfactor=80);

CREATE TABLE credit_grants (
  id text NOT NULL,
  environment text NOT NULL,
  customer_id text NOT NULL,
  amount numeric NOT NULL,
  remaining numeric NOT NULL,
  reason text NOT NULL,
  priority integer NOT NULL,
  expires_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  subscription_id text,
  grant_key text,
  period_start timestamp with time zone,
  part smallint,
  lapsed numeric NOT NULL DEFAULT 0,
  expiry_is_set boolean NOT NULL DEFAULT false,
  CONSTRAINT credit_grants_amount_check CHECK ((amount > (0)::numeric)),
  CONSTRAINT credit_grants_check CHECK (((remaining >= (0)::numeric) AND (remaining <= amount))),
  CONSTRAINT credit_grants_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES credit_wallets(customer_id),
  CONSTRAINT credit_grants_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT credit_grants_pkey PRIMARY KEY (id),
  CONSTRAINT credit_grants_recurring UNIQUE (subscription_id, grant_key, period_start, part),
  CONSTRAINT credit_grants_recurring_check CHECK ((num_nulls(subscription_id, grant_key, period_start, part) = ANY (ARRAY[0, 4]))),
  CONSTRAINT credit_grants_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id)
);
CREATE INDEX credit_grants_due ON public.credit_grants USING btree (expires_at, id) WHERE ((remaining > (0)::numeric) AND (expires_at IS NOT NULL));
CREATE INDEX credit_grants_open ON public.credit_grants USING btree (customer_id, priority, expires_at, created_at, id) WHERE (remaining > (0)::numeric);

CREATE TABLE credit_ledger (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  environment text NOT NULL,
  customer_id text NOT NULL,
  type text NOT NULL,
  amount numeric NOT NULL,
  unpaid numeric NOT NULL,
  grant_id text,
  meter_key text,
  period_start timestamp with time zone,
  burn_hour timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT credit_ledger_check CHECK (((type = ANY (ARRAY['burn'::text, 'reversal'::text])) = (grant_id IS NULL))),
  CONSTRAINT credit_ledger_check1 CHECK (((type = ANY (ARRAY['burn'::text, 'reversal'::text])) = ((meter_key IS NOT NULL) AND (period_start IS NOT NULL) AND (burn_hour IS NOT NULL)))),
  CONSTRAINT credit_ledger_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES credit_wallets(customer_id),
  CONSTRAINT credit_ledger_customer_id_meter_key_period_start_burn_hour__key UNIQUE (customer_id, meter_key, period_start, burn_hour, type),
  CONSTRAINT credit_ledger_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT credit_ledger_grant_id_fkey FOREIGN KEY (grant_id) REFERENCES credit_grants(id),
  CONSTRAINT credit_ledger_pkey PRIMARY KEY (id),
  CONSTRAINT credit_ledger_type_check CHECK ((type = ANY (ARRAY['grant'::text, 'repayment'::text, 'burn'::text, 'reversal'::text, 'expiry'::text])))
);
CREATE INDEX credit_ledger_newest ON public.credit_ledger USING btree (environment, customer_id, created_at DESC, id DESC);

CREATE TABLE credit_schedules (
  subscription_id text NOT NULL,
  environment text NOT NULL,
  due_at timestamp with time zone NOT NULL,
  CONSTRAINT credit_schedules_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT credit_schedules_pkey PRIMARY KEY (subscription_id),
  CONSTRAINT credit_schedules_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id)
);
CREATE INDEX credit_schedules_due ON public.credit_schedules USING btree (due_at, subscription_id);

CREATE TABLE credit_uses (
  environment text NOT NULL,
  customer_id text NOT NULL,
  meter_key text NOT NULL,
  grant_id text NOT NULL,
  amount numeric NOT NULL,
  CONSTRAINT credit_uses_amount_check CHECK ((amount > (0)::numeric)),
  CONSTRAINT credit_uses_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES credit_wallets(customer_id),
  CONSTRAINT credit_uses_pkey PRIMARY KEY (customer_id, meter_key, grant_id)
);

CREATE TABLE credit_wallets (
  customer_id text NOT NULL,
  environment text NOT NULL,
  balance numeric NOT NULL DEFAULT 0,
  unpaid numeric NOT NULL DEFAULT 0,
  CONSTRAINT credit_wallets_balance_check CHECK ((balance >= (0)::numeric)),
  CONSTRAINT credit_wallets_check CHECK (((balance = (0)::numeric) OR (unpaid = (0)::numeric))),
  CONSTRAINT credit_wallets_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  CONSTRAINT credit_wallets_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT credit_wallets_pkey PRIMARY KEY (customer_id),
  CONSTRAINT credit_wallets_unpaid_check CHECK ((unpaid >= (0)::numeric))
);

CREATE TABLE customers (
  id text NOT NULL,
  environment text NOT NULL,
  external_id text,
  name text NOT NULL,
  email text NOT NULL,
  metadata jsonb,
  status text NOT NULL DEFAULT 'active'::text,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  updated_at timestamp with time zone NOT NULL DEFAULT now(),
  search_text text NOT NULL GENERATED ALWAYS AS (lower((((name || '
'::text) || email) || COALESCE(('
'::text || external_id), ''::text)))) STORED,
  processor_customer_id text,
  CONSTRAINT customers_environment_external_id_key UNIQUE (environment, external_id),
  CONSTRAINT customers_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT customers_pkey PRIMARY KEY (id),
  CONSTRAINT customers_status_check CHECK ((status = ANY (ARRAY['active'::text, 'archived'::text])))
);
CREATE INDEX customers_email ON public.customers USING btree (environment, lower(email));
CREATE INDEX customers_newest ON public.customers USING btree (environment, created_at DESC, id DESC);
CREATE UNIQUE INDEX customers_processor ON public.customers USING btree (environment, processor_customer_id) WHERE (processor_customer_id IS NOT NULL);

CREATE TABLE entitlements_told (
  environment text NOT NULL,
  customer_id text NOT NULL,
  told jsonb NOT NULL DEFAULT '{}'::jsonb,
  version bigint NOT NULL DEFAULT 1,
  resolved_at timestamp with time zone NOT NULL,
  next_turn timestamp with time zone,
  CONSTRAINT entitlements_told_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  CONSTRAINT entitlements_told_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT entitlements_told_pkey PRIMARY KEY (environment, customer_id)
) WITH (fillfactor=80);
CREATE INDEX entitlements_told_turn ON public.entitlements_told USING btree (next_turn) WHERE (next_turn IS NOT NULL);

CREATE TABLE environments (
  id text NOT NULL,
  workspace_id text NOT NULL,
  mode text NOT NULL,
  CONSTRAINT environments_mode_check CHECK ((mode = ANY (ARRAY['live'::text, 'test'::text]))),
  CONSTRAINT environments_pkey PRIMARY KEY (id),
  CONSTRAINT environments_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  CONSTRAINT environments_workspace_id_mode_key UNIQUE (workspace_id, mode)
);

CREATE TABLE fanout_jobs (
  environment text NOT NULL,
  scope text NOT NULL,
  target text NOT NULL,
  "position" text NOT NULL DEFAULT ''::text,
  round_to text NOT NULL DEFAULT ''::text,
  is_round boolean NOT NULL DEFAULT false,
  revision bigint NOT NULL DEFAULT 1,
  asked_at timestamp with time zone NOT NULL,
  worked_at timestamp with time zone NOT NULL,
  changed_at timestamp with time zone NOT NULL,
  CONSTRAINT fanout_jobs_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT fanout_jobs_pkey PRIMARY KEY (environment, scope, target),
  CONSTRAINT fanout_jobs_scope_check CHECK ((scope = ANY (ARRAY['plan'::text, 'addon'::text, 'feature'::text, 'past_due'::text])))
);

CREATE TABLE features (
  id text NOT NULL,
  environment text NOT NULL,
  key text NOT NULL,
  name text NOT NULL,
  type text NOT NULL,
  meter_key text,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT features_check CHECK (((type = 'metered'::text) = (meter_key IS NOT NULL))),
  CONSTRAINT features_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT features_environment_key_key UNIQUE (environment, key),
  CONSTRAINT features_environment_meter_key_fkey FOREIGN KEY (environment, meter_key) REFERENCES meters(environment, key),
  CONSTRAINT features_pkey PRIMARY KEY (id),
  CONSTRAINT features_type_check CHECK ((type = ANY (ARRAY['boolean'::text, 'limit'::text, 'metered'::text])))
);
CREATE INDEX features_meter ON public.features USING btree (environment, meter_key) WHERE (meter_key IS NOT NULL);
CREATE INDEX features_newest ON public.features USING btree (environment, created_at DESC, id DESC);

CREATE TABLE funnel_events (
  id text NOT NULL,
  environment text NOT NULL,
  event text NOT NULL,
  session_id text NOT NULL,
  plan_id text,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT funnel_events_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT funnel_events_event_check CHECK ((event = ANY (ARRAY['widget_view'::text, 'checkout_started'::text]))),
  CONSTRAINT funnel_events_pkey PRIMARY KEY (id)
);
CREATE INDEX funnel_events_oldest ON public.funnel_events USING btree (created_at);
CREATE INDEX funnel_events_time ON public.funnel_events USING btree (environment, created_at);

CREATE TABLE idempotent_answers (
  environment text NOT NULL,
  method text NOT NULL,
  path text NOT NULL,
  key text NOT NULL,
  request_hash bytea NOT NULL,
  status integer NOT NULL,
  body bytea NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT idempotent_answers_pkey PRIMARY KEY (environment, method, path, key)
);
CREATE INDEX idempotent_answers_oldest ON public.idempotent_answers USING btree (created_at);

CREATE TABLE installation (
  name text NOT NULL,
  value bytea NOT NULL,
  CONSTRAINT installation_pkey PRIMARY KEY (name)
);

CREATE TABLE job_leases (
  job text NOT NULL,
  owner text NOT NULL,
  epoch bigint NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  runs bigint NOT NULL DEFAULT 0,
  CONSTRAINT job_leases_pkey PRIMARY KEY (job)
);

CREATE TABLE kafka_logs (
  topic text NOT NULL,
  log_id text NOT NULL,
  marks bigint[] NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT kafka_logs_log_id_key UNIQUE (log_id),
  CONSTRAINT kafka_logs_pkey PRIMARY KEY (topic)
);

CREATE TABLE key_stores (
  name text NOT NULL,
  birth text NOT NULL,
  run_id text NOT NULL,
  young_until timestamp with time zone NOT NULL DEFAULT now(),
  window_ms bigint,
  ahead_ms bigint,
  CONSTRAINT key_stores_pkey PRIMARY KEY (name)
);

CREATE TABLE load_members (
  log_id text NOT NULL,
  owner text NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT load_members_pkey PRIMARY KEY (log_id, owner)
);

CREATE TABLE log_ranges (
  log_id text NOT NULL,
  partition integer NOT NULL,
  lo bigint NOT NULL,
  hi bigint NOT NULL,
  epoch bigint NOT NULL,
  state text NOT NULL,
  event_count integer NOT NULL,
  dropped integer[] NOT NULL DEFAULT '{}'::integer[],
  checksum bigint NOT NULL,
  through_ms bigint NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  filled_to smallint NOT NULL,
  CONSTRAINT log_ranges_check CHECK ((hi > lo)),
  CONSTRAINT log_ranges_pkey PRIMARY KEY (log_id, partition, lo),
  CONSTRAINT log_ranges_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'loaded'::text, 'settled'::text])))
);
CREATE INDEX log_ranges_unsettled ON public.log_ranges USING btree (log_id, partition, lo) WHERE (state <> 'settled'::text);

CREATE TABLE log_trims (
  log_id text NOT NULL,
  partition integer NOT NULL,
  kept_from bigint NOT NULL DEFAULT 0,
  events bigint NOT NULL DEFAULT 0,
  through_ms bigint NOT NULL DEFAULT 0,
  held_by text,
  CONSTRAINT log_trims_pkey PRIMARY KEY (log_id, partition)
);

CREATE TABLE meter_rates (
  environment text NOT NULL,
  meter_key text NOT NULL,
  version integer NOT NULL,
  started_at timestamp with time zone NOT NULL,
  burns_from timestamp with time zone NOT NULL,
  credit_rate numeric,
  credit_rates jsonb,
  CONSTRAINT meter_rates_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT meter_rates_environment_meter_key_fkey FOREIGN KEY (environment, meter_key) REFERENCES meters(environment, key),
  CONSTRAINT meter_rates_pkey PRIMARY KEY (environment, meter_key, version)
);

CREATE TABLE metered_terms (
  environment text NOT NULL,
  customer_id text NOT NULL,
  meter_key text NOT NULL,
  starts_at timestamp with time zone NOT NULL,
  period_start timestamp with time zone NOT NULL,
  limits numeric[] NOT NULL,
  is_unlimited boolean NOT NULL,
  subscription_id text,
  source_start timestamp with time zone,
  source_end timestamp with time zone,
  anchor timestamp with time zone,
  "interval" text,
  interval_count integer,
  legacy_interval_ms bigint,
  resets text[],
  since timestamp with time zone,
  CONSTRAINT metered_terms_check CHECK (((subscription_id IS NULL) = (anchor IS NULL))),
  CONSTRAINT metered_terms_check1 CHECK ((num_nulls(source_start, source_end, anchor, "interval", interval_count) = ANY (ARRAY[0, 5]))),
  CONSTRAINT metered_terms_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  CONSTRAINT metered_terms_environment_meter_key_fkey FOREIGN KEY (environment, meter_key) REFERENCES meters(environment, key),
  CONSTRAINT metered_terms_pkey PRIMARY KEY (environment, customer_id, meter_key, starts_at),
  CONSTRAINT metered_terms_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id)
);

CREATE TABLE meters (
  id text NOT NULL,
  environment text NOT NULL,
  key text NOT NULL,
  name text NOT NULL,
  aggregation text NOT NULL,
  property text,
  unit text,
  credit_rate numeric,
  credit_rates jsonb,
  source text NOT NULL DEFAULT 'api'::text,
  status text NOT NULL DEFAULT 'active'::text,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  updated_at timestamp with time zone NOT NULL DEFAULT now(),
  event_source jsonb,
  CONSTRAINT meters_aggregation_check CHECK ((aggregation = ANY (ARRAY['sum'::text, 'count'::text, 'max'::text, 'latest'::text, 'unique'::text]))),
  CONSTRAINT meters_check CHECK (((aggregation = 'unique'::text) = (property IS NOT NULL))),
  CONSTRAINT meters_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT meters_environment_key_key UNIQUE (environment, key),
  CONSTRAINT meters_pkey PRIMARY KEY (id),
  CONSTRAINT meters_source_check CHECK ((source = ANY (ARRAY['api'::text, 'auto'::text]))),
  CONSTRAINT meters_status_check CHECK ((status = ANY (ARRAY['active'::text, 'archived'::text])))
);
CREATE INDEX meters_newest ON public.meters USING btree (environment, created_at DESC, id DESC);
CREATE INDEX meters_with_event_source ON public.meters USING btree (environment) WHERE (event_source IS NOT NULL);

CREATE TABLE migrations (
  number integer NOT NULL,
  applied_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT migrations_pkey PRIMARY KEY (number)
);

CREATE TABLE overrides (
  id text NOT NULL,
  environment text NOT NULL,
  customer_id text NOT NULL,
  feature_id text NOT NULL,
  enabled boolean,
  amount numeric,
  expires_at timestamp with time zone,
  reason text,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  resets text,
  CONSTRAINT overrides_customer_id_feature_id_key UNIQUE (customer_id, feature_id),
  CONSTRAINT overrides_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  CONSTRAINT overrides_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT overrides_feature_id_fkey FOREIGN KEY (feature_id) REFERENCES features(id) ON DELETE CASCADE,
  CONSTRAINT overrides_pkey PRIMARY KEY (id)
);
CREATE INDEX overrides_feature ON public.overrides USING btree (feature_id);

CREATE TABLE partition_alarms (
  log_id text NOT NULL,
  partition integer NOT NULL,
  code text NOT NULL,
  message text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT partition_alarms_pkey PRIMARY KEY (log_id, partition, code)
);

CREATE TABLE partition_leases (
  log_id text NOT NULL,
  partition integer NOT NULL,
  owner text NOT NULL,
  epoch bigint NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT partition_leases_pkey PRIMARY KEY (log_id, partition)
);

CREATE TABLE plan_credit_grants (
  plan_id text NOT NULL,
  version integer NOT NULL,
  starts_at timestamp with time zone NOT NULL,
  grants jsonb NOT NULL,
  CONSTRAINT plan_credit_grants_pkey PRIMARY KEY (plan_id, version, starts_at),
  CONSTRAINT plan_credit_grants_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans(id)
);

CREATE TABLE plan_entitlements (
  plan_id text NOT NULL,
  version integer NOT NULL,
  feature_id text NOT NULL,
  enabled boolean,
  amount numeric,
  soft boolean NOT NULL DEFAULT false,
  resets text,
  CONSTRAINT plan_entitlements_feature_id_fkey FOREIGN KEY (feature_id) REFERENCES features(id) ON DELETE CASCADE,
  CONSTRAINT plan_entitlements_pkey PRIMARY KEY (plan_id, version, feature_id),
  CONSTRAINT plan_entitlements_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans(id)
);
CREATE INDEX plan_entitlements_feature ON public.plan_entitlements USING btree (feature_id);

CREATE TABLE plan_prices (
  plan_id text NOT NULL,
  version integer NOT NULL,
  starts_at timestamp with time zone NOT NULL,
  prices jsonb NOT NULL,
  CONSTRAINT plan_prices_pkey PRIMARY KEY (plan_id, version, starts_at),
  CONSTRAINT plan_prices_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans(id)
);

CREATE TABLE plans (
  id text NOT NULL,
  environment text NOT NULL,
  key text NOT NULL,
  name text NOT NULL,
  description text,
  product_id text NOT NULL,
  status text NOT NULL DEFAULT 'draft'::text,
  version integer NOT NULL DEFAULT 1,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  "position" integer,
  highlights text[] NOT NULL DEFAULT '{}'::text[],
  call_to_action text,
  CONSTRAINT plans_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT plans_environment_key_key UNIQUE (environment, key),
  CONSTRAINT plans_environment_product_id_fkey FOREIGN KEY (environment, product_id) REFERENCES products(environment, id),
  CONSTRAINT plans_pkey PRIMARY KEY (id),
  CONSTRAINT plans_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'published'::text, 'archived'::text])))
);
CREATE INDEX plans_newest ON public.plans USING btree (environment, created_at DESC, id DESC);

CREATE TABLE processor_connections (
  environment text NOT NULL,
  api_key bytea,
  api_key_last4 text,
  webhook_secret bytea,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT processor_connections_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT processor_connections_pkey PRIMARY KEY (environment)
);

CREATE TABLE processor_events (
  environment text NOT NULL,
  id text NOT NULL,
  received_at timestamp with time zone NOT NULL,
  status text NOT NULL DEFAULT 'applied'::text,
  reasons text[] NOT NULL DEFAULT '{}'::text[],
  type text,
  processor_subscription_id text,
  changed_at timestamp with time zone,
  applied_at timestamp with time zone,
  reading text,
  reading_bytes integer NOT NULL DEFAULT 0,
  missing_prices text[] NOT NULL DEFAULT '{}'::text[],
  missing_customer text,
  missing_name text,
  CONSTRAINT processor_events_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT processor_events_pkey PRIMARY KEY (environment, id),
  CONSTRAINT processor_events_status_check CHECK ((status = ANY (ARRAY['applied'::text, 'ignored'::text, 'unmatched'::text])))
);
CREATE INDEX processor_events_newest ON public.processor_events USING btree (environment, received_at DESC, id DESC);
CREATE INDEX processor_events_oldest ON public.processor_events USING btree (received_at);
CREATE INDEX processor_events_waiting ON public.processor_events USING btree (environment, processor_subscription_id) WHERE (status = 'unmatched'::text);

CREATE TABLE processor_prices (
  environment text NOT NULL,
  price_id text NOT NULL,
  plan_id text,
  addon_id text,
  CONSTRAINT processor_prices_addon_id_fkey FOREIGN KEY (addon_id) REFERENCES addons(id),
  CONSTRAINT processor_prices_check CHECK (((plan_id IS NULL) <> (addon_id IS NULL))),
  CONSTRAINT processor_prices_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT processor_prices_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans(id)
);
CREATE INDEX processor_prices_of_addon ON public.processor_prices USING btree (addon_id, price_id);
CREATE INDEX processor_prices_of_plan ON public.processor_prices USING btree (plan_id, price_id);
CREATE UNIQUE INDEX processor_prices_addon ON public.processor_prices USING btree (environment, price_id) WHERE (addon_id IS NOT NULL);
CREATE UNIQUE INDEX processor_prices_plan ON public.processor_prices USING btree (environment, price_id) WHERE (plan_id IS NOT NULL);

CREATE TABLE products (
  environment text NOT NULL,
  id text NOT NULL,
  name text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT products_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT products_pkey PRIMARY KEY (environment, id)
);
CREATE INDEX products_newest ON public.products USING btree (environment, created_at DESC, id DESC);

CREATE TABLE quarantine (
  log_id text NOT NULL,
  partition integer NOT NULL,
  lo bigint NOT NULL,
  line integer NOT NULL,
  body bytea NOT NULL,
  reason text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  resolved_at timestamp with time zone,
  CONSTRAINT quarantine_pkey PRIMARY KEY (log_id, partition, lo, line)
);

CREATE TABLE reservation_accounts (
  environment text NOT NULL,
  customer_id text NOT NULL,
  CONSTRAINT reservation_accounts_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT reservation_accounts_pkey PRIMARY KEY (environment, customer_id)
);

CREATE TABLE reservations (
  id text NOT NULL,
  environment text NOT NULL,
  customer_id text NOT NULL,
  feature_key text NOT NULL,
  meter_key text NOT NULL,
  counts_events boolean NOT NULL,
  amount numeric NOT NULL,
  reserved numeric NOT NULL,
  status text NOT NULL,
  on_expiry text NOT NULL,
  properties jsonb,
  created_by text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  renewed_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  ended_at timestamp with time zone,
  value numeric,
  late boolean NOT NULL DEFAULT false,
  occurred_at timestamp with time zone,
  event_properties text,
  committing_at timestamp with time zone,
  commit_number bigint,
  event text,
  decision text,
  CONSTRAINT reservations_amount_check CHECK ((amount > (0)::numeric)),
  CONSTRAINT reservations_check CHECK (((status <> ALL (ARRAY['committing'::text, 'committed'::text])) OR ((value IS NOT NULL) AND (occurred_at IS NOT NULL)))),
  CONSTRAINT reservations_check1 CHECK (((status <> 'committed'::text) OR ((event IS NOT NULL) AND (commit_number IS NOT NULL)))),
  CONSTRAINT reservations_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT reservations_on_expiry_check CHECK ((on_expiry = ANY (ARRAY['release'::text, 'commit'::text]))),
  CONSTRAINT reservations_pkey PRIMARY KEY (id),
  CONSTRAINT reservations_reserved_check CHECK ((reserved >= (0)::numeric)),
  CONSTRAINT reservations_status_check CHECK ((status = ANY (ARRAY['held'::text, 'committing'::text, 'committed'::text, 'released'::text, 'expired'::text]))),
  CONSTRAINT reservations_value_check CHECK ((value >= (0)::numeric))
);
CREATE INDEX reservations_committing ON public.reservations USING btree (committing_at) WHERE (status = 'committing'::text);
CREATE INDEX reservations_due ON public.reservations USING btree (expires_at) WHERE (status = 'held'::text);
CREATE INDEX reservations_ended ON public.reservations USING btree (ended_at) WHERE (status <> ALL (ARRAY['held'::text, 'committing'::text]));
CREATE INDEX reservations_held ON public.reservations USING btree (environment, customer_id, expires_at) WHERE (status = 'held'::text);
CREATE INDEX reservations_list ON public.reservations USING btree (environment, created_at DESC, id DESC);
CREATE INDEX reservations_of_customer ON public.reservations USING btree (environment, customer_id, created_at DESC, id DESC);
CREATE INDEX reservations_uncounted ON public.reservations USING btree (environment, customer_id, commit_number) WHERE ((status = 'committed'::text) AND (reserved > (0)::numeric));

CREATE TABLE reserved_amounts (
  environment text NOT NULL,
  customer_id text NOT NULL,
  meter_key text NOT NULL,
  held numeric NOT NULL,
  beyond numeric NOT NULL,
  rate numeric NOT NULL,
  uncounted numeric NOT NULL,
  has_commits boolean NOT NULL,
  CONSTRAINT reserved_amounts_beyond_check CHECK ((beyond >= (0)::numeric)),
  CONSTRAINT reserved_amounts_check CHECK (((uncounted >= (0)::numeric) AND (uncounted <= held))),
  CONSTRAINT reserved_amounts_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT reserved_amounts_held_check CHECK ((held >= (0)::numeric)),
  CONSTRAINT reserved_amounts_pkey PRIMARY KEY (environment, customer_id, meter_key)
);

CREATE TABLE settlement_marks (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  environment text NOT NULL,
  customer_id text,
  meter_key text NOT NULL,
  from_at timestamp with time zone NOT NULL,
  "position" text NOT NULL DEFAULT ''::text,
  rearms boolean NOT NULL DEFAULT false,
  CONSTRAINT settlement_marks_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT settlement_marks_pkey PRIMARY KEY (id)
);

CREATE TABLE simulated_customers (
  simulation_id text NOT NULL,
  customer_id text NOT NULL,
  totals jsonb NOT NULL,
  difference numeric NOT NULL,
  beyond jsonb NOT NULL,
  CONSTRAINT simulated_customers_pkey PRIMARY KEY (simulation_id, customer_id),
  CONSTRAINT simulated_customers_simulation_id_fkey FOREIGN KEY (simulation_id) REFERENCES simulations(id)
);
CREATE INDEX simulated_customers_order ON public.simulated_customers USING btree (simulation_id, difference DESC, customer_id);

CREATE TABLE simulations (
  id text NOT NULL,
  environment text NOT NULL,
  status text NOT NULL,
  plan_id text,
  offer jsonb NOT NULL,
  customer_ids text[],
  starts_at timestamp with time zone NOT NULL,
  ends_at timestamp with time zone NOT NULL,
  customers integer NOT NULL,
  done integer NOT NULL DEFAULT 0,
  "position" text NOT NULL DEFAULT ''::text,
  failures integer NOT NULL DEFAULT 0,
  as_of timestamp with time zone,
  totals jsonb,
  created_at timestamp with time zone NOT NULL,
  worked_at timestamp with time zone NOT NULL,
  finished_at timestamp with time zone,
  CONSTRAINT simulations_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT simulations_pkey PRIMARY KEY (id),
  CONSTRAINT simulations_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans(id),
  CONSTRAINT simulations_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'completed'::text, 'failed'::text])))
);
CREATE INDEX simulations_environment ON public.simulations USING btree (environment, created_at);
CREATE INDEX simulations_oldest ON public.simulations USING btree (created_at);
CREATE INDEX simulations_open ON public.simulations USING btree (worked_at) WHERE (status = ANY (ARRAY['pending'::text, 'running'::text]));

CREATE TABLE subscription_addons (
  subscription_id text NOT NULL,
  addon_id text NOT NULL,
  quantity integer NOT NULL,
  from_processor boolean NOT NULL DEFAULT false,
  CONSTRAINT subscription_addons_addon_id_fkey FOREIGN KEY (addon_id) REFERENCES addons(id),
  CONSTRAINT subscription_addons_pkey PRIMARY KEY (subscription_id, addon_id),
  CONSTRAINT subscription_addons_quantity_check CHECK ((quantity > 0)),
  CONSTRAINT subscription_addons_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id)
);
CREATE INDEX subscription_addons_addon ON public.subscription_addons USING btree (addon_id, subscription_id);

CREATE TABLE subscription_terms (
  subscription_id text NOT NULL,
  starts_at timestamp with time zone NOT NULL,
  is_charged boolean NOT NULL,
  plan_id text NOT NULL,
  plan_version integer,
  addons jsonb NOT NULL,
  anchor timestamp with time zone NOT NULL,
  "interval" text NOT NULL,
  interval_count integer NOT NULL,
  legacy_interval_ms bigint,
  period_start timestamp with time zone,
  period_end timestamp with time zone,
  CONSTRAINT subscription_terms_legacy_interval_ms_check CHECK ((legacy_interval_ms > 0)),
  CONSTRAINT subscription_terms_pkey PRIMARY KEY (subscription_id, starts_at),
  CONSTRAINT subscription_terms_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans(id),
  CONSTRAINT subscription_terms_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id)
);
CREATE INDEX subscription_terms_plan ON public.subscription_terms USING btree (plan_id);

CREATE TABLE subscriptions (
  id text NOT NULL,
  environment text NOT NULL,
  customer_id text NOT NULL,
  plan_id text NOT NULL,
  plan_version integer,
  status text NOT NULL,
  status_since timestamp with time zone NOT NULL,
  current_period_start timestamp with time zone NOT NULL,
  current_period_end timestamp with time zone NOT NULL,
  anchor timestamp with time zone NOT NULL,
  no_roll_before timestamp with time zone,
  rolls_at timestamp with time zone NOT NULL GENERATED ALWAYS AS (GREATEST(current_period_end, no_roll_before)) STORED,
  cancel_at timestamp with time zone,
  canceled_at timestamp with time zone,
  trial_end timestamp with time zone,
  processor_subscription_id text,
  processor_changed_at timestamp with time zone,
  metadata jsonb,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  "interval" text NOT NULL DEFAULT 'month'::text,
  interval_count integer NOT NULL DEFAULT 1,
  legacy_interval_ms bigint,
  starts_at timestamp with time zone NOT NULL,
  cancels_at_period_end boolean NOT NULL DEFAULT false,
  pending_plan_id text,
  interval_months integer GENERATED ALWAYS AS (
CASE
    WHEN (legacy_interval_ms IS NULL) THEN
    CASE "interval"
        WHEN 'month'::text THEN interval_count
        WHEN 'year'::text THEN (12 * interval_count)
        ELSE NULL::integer
    END
    ELSE NULL::integer
END) STORED,
  interval_ms bigint GENERATED ALWAYS AS (COALESCE(legacy_interval_ms,
CASE "interval"
    WHEN 'day'::text THEN (86400000 * (interval_count)::bigint)
    WHEN 'week'::text THEN (604800000 * (interval_count)::bigint)
    ELSE NULL::bigint
END)) STORED,
  local_changed_at timestamp with time zone,
  processor_cancel_at timestamp with time zone,
  processor_simulated boolean NOT NULL DEFAULT false,
  CONSTRAINT subscriptions_check CHECK ((current_period_end > current_period_start)),
  CONSTRAINT subscriptions_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  CONSTRAINT subscriptions_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT subscriptions_environment_processor_subscription_id_key UNIQUE (environment, processor_subscription_id),
  CONSTRAINT subscriptions_interval_check CHECK (("interval" = ANY (ARRAY['day'::text, 'week'::text, 'month'::text, 'year'::text]))),
  CONSTRAINT subscriptions_interval_count_check CHECK ((interval_count > 0)),
  CONSTRAINT subscriptions_legacy_interval_ms_check CHECK ((legacy_interval_ms > 0)),
  CONSTRAINT subscriptions_pending_plan_id_fkey FOREIGN KEY (pending_plan_id) REFERENCES plans(id),
  CONSTRAINT subscriptions_pkey PRIMARY KEY (id),
  CONSTRAINT subscriptions_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans(id),
  CONSTRAINT subscriptions_status_check CHECK ((status = ANY (ARRAY['incomplete'::text, 'incomplete_expired'::text, 'trialing'::text, 'active'::text, 'past_due'::text, 'unpaid'::text, 'paused'::text, 'canceled'::text])))
);
CREATE INDEX subscriptions_cancel_due ON public.subscriptions USING btree (cancel_at, id) WHERE ((cancel_at IS DISTINCT FROM processor_cancel_at) AND (status <> ALL (ARRAY['canceled'::text, 'incomplete_expired'::text])));
CREATE INDEX subscriptions_customer ON public.subscriptions USING btree (customer_id, created_at);
CREATE INDEX subscriptions_linked_cancel_due ON public.subscriptions USING btree (cancel_at, id) WHERE ((cancel_at = processor_cancel_at) AND (NOT processor_simulated) AND (status <> ALL (ARRAY['canceled'::text, 'incomplete_expired'::text])));
CREATE INDEX subscriptions_linked_trial_due ON public.subscriptions USING btree (trial_end, id) WHERE ((status = 'trialing'::text) AND (processor_subscription_id IS NOT NULL) AND (NOT processor_simulated));
CREATE INDEX subscriptions_newest ON public.subscriptions USING btree (environment, created_at DESC, id DESC);
CREATE INDEX subscriptions_past_due ON public.subscriptions USING btree (environment, customer_id) WHERE (status = 'past_due'::text);
CREATE INDEX subscriptions_period_due ON public.subscriptions USING btree (rolls_at, id) WHERE ((processor_subscription_id IS NULL) AND (status <> ALL (ARRAY['canceled'::text, 'incomplete_expired'::text])));
CREATE INDEX subscriptions_pinned ON public.subscriptions USING btree (plan_id, plan_version) WHERE (plan_version IS NOT NULL);
CREATE INDEX subscriptions_plan ON public.subscriptions USING btree (plan_id, customer_id);
CREATE INDEX subscriptions_session ON public.subscriptions USING btree (environment, ((metadata ->> 'sessionId'::text))) WHERE (metadata ? 'sessionId'::text);
CREATE INDEX subscriptions_trial_due ON public.subscriptions USING btree (trial_end, id) WHERE ((status = 'trialing'::text) AND (processor_subscription_id IS NULL));

CREATE TABLE usage_changes (
  number bigint NOT NULL DEFAULT nextval('usage_change_numbers'::regclass),
  environment text NOT NULL,
  id text NOT NULL,
  kind text NOT NULL,
  state text NOT NULL,
  has_voids boolean NOT NULL,
  request jsonb NOT NULL,
  ends_at jsonb,
  created_by text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  closed_at timestamp with time zone,
  visible_at timestamp with time zone,
  reverted_at timestamp with time zone,
  rows_removed_at timestamp with time zone,
  voided bigint NOT NULL DEFAULT 0,
  added_event json,
  "position" jsonb,
  announced_at timestamp with time zone,
  CONSTRAINT usage_changes_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT usage_changes_id_key UNIQUE (id),
  CONSTRAINT usage_changes_kind_check CHECK ((kind = ANY (ARRAY['void'::text, 'amendment'::text, 'selection'::text, 'backfill'::text]))),
  CONSTRAINT usage_changes_pkey PRIMARY KEY (number),
  CONSTRAINT usage_changes_state_check CHECK ((state = ANY (ARRAY['open'::text, 'closing'::text, 'visible'::text, 'reverted'::text])))
);
CREATE INDEX usage_changes_closing ON public.usage_changes USING btree (number) WHERE (state = 'closing'::text);
CREATE INDEX usage_changes_hidden ON public.usage_changes USING btree (environment, number) WHERE ((state <> 'visible'::text) AND (rows_removed_at IS NULL));
CREATE INDEX usage_changes_list ON public.usage_changes USING btree (environment, kind, created_at DESC, id DESC);
CREATE INDEX usage_changes_of_environment ON public.usage_changes USING btree (environment, number DESC);
CREATE INDEX usage_changes_open ON public.usage_changes USING btree (number) WHERE (state = 'open'::text);
CREATE INDEX usage_changes_unannounced ON public.usage_changes USING btree (number) WHERE ((state = 'visible'::text) AND (announced_at IS NULL));
CREATE INDEX usage_changes_with_voids ON public.usage_changes USING btree (environment) WHERE has_voids;

CREATE TABLE usage_crossings (
  environment text NOT NULL,
  customer_id text NOT NULL,
  meter_key text NOT NULL,
  period_start timestamp with time zone NOT NULL,
  threshold numeric NOT NULL,
  crossed_at timestamp with time zone NOT NULL,
  CONSTRAINT usage_crossings_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT usage_crossings_pkey PRIMARY KEY (environment, customer_id, meter_key, period_start, threshold)
);

CREATE TABLE usage_levels (
  environment text NOT NULL,
  customer_id text NOT NULL,
  meter_key text NOT NULL,
  share numeric NOT NULL,
  current numeric NOT NULL,
  usage_limit numeric,
  budget numeric,
  period_start timestamp with time zone NOT NULL,
  period_end timestamp with time zone NOT NULL,
  changes_at timestamp with time zone NOT NULL,
  used_ahead boolean NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT usage_levels_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT usage_levels_pkey PRIMARY KEY (environment, customer_id, meter_key)
);
CREATE INDEX usage_levels_due ON public.usage_levels USING btree (changes_at);
CREATE INDEX usage_levels_of_meter ON public.usage_levels USING btree (environment, meter_key, share DESC, customer_id);
CREATE INDEX usage_levels_share ON public.usage_levels USING btree (environment, share DESC, customer_id, meter_key);

CREATE TABLE usage_voids (
  environment text NOT NULL,
  event_id text NOT NULL,
  change bigint NOT NULL,
  of_change bigint NOT NULL,
  customer_id text NOT NULL,
  meter_key text NOT NULL,
  occurred_at timestamp with time zone NOT NULL,
  written boolean NOT NULL DEFAULT false,
  CONSTRAINT usage_voids_change_fkey FOREIGN KEY (change) REFERENCES usage_changes(number),
  CONSTRAINT usage_voids_pkey PRIMARY KEY (environment, event_id)
);
CREATE INDEX usage_voids_of_change ON public.usage_voids USING btree (change, event_id);
CREATE INDEX usage_voids_unwritten ON public.usage_voids USING btree (change, event_id) WHERE (NOT written);

CREATE TABLE warehouse_stamps (
  only_one boolean NOT NULL DEFAULT true,
  id text NOT NULL,
  stamp bigint NOT NULL,
  CONSTRAINT warehouse_stamps_only_one_check CHECK (only_one),
  CONSTRAINT warehouse_stamps_pkey PRIMARY KEY (only_one)
);

CREATE TABLE webhook_attempts (
  delivery_id text NOT NULL,
  number integer NOT NULL,
  environment text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  started_at timestamp with time zone NOT NULL,
  duration_ms integer NOT NULL,
  status integer,
  error_code text,
  request_head text NOT NULL,
  response_head text,
  response_body text,
  CONSTRAINT webhook_attempts_pkey PRIMARY KEY (delivery_id, number, created_at)
) PARTITION BY RANGE (created_at);

CREATE TABLE webhook_attempts_default (
  delivery_id text NOT NULL,
  number integer NOT NULL,
  environment text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  started_at timestamp with time zone NOT NULL,
  duration_ms integer NOT NULL,
  status integer,
  error_code text,
  request_head text NOT NULL,
  response_head text,
  response_body text,
  CONSTRAINT webhook_attempts_default_pkey PRIMARY KEY (delivery_id, number, created_at)
);

CREATE TABLE webhook_deliveries (
  id text NOT NULL,
  environment text NOT NULL,
  endpoint_id text NOT NULL,
  event_id text NOT NULL,
  state text NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  last_status integer,
  last_error text,
  last_attempt_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  event_type text,
  replayed_as text,
  CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id, created_at),
  CONSTRAINT webhook_deliveries_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text, 'held'::text])))
) PARTITION BY RANGE (created_at);
CREATE INDEX webhook_deliveries_all ON ONLY public.webhook_deliveries USING btree (environment, created_at DESC, id DESC);
CREATE INDEX webhook_deliveries_newest ON ONLY public.webhook_deliveries USING btree (endpoint_id, created_at DESC, id DESC);
CREATE INDEX webhook_deliveries_type ON ONLY public.webhook_deliveries USING btree (environment, event_type, created_at DESC, id DESC);
CREATE INDEX webhook_deliveries_unsent ON ONLY public.webhook_deliveries USING btree (environment, state, created_at DESC, id DESC) WHERE (state <> 'succeeded'::text);

CREATE TABLE webhook_deliveries_default (
  id text NOT NULL,
  environment text NOT NULL,
  endpoint_id text NOT NULL,
  event_id text NOT NULL,
  state text NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  last_status integer,
  last_error text,
  last_attempt_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  event_type text,
  replayed_as text,
  CONSTRAINT webhook_deliveries_default_pkey PRIMARY KEY (id, created_at),
  CONSTRAINT webhook_deliveries_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text, 'held'::text])))
);
CREATE INDEX webhook_deliveries_default_endpoint_id_created_at_id_idx ON public.webhook_deliveries_default USING btree (endpoint_id, created_at DESC, id DESC);
CREATE INDEX webhook_deliveries_default_environment_created_at_id_idx ON public.webhook_deliveries_default USING btree (environment, created_at DESC, id DESC);
CREATE INDEX webhook_deliveries_default_environment_event_type_created_a_idx ON public.webhook_deliveries_default USING btree (environment, event_type, created_at DESC, id DESC);
CREATE INDEX webhook_deliveries_default_environment_state_created_at_id_idx ON public.webhook_deliveries_default USING btree (environment, state, created_at DESC, id DESC) WHERE (state <> 'succeeded'::text);

CREATE TABLE webhook_endpoints (
  id text NOT NULL,
  environment text NOT NULL,
  url text NOT NULL,
  events text[] NOT NULL,
  status text NOT NULL DEFAULT 'enabled'::text,
  secret bytea NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  failures integer NOT NULL DEFAULT 0,
  failing_since timestamp with time zone,
  circuit_until timestamp with time zone,
  circuit_probes integer NOT NULL DEFAULT 0,
  disabled_reason text,
  previous_secret bytea,
  previous_secret_until timestamp with time zone,
  last_status integer,
  last_error text,
  CONSTRAINT webhook_endpoints_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (id),
  CONSTRAINT webhook_endpoints_status_check CHECK ((status = ANY (ARRAY['enabled'::text, 'disabled'::text])))
);
CREATE INDEX webhook_endpoints_newest ON public.webhook_endpoints USING btree (environment, created_at DESC, id DESC);

CREATE TABLE webhook_events (
  id text NOT NULL,
  environment text NOT NULL,
  type text NOT NULL,
  object_id text NOT NULL,
  body text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  fanned_out boolean NOT NULL DEFAULT false,
  CONSTRAINT webhook_events_environment_fkey FOREIGN KEY (environment) REFERENCES environments(id),
  CONSTRAINT webhook_events_pkey PRIMARY KEY (id)
);
CREATE INDEX webhook_events_newest ON public.webhook_events USING btree (environment, created_at DESC, id DESC);
CREATE INDEX webhook_events_not_fanned_out ON public.webhook_events USING btree (created_at) WHERE (NOT fanned_out);
CREATE INDEX webhook_events_object ON public.webhook_events USING btree (object_id);
CREATE TRIGGER webhook_events_told AFTER INSERT ON public.webhook_events FOR EACH STATEMENT EXECUTE FUNCTION notify_metergate_outbox();

CREATE TABLE webhook_queue (
  delivery_id text NOT NULL,
  delivery_created_at timestamp with time zone NOT NULL,
  environment text NOT NULL,
  endpoint_id text NOT NULL,
  event_id text NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  due_at timestamp with time zone NOT NULL,
  owner text,
  lease_until timestamp with time zone,
  is_hurried boolean NOT NULL DEFAULT false,
  CONSTRAINT webhook_queue_pkey PRIMARY KEY (delivery_id)
) WITH (fillfactor=60, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=10000);
CREATE INDEX webhook_queue_due ON public.webhook_queue USING btree (endpoint_id, due_at, delivery_id);
CREATE INDEX webhook_queue_hurried ON public.webhook_queue USING btree (endpoint_id, due_at) WHERE is_hurried;
CREATE TRIGGER webhook_queue_told AFTER INSERT ON public.webhook_queue FOR EACH STATEMENT EXECUTE FUNCTION notify_metergate_outbox();

CREATE TABLE workspaces (
  id text NOT NULL,
  name text NOT NULL,
  strict_meters boolean NOT NULL DEFAULT false,
  first_api_call_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  past_due_grace_days integer NOT NULL DEFAULT 14,
  updated_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT workspaces_past_due_grace_days_check CHECK (((past_due_grace_days >= 0) AND (past_due_grace_days <= 365))),
  CONSTRAINT workspaces_pkey PRIMARY KEY (id)
);

CREATE SEQUENCE reservation_commits;

CREATE SEQUENCE usage_change_numbers;

CREATE VIEW webhook_waiting AS
 WITH RECURSIVE waiting AS (
        ( SELECT webhook_queue.endpoint_id,
            webhook_queue.due_at
           FROM webhook_queue
          ORDER BY webhook_queue.endpoint_id, webhook_queue.due_at
         LIMIT 1)
        UNION ALL
         SELECT next.endpoint_id,
            next.due_at
           FROM waiting waiting_1,
            LATERAL ( SELECT q.endpoint_id,
                    q.due_at
                   FROM webhook_queue q
                  WHERE (q.endpoint_id > waiting_1.endpoint_id)
                  ORDER BY q.endpoint_id, q.due_at
                 LIMIT 1) next
        )
 SELECT endpoint_id,
    due_at
   FROM waiting;

CREATE OR REPLACE FUNCTION public.drop_webhook_partitions(kept_from date)
 RETURNS integer
 LANGUAGE plpgsql
 SET lock_timeout TO '2s'
AS $function$
DECLARE
  moment timestamptz := kept_from::timestamp AT TIME ZONE 'UTC';
  child text;
  dropped integer := 0;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('webhook_partitions'));
  DELETE FROM webhook_queue WHERE delivery_created_at < moment;
  DELETE FROM webhook_deliveries_default WHERE created_at < moment;
  DELETE FROM webhook_attempts_default WHERE created_at < moment;
  FOR child IN
    SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent IN ('webhook_deliveries'::regclass, 'webhook_attempts'::regclass)
       AND c.relname ~ '_[0-9]{8}$' AND right(c.relname, 8) < to_char(kept_from, 'YYYYMMDD')
  LOOP
    EXECUTE format('DROP TABLE %I', child);
    dropped := dropped + 1;
  END LOOP;
  RETURN dropped;
END $function$;

CREATE OR REPLACE FUNCTION public.make_webhook_partitions(first_day date, days integer)
 RETURNS void
 LANGUAGE plpgsql
 SET lock_timeout TO '2s'
AS $function$
DECLARE
  day date;
  parent text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('webhook_partitions'));
  FOR day IN SELECT first_day + n FROM generate_series(0, days - 1) AS n LOOP
    FOREACH parent IN ARRAY ARRAY['webhook_deliveries', 'webhook_attempts'] LOOP
      IF to_regclass(parent || to_char(day, '"_"YYYYMMDD')) IS NULL THEN
        BEGIN
          EXECUTE format(
            'CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L) WITH (fillfactor = 70)',
            parent || to_char(day, '"_"YYYYMMDD'), parent,
            day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC');
        EXCEPTION WHEN check_violation THEN
          NULL; -- rows of that day are in the net, and stay there
        END;
      END IF;
    END LOOP;
  END LOOP;
END $function$;

CREATE OR REPLACE FUNCTION public.notify_metergate_outbox()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  NOTIFY metergate_outbox;
  RETURN NULL;
END $function$;
