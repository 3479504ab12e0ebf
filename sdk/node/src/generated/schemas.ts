// Made by `npm run openapi` of schemas/openapi.json; a test compares them.

export type ErrorCode = 
  | "invalid_json"
  | "invalid_gzip"
  | "invalid_request"
  | "query_too_complex"
  | "idempotency_key_missing"
  | "idempotency_key_invalid"
  | "signature_invalid"
  | "unauthenticated"
  | "key_revoked"
  | "key_expired"
  | "insufficient_scope"
  | "publishable_key_not_allowed"
  | "customer_token_not_allowed"
  | "secret_key_required"
  | "not_found"
  | "unsupported_api_version"
  | "customer_not_found"
  | "plan_not_found"
  | "subscription_not_found"
  | "feature_not_found"
  | "meter_not_found"
  | "endpoint_not_found"
  | "method_not_allowed"
  | "already_exists"
  | "idempotency_key_in_use"
  | "illegal_transition"
  | "plan_archived"
  | "customer_archived"
  | "meter_archived"
  | "endpoint_removed"
  | "precondition_failed"
  | "payload_too_large"
  | "batch_too_large"
  | "unsupported_media_type"
  | "idempotency_key_reused"
  | "value_invalid"
  | "not_reservable"
  | "event_too_old"
  | "event_in_future"
  | "rate_limited"
  | "headers_too_large"
  | "internal"
  | "overloaded"
  | "unavailable";

export type ErrorResponse = {
  error: {
    code: ErrorCode;
    /** A sentence for people that says what is wrong and what to do. It may change. */
    message: string;
    /** The field or parameter at fault. */
    param?: string;
    details?: Record<string, unknown>;
    /** The `X-Request-Id` of the request. Include it when you contact support. */
    requestId: string;
  };
};

export type Addon = {
  id: string;
  key: string;
  name: string;
  /** Prices of the payment processor. A subscription item with one of these prices sets the quantity of the add-on. A plan can have the same price; the add-on then counts the seats of that plan. */
  processorPriceIds?: Array<string>;
  createdAt: string;
  updatedAt: string;
};

export type AddonEntitlements = {
  addonId: string;
  entitlements: GivenEntitlements;
};

export type AddonPage = {
  data: Array<Addon>;
  total: number;
  page: number;
  pageSize: number;
  totalPages: number;
  hasNext: boolean;
  hasPrev: boolean;
};

export type AddonPatch = {
  name?: string;
  /** Prices of the payment processor. A price that belongs to another object is 409 `already_exists`. */
  processorPriceIds?: Array<string>;
};

export type AddonPrices = {
  addonId: string;
  prices: Array<Price>;
};

export type AddonQuantity = {
  quantity: number;
};

export type ApiKey = {
  id: string;
  kind: "secret" | "publishable";
  mode: "live" | "test";
  name?: string;
  scopes: Array<string>;
  /** The last four characters of the key. */
  last4: string;
  status: "active" | "expired" | "revoked";
  /** The id of the API key that created it, or `operator`. */
  createdBy: string;
  createdAt: string;
  expiresAt?: string;
  revokedAt?: string;
  /** The id of the key that replaces it. */
  rotatedTo?: string;
  /** When the key was last used, up to one minute late. */
  lastUsedAt?: string;
};

export type ApiKeyPage = {
  data: Array<ApiKey>;
  total: number;
  page: number;
  pageSize: number;
  totalPages: number;
  hasNext: boolean;
  hasPrev: boolean;
};

export type ApiKeyRotation = {
  /** Seconds for which the old key stays valid. Default: one day. Maximum: 30 days. 0 revokes it at once. */
  overlapSeconds?: number;
};

export type ApiKeyWithText = {
  id: string;
  kind: "secret" | "publishable";
  mode: "live" | "test";
  name?: string;
  scopes: Array<string>;
  /** The last four characters of the key. */
  last4: string;
  status: "active" | "expired" | "revoked";
  /** The id of the API key that created it, or `operator`. */
  createdBy: string;
  createdAt: string;
  expiresAt?: string;
  revokedAt?: string;
  /** The id of the key that replaces it. */
  rotatedTo?: string;
  /** When the key was last used, up to one minute late. */
  lastUsedAt?: string;
  /** The text of the API key. It is returned only once. */
  key: string;
};

export type AuditEntry = {
  /** The id of the API key that made the change, or `operator`, `clock` or `processor`. */
  actor: string;
  /** The operation id, for example `plans.update`. */
  action: string;
  objectId: string;
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
  /** The `X-Request-Id` of the request that made the change. */
  requestId?: string;
  createdAt: string;
};

export type AuditEntryPage = {
  data: Array<AuditEntry>;
  total: number;
  page: number;
  pageSize: number;
  totalPages: number;
  hasNext: boolean;
  hasPrev: boolean;
};

export type Budget = {
  customerId: string;
  /** The meter's key. */
  meterId: string;
  /** Usage within one billing period. When it is reached, `usage.threshold` is sent, once per period. */
  soft?: number;
  /** Usage within one billing period. When it is reached, `usage.threshold` is sent, once per period. */
  hard?: number;
  createdAt: string;
  updatedAt: string;
};

export type BudgetPage = {
  data: Array<Budget>;
  total: number;
  page: number;
  pageSize: number;
  totalPages: number;
  hasNext: boolean;
  hasPrev: boolean;
};

export type ChangedReservation = {
  id: string;
  customerId: string;
  featureKey: string;
  meterId: string;
  amount: number;
  status: "held" | "committed" | "released" | "expired";
  onExpiry: "release" | "commit";
  properties?: Record<string, string | number | boolean>;
  createdAt: string;
  expiresAt: string;
  /** When it was committed or released, or expired. */
  endedAt?: string;
  /** What was committed. */
  value?: number;
  /** The usage event of its commit. */
  eventId?: string;
  /** It had expired, and been released, when it was committed. */
  late?: boolean;
  decision?: EntitlementDecision;
};

export type CloudEvent = {
  specversion: "1.0";
  /** With `source` it identifies the event forever. */
  id: string;
  source: string;
  /** The event is counted by the meters whose `eventSource.eventType` is this. */
  type: string;
  /** The customer's id or your own `externalId`. */
  subject: string;
  /** When it occurred. Default: now. */
  time?: string;
  /** JSON. What of it is counted, each meter states. */
  data?: unknown;
};

export type CloudEventResult = {
  index: number;
  id?: string;
  source?: string;
  /** `unmetered`: no meter counts the event, and nothing of it is kept. */
  status: "created" | "duplicate" | "unmetered" | "error";
  usageEvents: Array<{
    /** The meter's key. */
    meterId: string;
    status: "created" | "duplicate" | "error";
    eventId?: string;
    error?: {
      code: string;
      message: string;
      param?: string;
    };
  }>;
  error?: {
    code: string;
    message: string;
    param?: string;
  };
};

export type CloudEventResults = {
  summary: {
    total: number;
    created: number;
    duplicate: number;
    unmetered: number;
    errors: number;
  };
  results: Array<CloudEventResult>;
};

export type CloudEvents = Array<CloudEvent>;

export type CommittedReservation = {
  id: string;
  customerId: string;
  featureKey: string;
  meterId: string;
  amount: number;
  status: "held" | "committed" | "released" | "expired";
  onExpiry: "release" | "commit";
  properties?: Record<string, string | number | boolean>;
  createdAt: string;
  expiresAt: string;
  /** When it was committed or released, or expired. */
  endedAt?: string;
  /** What was committed. */
  value?: number;
  /** The usage event of its commit. */
  eventId?: string;
  /** It had expired, and been released, when it was committed. */
  late?: boolean;
  event: UsageEvent;
};

export type Consumed = {
  event: UsageEvent;
  decision: EntitlementDecision;
};

export type Consumption = {
  /** The customer's id or your own `externalId`. */
  customerId: string;
  /** The key or id of a metered feature. Or send `meterId`. */
  featureKey?: string;
  /** The key or id of a meter that exactly one feature of the customer counts. */
  meterId?: string;
  /** How much is to be used, above 0. */
  amount: number;
  properties?: Record<string, string | number | boolean>;
};

export type Contribution = {
  /** `plan:<key>`, `addon:<key>` or `override`. */
  source: string;
  /** Boolean features: true or false. Limit and metered features: a number of at least 0, or null for unlimited. */
  value: boolean | number | null;
  /** How many times the customer has the source. Left out: once. */
  quantity?: number;
};

export type CostEvents = {
  /** Events that cost their share and the fee. */
  charged: number;
  /** Events that cost `min`. */
  atMin: number;
  /** Events that cost `max`. */
  atMax: number;
};

export type CostLine = {
  subscriptionId: string;
  planKey?: string;
  /** In place of `planKey`, for a price of an add-on. */
  addonKey?: string;
  priceKey: string;
  /** Of the price. */
  description?: string;
  model: 
    | "flat"
    | "per_unit"
    | "graduated"
    | "volume"
    | "package"
    | "percentage"
    | "seat";
  meterKey?: string;
  featureKey?: string;
  from: string;
  to: string;
  /** The meter's usage in this time, or the customer's seats. */
  used?: number;
  /** Units of it that cost nothing. */
  included?: number;
  /** What is charged: units, packages, seats, or how often a flat amount is. */
  quantity: number;
  /** Of one of them, where it is the same for each. */
  unitAmount?: number;
  /** Of a percentage. */
  rate?: number;
  /** Of a percentage: the fee of an event. */
  fixed?: number;
  tiers?: Array<CostTier>;
  /** Of a price that differs by a property. */
  values?: Array<CostValue>;
  events?: CostEvents;
  /** Exact, before `minimum`, `maximum` and rounding. */
  exactAmount: number;
  /** What `minimum` adds; below zero where the usage of a later part of the period has come up to that. */
  minimumAmount?: number;
  /** What `maximum` takes away, below zero. */
  maximumAmount?: number;
  currency: string;
  /** The sum of these amounts, rounded half-even to the currency's minor unit. */
  amount: number;
};

export type CostTier = {
  upTo: number | null;
  unitAmount: number;
  flatAmount?: number;
  quantity: number;
  /** With the flat amount, where it is charged. Exact, before `minimum`, `maximum` and rounding. */
  amount: number;
};

export type CostTotal = {
  currency: string;
  amount: number;
};

export type CostValue = {
  /** Left out for all values that the price does not name. */
  value?: string;
  /** Included units are counted here too. */
  quantity: number;
  unitAmount: number;
};

/** A customer's credit balance reached zero. */
export type CreditDepletedEvent = {
  /** The same for every attempt and every replay. */
  id: string;
  type: "credit.depleted";
  workspace_id: string;
  created_at: string;
  data: {
    /** The customer's id. */
    customerId: string;
    /** Always 0. */
    balance: number;
  };
};

export type CreditGrant = {
  id: string;
  customerId: string;
  amount: number;
  remaining: number;
  reason: string;
  /** Grants with a lower priority are burned first; of equal ones the first to expire, then the oldest. */
  priority: number;
  expiresAt?: string;
  /** Of a grant that a plan makes: for which subscription, key and period. */
  recurring?: {
    subscriptionId: string;
    key: string;
    periodStart: string;
  };
  createdAt: string;
};

export type CreditGrantPatch = {
  /** In the future, and before the present expiry. */
  expiresAt: string;
  /** Kept in the audit log. */
  reason?: string;
};

/** Credits were granted to a customer. */
export type CreditGrantedEvent = {
  /** The same for every attempt and every replay. */
  id: string;
  type: "credit.granted";
  workspace_id: string;
  created_at: string;
  data: {
    /** The customer's id. */
    customerId: string;
    /** The credits of the grant. */
    amount: number;
    /** The reason that the grant was made with. */
    reason: string;
  };
};

export type CreditLedgerEntry = {
  /** `grant`: credits were granted. `repayment`: a grant paid an unpaid amount. `burn`: usage of a meter burned credits. `reversal`: a correction of usage returned credits. `expiry`: the rest of a grant expired, or the grant was voided. */
  type: "grant" | "repayment" | "burn" | "reversal" | "expiry";
  /** Change of the balance. The balance is the sum of all entries. */
  amount: number;
  /** Change of the unpaid amount, which is the sum of all entries. */
  unpaid: number;
  grantId?: string;
  meterKey?: string;
  /** Start of the billing period that the usage belongs to. */
  periodStart?: string;
  createdAt: string;
  /** Later than `createdAt` when the meter burned credits again within the same hour (UTC). */
  updatedAt: string;
};

export type CreditLedgerEntryPage = {
  data: Array<CreditLedgerEntry>;
  total: number;
  page: number;
  pageSize: number;
  totalPages: number;
  hasNext: boolean;
  hasPrev: boolean;
};

export type CreditRates = {
  property: string;
  rates: Record<string, number>;
};

export type Customer = {
  id: string;
  name: string;
  email: string;
  externalId?: string;
  processorCustomerId?: string;
  metadata?: Record<string, string | number | boolean>;
  status: "active" | "archived";
  createdAt: string;
};

export type CustomerCost = {
  customerId: string;
  from: string;
  to: string;
  /** The sum of the lines of each currency. */
  totals: Array<CostTotal>;
  lines: Array<CostLine>;
  asOf: string;
};

/** A customer was created. */
export type CustomerCreatedEvent = {
  /** The same for every attempt and every replay. */
  id: string;
  type: "customer.created";
  workspace_id: string;
  created_at: string;
  data: {
    /** The customer's id. */
    customerId: string;
    /** The customer's name. */
    customerName: string;
    /** The customer's email address. */
    customerEmail: string;
  };
};

export type CustomerCredits = {
  customerId: string;
  /** Credits left in all grants. */
  balance: number;
  /** Cost of usage that no credits were left for. The next grant pays it first. */
  unpaid: number;
  /** Grants with credits left that have not expired, in the order in which they are burned. */
  grants: Array<CreditGrant>;
};

export type CustomerPage = {
  data: Array<Customer>;
  total: number;
  page: number;
  pageSize: number;
  totalPages: number;
  hasNext: boolean;
  hasPrev: boolean;
};

export type CustomerPatch = {
  name?: string;
  email?: string;
  /** Your own id of the customer. Every operation accepts it in place of the customer's id. It cannot be changed. */
  externalId?: string;
  /** The payment processor's id of the customer. null removes it. */
  processorCustomerId?: string | null;
  metadata?: Record<string, string | number | boolean>;
};

export type CustomerToken = {
  /** Send it as `Authorization: Bearer ct_…`. */
  token: string;
  expiresAt: string;
  customerId: string;
};

/** A customer was changed or archived, or is now on another plan. */
export type CustomerUpdatedEvent = {
  /** The same for every attempt and every replay. */
  id: string;
  type: "customer.updated";
  workspace_id: string;
  created_at: string;
  data: {
    /** The customer's id. */
    customerId: string;
    /** The names of the fields that changed; `plan` when a subscription changed the plan. */
    changes: Array<string>;
  };
};

export type DeniedConsumption = {
  decision: EntitlementDecision;
};

export type DeniedReservation = {
  status: "denied";
  decision: EntitlementDecision;
};

export type Entitlement = {
  featureKey: string;
  type: "boolean" | "limit" | "metered";
  /** Boolean features: true or false. Limit and metered features: a number of at least 0, or null for unlimited. */
  effectiveValue?: boolean | number | null;
  /** Of a metered feature: when its usage begins to count from 0 again. Left out: with the billing period. */
  resets?: "day" | "week" | "month" | "billing_period" | "never";
  /** The sources of `effectiveValue`. Limits: the sum of `value` × `quantity` is the limit. Unlimited: the sources that are unlimited. Boolean features: the sources with the same value. An override is the only entry. Credits are not included: they pay for usage beyond the limit. Left out when there are more than 100. */
  contributions?: Array<Contribution>;
  /** Where the value comes from: `plan:<key>`, `addon:<key>`, `override` or `credit`. */
  sources: Array<string>;
};

/** The value that a customer has of a feature changed. */
export type EntitlementChangedEvent = {
  /** The same for every attempt and every replay. */
  id: string;
  type: "entitlement.changed";
  workspace_id: string;
  created_at: string;
  data: {
    /** The customer's id. */
    customerId: string;
    /** The feature's key. */
    featureKey: string;
    /** Boolean features: the value. Other features: true when the limit is more than 0, unlimited or soft. */
    allowed: boolean;
    /** Boolean features: the same as `allowed`. Other features: the limit, null when it is unlimited, 0 when the customer no longer has the feature. */
    effectiveValue: boolean | number | null;
  };
};

export type EntitlementChecks = {
  /** The customer's id or your own `externalId`. */
  customerId: string;
  features: Array<{
    /** The feature's key or id. */
    featureKey: string;
    /** The amount that the customer wants to use. Metered features: in addition to the usage so far, 1 by default. Limit features: compared with the limit, 0 by default. Not for boolean features. */
    requested?: number;
  }>;
};

export type EntitlementDecision = {
  allowed: boolean;
  /** A sentence for people, which may change. Decide by `reasonCode`. */
  reason: string;
  customerId: string;
  featureKey: string;
  type?: "boolean" | "limit" | "metered";
  /** Boolean features: true or false. Limit and metered features: a number of at least 0, or null for unlimited. */
  effectiveValue?: boolean | number | null;
  /** Of a metered feature: when its usage begins to count from 0 again. Left out: with the billing period. */
  resets?: "day" | "week" | "month" | "billing_period" | "never";
  /** The sources of `effectiveValue`. Limits: the sum of `value` × `quantity` is the limit. Unlimited: the sources that are unlimited. Boolean features: the sources with the same value. An override is the only entry. Credits are not included: they pay for usage beyond the limit. Left out when there are more than 100. */
  contributions?: Array<Contribution>;
  /** Where the value comes from: `plan:<key>`, `addon:<key>`, `override` or `credit`. */
  sources?: Array<string>;
  reasonCode: 
    | "granted"
    | "granted_unlimited"
    | "granted_soft_limit_exceeded"
    | "granted_by_override"
    | "granted_by_credit"
    | "granted_grace_period"
    | "limit_reached"
    | "insufficient_credit"
    | "feature_not_included"
    | "no_active_subscription"
    | "subscription_past_due"
    | "subscription_paused"
    | "override_denied"
    | "feature_not_found"
    | "customer_not_found"
    | "customer_archived";
  /** Left out when the feature is unlimited. */
  limit?: number;
  /** Usage of the meter in the current window of the limit. */
  current?: number;
  /** `limit` − `current`, at least 0, without what this request asks for. */
  remaining?: number;
  /** Left out when the limit never resets. */
  resetsAt?: string;
  asOf?: string;
};

export type EntitlementDecisionList = {
  data: Array<EntitlementDecision>;
};

export type EntitlementList = Array<Entitlement>;

export type EntitlementSet = {
  entitlements: Array<{
    /** The feature's key or id. Each feature may occur once. */
    featureKey: string;
    /** Boolean features: true or false. Limit and metered features: a number of at least 0, or null for unlimited. */
    value: boolean | number | null;
    /** Whether the limit may be exceeded. Limit and metered features only. */
    soft?: boolean;
    /** Metered features: when usage begins to count from 0 again. `day`, `week` and `month` are counted from the billing anchor and end with the billing period at the latest; `never` counts from the start of the subscription. Default: what the other values of the feature say that the customer has, else `billing_period`; where they differ the longest applies to their sum. */
    resets?: "day" | "week" | "month" | "billing_period" | "never";
  }>;
};

export type EventEnvelope = {
  id: string;
  type: 
    | "customer.created"
    | "customer.updated"
    | "subscription.created"
    | "subscription.updated"
    | "subscription.canceled"
    | "plan.created"
    | "plan.updated"
    | "plan.published"
    | "plan.archived"
    | "feature.updated"
    | "feature.deleted"
    | "usage.threshold"
    | "usage.corrected"
    | "credit.granted"
    | "credit.depleted"
    | "entitlement.changed";
  workspace_id: string;
  created_at: string;
  data: Record<string, unknown>;
};

export type EventEnvelopePage = {
  data: Array<EventEnvelope>;
  total: number;
  page: number;
  pageSize: number;
  totalPages: number;
  hasNext: boolean;
  hasPrev: boolean;
};

export type EventSource = {
  /** The `type` of the CloudEvents that the meter counts, or the name of the event of a log. */
  eventType: string;
  /** Where the value is in the data of an event: a number, or a text that is one. A member of the data by its name (`tokens`), or a path of names and indexes (`$.usage.tokens[0]`). Left out: each event counts 1. Of a `unique` meter: what is counted, if its data has no member of the name of `property`. */
  valueProperty?: string;
  /** Accepted values by path. An event counts if each path has one of its values; numbers and booleans are compared by their text. */
  filters?: Record<string, Array<string>>;
  /** Properties of the usage event, each with the path of its value in the data. */
  groupBy?: Record<string, string>;
};

export type FailingWebhookEndpoint = {
  endpointId: string;
  url: string;
  /** Attempts that failed in a row. */
  failures: number;
  /** The end of the first of them. */
  failingSince: string;
  /** The HTTP status of the last response. */
  lastStatus?: number;
  lastError?: 
    | "url_not_allowed"
    | "address_not_public"
    | "name_not_resolved"
    | "connect_failed"
    | "connect_timeout"
    | "tls_failed"
    | "timeout"
    | "connection_lost"
    | "response_invalid"
    | "response_too_large"
    | "status_not_2xx"
    | "internal";
  /** While the circuit breaker is open: when the next delivery is tried. The others wait until one succeeds. */
  pausedUntil?: string;
};

export type FailingWebhookEndpointList = {
  data: Array<FailingWebhookEndpoint>;
};

export type Feature = {
  id: string;
  key: string;
  name: string;
  /** `boolean`: the customer has it or not. `limit`: a number, such as seats. `metered`: a limit on the usage of a meter. */
  type: "boolean" | "limit" | "metered";
  meterKey?: string;
  createdAt: string;
  updatedAt: string;
};

/** A feature was deleted. */
export type FeatureDeletedEvent = {
  /** The same for every attempt and every replay. */
  id: string;
  type: "feature.deleted";
  workspace_id: string;
  created_at: string;
  data: {
    /** The feature's id. */
    featureId: string;
    /** The feature's key. */
    key: string;
  };
};

export type FeaturePage = {
  data: Array<Feature>;
  total: number;
  page: number;
  pageSize: number;
  totalPages: number;
  hasNext: boolean;
  hasPrev: boolean;
};

export type FeaturePatch = {
  key?: string;
  name?: string;
  /** `boolean`: the customer has it or not. `limit`: a number, such as seats. `metered`: a limit on the usage of a meter. */
  type?: "boolean" | "limit" | "metered";
  /** The key or id of the meter that counts the usage of the feature. */
  meterKey?: string;
};

/** A feature was changed. */
export type FeatureUpdatedEvent = {
  /** The same for every attempt and every replay. */
  id: string;
  type: "feature.updated";
  workspace_id: string;
  created_at: string;
  data: {
    /** The feature's id. */
    featureId: string;
    /** The feature's key. */
    key: string;
  };
};

/** The same amount for each period. */
export type FlatPrice = {
  model: "flat";
  /** Your name for it. Prices with the same key are one price in several currencies and intervals. */
  key: string;
  /** A currency in use, by its code of ISO 4217. Amounts are in it, not in its minor unit. */
  currency: string;
  /** Together with `intervalCount` the period of the price. Periods begin at the billing anchor of the subscription. Of the prices with one key a subscription pays the one with its own interval, else the one with the shortest. */
  interval: "day" | "week" | "month" | "year";
  /** Default: 1. */
  intervalCount?: number;
  description?: string;
  /** The least that each period costs. */
  minimum?: number;
  /** The most that each period costs. */
  maximum?: number;
  amount: number;
};

export type FoundUsageEvents = {
  /** One event, or none. More than one shows that an event was counted more than once. */
  data: Array<UsageEvent>;
  asOf: string;
};

export type Funnel = {
  from: string;
  to: string;
  stages: Array<FunnelStage>;
};

export type FunnelEvent = {
  event: "widget_view" | "checkout_started";
  /** Stable and anonymous; one per mount of the widget. */
  sessionId: string;
  /** Stored as sent; the plan need not exist. */
  planId?: string;
};

export type FunnelEventReceipt = {
  id: string;
};

/** A `FunnelEvent` as JSON. */
export type FunnelEventText = string;

export type FunnelStage = {
  stage: "widget_view" | "checkout_started" | "activated";
  /** Number of distinct sessions. */
  sessions: number;
  /** Sessions of this stage divided by those of the first stage; 0 when the first stage has none. */
  rate: number;
};

export type GivenEntitlements = Array<{
  featureKey: string;
  type: "boolean" | "limit" | "metered";
  /** Boolean features: true or false. Limit and metered features: a number of at least 0, or null for unlimited. */
  value: boolean | number | null;
  /** Whether the limit may be exceeded. Limit and metered features only. */
  soft: boolean;
  /** Metered features: when usage begins to count from 0 again. `day`, `week` and `month` are counted from the billing anchor and end with the billing period at the latest; `never` counts from the start of the subscription. Default: what the other values of the feature say that the customer has, else `billing_period`; where they differ the longest applies to their sum. */
  resets?: "day" | "week" | "month" | "billing_period" | "never";
}>;

/** Each unit costs what its own tier says. */
export type GraduatedPrice = {
  model: "graduated";
  /** Your name for it. Prices with the same key are one price in several currencies and intervals. */
  key: string;
  /** A currency in use, by its code of ISO 4217. Amounts are in it, not in its minor unit. */
  currency: string;
  /** Together with `intervalCount` the period of the price. Periods begin at the billing anchor of the subscription. Of the prices with one key a subscription pays the one with its own interval, else the one with the shortest. */
  interval: "day" | "week" | "month" | "year";
  /** Default: 1. */
  intervalCount?: number;
  description?: string;
  /** The least that each period costs. */
  minimum?: number;
  /** The most that each period costs. */
  maximum?: number;
  /** The meter's key. */
  meterKey: string;
  tiers: Array<PriceTier>;
};

export type GrantVoid = {
  /** Kept in the audit log. */
  reason?: string;
};

export type GrantedReservation = {
  id: string;
  customerId: string;
  featureKey: string;
  meterId: string;
  amount: number;
  status: "held" | "committed" | "released" | "expired";
  onExpiry: "release" | "commit";
  properties?: Record<string, string | number | boolean>;
  createdAt: string;
  expiresAt: string;
  /** When it was committed or released, or expired. */
  endedAt?: string;
  /** What was committed. */
  value?: number;
  /** The usage event of its commit. */
  eventId?: string;
  /** It had expired, and been released, when it was committed. */
  late?: boolean;
  decision: EntitlementDecision;
};

export type GraphqlRequest = {
  /** The document. There are queries only: changes are made with the REST API. */
  query: string;
  /** Of the operation to execute, if the document has several. */
  operationName?: string;
  variables?: Record<string, unknown>;
};

export type GraphqlResponse = {
  /** What was asked for. A field that has an error is null. */
  data?: Record<string, unknown> | null;
  /** Left out when there are none. */
  errors?: Array<{
    message: string;
    path?: Array<string | number>;
    locations?: Array<{
      line: number;
      column: number;
    }>;
    extensions: {
      /** One of the error codes of this API. */
      code: string;
      param?: string;
      details?: Record<string, unknown>;
    };
  }>;
};

export type Health = {
  status: "alive";
};

export type LogsExport = {
  resourceLogs: Array<Record<string, unknown>>;
};

export type LogsExported = {
  partialSuccess?: {
    rejectedLogRecords: string;
    errorMessage: string;
  };
};

export type Meter = {
  id: string;
  key: string;
  name: string;
  aggregation: "sum" | "count" | "max" | "latest" | "unique";
  /** The event property whose distinct values a `unique` meter counts. */
  property?: string;
  /** What an amount is of. It is shown behind amounts as it is: `calls` rather than `call`. */
  unit?: string;
  /** Credits per unit. Only for `sum` and `count` meters. */
  creditRate?: number;
  creditRates?: CreditRates;
  /** The events sent to `POST /events` that the meter counts. Left out: none. */
  eventSource?: {
    /** The `type` of the CloudEvents that the meter counts, or the name of the event of a log. */
    eventType: string;
    /** Where the value is in the data of an event: a number, or a text that is one. A member of the data by its name (`tokens`), or a path of names and indexes (`$.usage.tokens[0]`). Left out: each event counts 1. Of a `unique` meter: what is counted, if its data has no member of the name of `property`. */
    valueProperty?: string;
    /** Accepted values by path. An event counts if each path has one of its values; numbers and booleans are compared by their text. */
    filters?: Record<string, Array<string>>;
    /** Properties of the usage event, each with the path of its value in the data. */
    groupBy?: Record<string, string>;
  };
  source: "api" | "auto";
  status: "active" | "archived";
  createdAt: string;
  updatedAt: string;
};

export type MeterPage = {
  data: Array<Meter>;
  total: number;
  page: number;
  pageSize: number;
  totalPages: number;
  hasNext: boolean;
  hasPrev: boolean;
};

export type MeterPatch = {
  key?: string;
  name?: string;
  aggregation?: "sum" | "count" | "max" | "latest" | "unique";
  property?: string;
  unit?: string | null;
  creditRate?: number | null;
  creditRates?: CreditRates | null;
  eventSource?: EventSource | null;
};

export type MeterUsageBucket = {
  from: string;
  to: string;
  total: number;
  /** Events. */
  count: number;
  quantiles?: ValueQuantiles;
};

export type MeterUsageEntry = {
  from: string;
  to: string;
  /** A value for each name of `groupBy`. */
  group: Record<string, string>;
  total: number;
  /** Events. */
  count: number;
  quantiles?: ValueQuantiles;
};

export type MeterUsageReport = {
  /** The meter's key. */
  meterId: string;
  aggregation: "sum" | "count" | "max" | "latest" | "unique";
  from: string;
  to: string;
  granularity?: "hour" | "day" | "week" | "month";
  timezone: string;
  groupBy: Array<string>;
  /** What was read. A `rollup` has sums by hour, and by the values of each property: it is read as fast, however many events there are. Of properties with more than 10,000 values in a month, or whose values hardly repeat within an hour of a customer, and for what a rollup does not have (several filters, quantiles), the `events` are read. The numbers are the same. */
  source: "rollup" | "events";
  total: number;
  /** Events. */
  count: number;
  quantiles?: ValueQuantiles;
  /** All groups with usage, also those beyond `limit`. */
  groups: number;
  data: Array<MeterUsageEntry>;
  /** The groups beyond `limit`, combined. */
  other?: {
    groups: number;
    total: number;
    /** Events. */
    count: number;
    quantiles?: ValueQuantiles;
    data: Array<MeterUsageBucket>;
  };
  unit?: string;
  asOf: string;
};

export type NewAddon = {
  key: string;
  name: string;
  /** Prices of the payment processor. A price that belongs to another object is 409 `already_exists`. */
  processorPriceIds?: Array<string>;
};

export type NewApiKey = {
  kind: "secret" | "publishable";
  /** The scopes of a secret key, at least one; `*` grants all of them. A publishable key has none. */
  scopes?: Array<
    | "plans:read"
    | "plans:write"
    | "customers:view"
    | "customers:create"
    | "subscriptions:write"
    | "entitlements:read"
    | "usage:write"
    | "usage:read"
    | "usage:correct"
    | "webhooks:read"
    | "webhooks:write"
    | "integrations:manage"
    | "keys:manage"
    | "*">;
  name?: string;
  /** When the key expires. Must be in the future. Default: never. */
  expiresAt?: string;
};

export type NewBudget = {
  /** Usage within one billing period. When it is reached, `usage.threshold` is sent, once per period. */
  soft?: number;
  /** Usage within one billing period. When it is reached, `usage.threshold` is sent, once per period. */
  hard?: number;
};

export type NewCreditGrant = {
  amount: number;
  reason: string;
  /** When the rest of the grant expires. Must be in the future. Default: never. */
  expiresAt?: string;
  /** Grants with a lower priority are burned first; of equal ones the first to expire, then the oldest. */
  priority?: number;
};

export type NewCustomer = {
  name: string;
  email: string;
  /** Your own id of the customer. Every operation accepts it in place of the customer's id. It cannot be changed. */
  externalId?: string;
  /** The payment processor's id of the customer. The customer's subscriptions there are created here too. */
  processorCustomerId?: string;
  metadata?: Record<string, string | number | boolean>;
};

export type NewCustomerToken = {
  /** The customer's id or your own `externalId`. */
  customerId: string;
  /** Seconds until the token expires. Default: one hour. Maximum: one day. */
  expiresInSeconds?: number;
};

export type NewFeature = {
  key: string;
  name: string;
  /** `boolean`: the customer has it or not. `limit`: a number, such as seats. `metered`: a limit on the usage of a meter. */
  type: "boolean" | "limit" | "metered";
  /** The key or id of the meter that counts the usage of the feature. */
  meterKey?: string;
};

export type NewMeter = {
  key: string;
  name: string;
  aggregation: "sum" | "count" | "max" | "latest" | "unique";
  /** The event property whose distinct values a `unique` meter counts. */
  property?: string;
  /** What an amount is of. It is shown behind amounts as it is: `calls` rather than `call`. */
  unit?: string;
  /** Credits per unit. Only for `sum` and `count` meters. */
  creditRate?: number;
  creditRates?: CreditRates;
  /** The events sent to `POST /events` that the meter counts. Left out: none. */
  eventSource?: {
    /** The `type` of the CloudEvents that the meter counts, or the name of the event of a log. */
    eventType: string;
    /** Where the value is in the data of an event: a number, or a text that is one. A member of the data by its name (`tokens`), or a path of names and indexes (`$.usage.tokens[0]`). Left out: each event counts 1. Of a `unique` meter: what is counted, if its data has no member of the name of `property`. */
    valueProperty?: string;
    /** Accepted values by path. An event counts if each path has one of its values; numbers and booleans are compared by their text. */
    filters?: Record<string, Array<string>>;
    /** Properties of the usage event, each with the path of its value in the data. */
    groupBy?: Record<string, string>;
  };
};

export type NewOverride = {
  /** Boolean features: true or false. Limit and metered features: a number of at least 0, or null for unlimited. */
  value: boolean | number | null;
  /** Metered features: when usage begins to count from 0 again. `day`, `week` and `month` are counted from the billing anchor and end with the billing period at the latest; `never` counts from the start of the subscription. Default: what the other values of the feature say that the customer has, else `billing_period`; where they differ the longest applies to their sum. */
  resets?: "day" | "week" | "month" | "billing_period" | "never";
  /** When the override ends; subscriptions then determine the value again. Default: never. */
  expiresAt?: string;
  /** A text for people. */
  reason?: string;
};

export type NewPlan = {
  /** An unknown product is created, with its id as its name. */
  productId: string;
  name: string;
  description?: string;
  /** The place of the plan on a pricing page. */
  position?: number;
  /** Sentences that a pricing page shows under the price. */
  highlights?: Array<string>;
  /** The text of the button on a pricing page. */
  callToAction?: string;
  /** Prices of the payment processor. A price that belongs to another object is 409 `already_exists`. */
  processorPriceIds?: Array<string>;
};

export type NewProduct = {
  /** Your own id of the product. Default: a generated id. */
  id?: string;
  name: string;
};

export type NewReservation = {
  /** The customer's id or your own `externalId`. */
  customerId: string;
  /** The key or id of a metered feature. Or send `meterId`. */
  featureKey?: string;
  /** The key or id of a meter that exactly one feature of the customer counts. */
  meterId?: string;
  /** How much is to be held, above 0. */
  amount: number;
  /** Default: 300. */
  expiresInSeconds?: number;
  /** What becomes of it when it expires: `release` (the default), or `commit`, which counts all of it. */
  onExpiry?: "release" | "commit";
  /** Also those of its usage event, unless a commit has others. */
  properties?: Record<string, string | number | boolean>;
};

export type NewSimulation = {
  /** Simulates this plan in its current version, by the plan's id or key. Or send `prices`. */
  planId?: string;
  /** Simulates these prices of the plan. */
  prices?: Array<Price>;
  /** The customers' ids or your own `externalId`s. Or send `all`. */
  customerIds?: Array<string>;
  /** Every customer that has or had a subscription. */
  all?: true;
  from: string;
  to: string;
};

export type NewSubscription = {
  /** The customer's id or your own `externalId`. */
  customerId: string;
  /** The plan's id or key. The plan must not be archived. */
  planId: string;
  /** Default: `trialing` when `trialEnd` is in the future, otherwise `active`. */
  status?: "incomplete" | "trialing" | "active" | "past_due" | "paused";
  /** Default: now. The period includes `currentPeriodStart` and excludes `currentPeriodEnd`. The subscription entitles from its start on, which may be in the future. */
  currentPeriodStart?: string;
  /** Default: `trialEnd` for a trialing subscription, otherwise the next period boundary after the start. */
  currentPeriodEnd?: string;
  /** Default: `month`. Together with `intervalCount` the length of a billing period. The first period and a changed period can have another length. */
  interval?: "day" | "week" | "month" | "year";
  /** Default: 1. At most 366 for `day`, 52 for `week`, 36 for `month`, 10 for `year`. */
  intervalCount?: number;
  /** Periods begin at this time and at every multiple of the period length before and after it. In a month without that day a period begins on the last day of the month. Default: the start of the first period if its length is `interval` × `intervalCount`, otherwise its end. */
  billingAnchor?: string;
  /** When the subscription is canceled automatically; within 10 s if that time is in the past. */
  cancelAt?: string;
  /** When a trialing subscription becomes active automatically. */
  trialEnd?: string;
  /** The payment processor's id of the subscription. The processor's events then determine its periods. */
  processorSubscriptionId?: string;
  /** Pins the subscription to this version of the plan. Without a version, changes of the plan apply to the subscription at once. */
  planVersion?: number;
  addons?: Array<{
    addonId: string;
    quantity: number;
  }>;
  metadata?: Record<string, string | number | boolean>;
};

export type NewUsageCorrection = {
  select: UsageSelection;
  action: "void";
  /** Counts what it would void, and changes nothing. */
  dryRun?: boolean;
  /** Kept with the correction and in the audit log. */
  reason?: string;
};

export type NewUsageEvent = {
  /** The customer's id or your own `externalId`. */
  customerId: string;
  /** The meter's key. An unknown key creates a `sum` meter, unless the workspace has `strictMeters`. */
  meterId: string;
  /** At most 15 integer digits. Rounded half to even to 12 fraction digits before it is stored; with `Prefer: handling=strict` a value with more fraction digits is rejected. */
  value: number;
  /** RFC 3339 with any offset. Seconds can be left out, a space can replace the T, and +0000 is accepted. Default: now. */
  occurredAt?: string;
  properties?: Record<string, string | number | boolean>;
  /** Alternative to the `Idempotency-Key` header. Required for a key with characters other than visible ASCII. */
  idempotencyKey?: string;
};

export type NewWebhookEndpoint = {
  /** An https URL without credentials. The host name is resolved for each delivery. */
  url: string;
  /** The event types to deliver; `*` is all types, including those of later releases. */
  events: Array<
    | "customer.created"
    | "customer.updated"
    | "subscription.created"
    | "subscription.updated"
    | "subscription.canceled"
    | "plan.created"
    | "plan.updated"
    | "plan.published"
    | "plan.archived"
    | "feature.updated"
    | "feature.deleted"
    | "usage.threshold"
    | "usage.corrected"
    | "credit.granted"
    | "credit.depleted"
    | "entitlement.changed"
    | "*">;
};

export type OfferedEntitlement = {
  featureKey: string;
  featureName: string;
  type: "boolean" | "limit" | "metered";
  /** Boolean features: true or false. Limit and metered features: a number of at least 0, or null for unlimited. */
  value: boolean | number | null;
  soft: boolean;
  /** Metered features: when usage begins to count from 0 again. `day`, `week` and `month` are counted from the billing anchor and end with the billing period at the latest; `never` counts from the start of the subscription. Default: what the other values of the feature say that the customer has, else `billing_period`; where they differ the longest applies to their sum. */
  resets?: "day" | "week" | "month" | "billing_period" | "never";
  /** Of the meter of a metered feature. */
  unit?: string;
};

export type OfferedPlan = {
  id: string;
  key: string;
  name: string;
  description?: string;
  /** The place of the plan on a pricing page. */
  position?: number;
  /** Sentences that a pricing page shows under the price. */
  highlights?: Array<string>;
  /** The text of the button on a pricing page. */
  callToAction?: string;
  prices: Array<Price>;
  entitlements: Array<OfferedEntitlement>;
  /** With a customer token: what choosing the plan would be. `active`: a subscription of the customer has it. `scheduled`: one changes to it or begins with it later. Otherwise it is compared with the plans that the customer has of the same product: `new` without one, `upgrade` above all of them, `downgrade` for the rest. A plan is above another that costs less without any usage; at the same cost, or without one in a common currency, the plan that comes later on the page is above. */
  scenario?: "new" | "upgrade" | "downgrade" | "active" | "scheduled";
};

export type OpenApiDescription = {
  openapi: string;
};

export type Override = {
  id: string;
  customerId: string;
  featureKey: string;
  type: "boolean" | "limit" | "metered";
  /** Boolean features: true or false. Limit and metered features: a number of at least 0, or null for unlimited. */
  value: boolean | number | null;
  /** Metered features: when usage begins to count from 0 again. `day`, `week` and `month` are counted from the billing anchor and end with the billing period at the latest; `never` counts from the start of the subscription. Default: what the other values of the feature say that the customer has, else `billing_period`; where they differ the longest applies to their sum. */
  resets?: "day" | "week" | "month" | "billing_period" | "never";
  /** When the override ends; subscriptions then determine the value again. Default: never. */
  expiresAt?: string;
  /** A text for people. */
  reason?: string;
  createdAt: string;
  updatedAt: string;
};

export type OverridePage = {
  data: Array<Override>;
  total: number;
  page: number;
  pageSize: number;
  totalPages: number;
  hasNext: boolean;
  hasPrev: boolean;
};

/** Whole packages; a begun one is charged. */
export type PackagePrice = {
  model: "package";
  /** Your name for it. Prices with the same key are one price in several currencies and intervals. */
  key: string;
  /** A currency in use, by its code of ISO 4217. Amounts are in it, not in its minor unit. */
  currency: string;
  /** Together with `intervalCount` the period of the price. Periods begin at the billing anchor of the subscription. Of the prices with one key a subscription pays the one with its own interval, else the one with the shortest. */
  interval: "day" | "week" | "month" | "year";
  /** Default: 1. */
  intervalCount?: number;
  description?: string;
  /** The least that each period costs. */
  minimum?: number;
  /** The most that each period costs. */
  maximum?: number;
  /** The meter's key. */
  meterKey: string;
  /** Units in a package. */
  size: number;
  amount: number;
  /** Units of each period that cost nothing. */
  included?: number;
};

export type PassedLimit = {
  featureKey: string;
  limit: number;
  soft: boolean;
  used: number;
  from: string;
  to: string;
};

/** Each unit costs the same. */
export type PerUnitPrice = {
  model: "per_unit";
  /** Your name for it. Prices with the same key are one price in several currencies and intervals. */
  key: string;
  /** A currency in use, by its code of ISO 4217. Amounts are in it, not in its minor unit. */
  currency: string;
  /** Together with `intervalCount` the period of the price. Periods begin at the billing anchor of the subscription. Of the prices with one key a subscription pays the one with its own interval, else the one with the shortest. */
  interval: "day" | "week" | "month" | "year";
  /** Default: 1. */
  intervalCount?: number;
  description?: string;
  /** The least that each period costs. */
  minimum?: number;
  /** The most that each period costs. */
  maximum?: number;
  /** The meter's key. */
  meterKey: string;
  unitAmount: number;
  /** Amounts by the value of one property of the events; `unitAmount` is for all other values. Only for `sum` and `count` meters. What is included are the dearest units. */
  unitAmounts?: {
    property: string;
    amounts: Record<string, number>;
  };
  /** Units of each period that cost nothing. */
  included?: number;
};

/** A share of the metered value, which is money. Only for `sum` meters. A correction gives back its share. */
export type PercentagePrice = {
  model: "percentage";
  /** Your name for it. Prices with the same key are one price in several currencies and intervals. */
  key: string;
  /** A currency in use, by its code of ISO 4217. Amounts are in it, not in its minor unit. */
  currency: string;
  /** Together with `intervalCount` the period of the price. Periods begin at the billing anchor of the subscription. Of the prices with one key a subscription pays the one with its own interval, else the one with the shortest. */
  interval: "day" | "week" | "month" | "year";
  /** Default: 1. */
  intervalCount?: number;
  description?: string;
  /** The least that each period costs. */
  minimum?: number;
  /** The most that each period costs. */
  maximum?: number;
  /** The meter's key. */
  meterKey: string;
  /** Of 1: 0.029 is 2.9 %. */
  rate: number;
  /** Added for each event. */
  fixed?: number;
  /** The least that one event costs. */
  min?: number;
  /** The most that one event costs. */
  max?: number;
};

export type Plan = {
  id: string;
  /** Made from the first name of the plan. It does not change with the name. */
  key: string;
  name: string;
  status: "draft" | "published" | "archived";
  productId: string;
  description?: string;
  /** The place of the plan on a pricing page. */
  position?: number;
  /** Sentences that a pricing page shows under the price. */
  highlights?: Array<string>;
  /** The text of the button on a pricing page. */
  callToAction?: string;
  version: number;
  /** Prices of the payment processor. A subscription with one of these prices is on this plan. */
  processorPriceIds?: Array<string>;
  createdAt: string;
  updatedAt: string;
};

/** A plan was archived. */
export type PlanArchivedEvent = {
  /** The same for every attempt and every replay. */
  id: string;
  type: "plan.archived";
  workspace_id: string;
  created_at: string;
  data: {
    /** The plan's id. */
    planId: string;
    /** The plan's status after the change. */
    status: "draft" | "published" | "archived";
    /** The current version of the plan. */
    version: number;
  };
};

/** A draft of a plan was created. */
export type PlanCreatedEvent = {
  /** The same for every attempt and every replay. */
  id: string;
  type: "plan.created";
  workspace_id: string;
  created_at: string;
  data: {
    /** The plan's id. */
    planId: string;
    /** The plan's status after the change. */
    status: "draft" | "published" | "archived";
    /** The current version of the plan. */
    version: number;
  };
};

export type PlanCreditGrants = {
  planId: string;
  version: number;
  creditGrants: Array<RecurringGrant>;
};

export type PlanEntitlements = {
  planId: string;
  version: number;
  entitlements: GivenEntitlements;
};

export type PlanPage = {
  data: Array<Plan>;
  total: number;
  page: number;
  pageSize: number;
  totalPages: number;
  hasNext: boolean;
  hasPrev: boolean;
};

export type PlanPatch = {
  /** An unknown product is created, with its id as its name. */
  productId?: string;
  name?: string;
  /** null removes the description. */
  description?: string | null;
  position?: number | null;
  /** Sentences that a pricing page shows under the price. */
  highlights?: Array<string>;
  callToAction?: string | null;
  /** Prices of the payment processor. A price that belongs to another object is 409 `already_exists`. */
  processorPriceIds?: Array<string>;
};

export type PlanPrices = {
  planId: string;
  version: number;
  prices: Array<Price>;
};

/** A plan was published. */
export type PlanPublishedEvent = {
  /** The same for every attempt and every replay. */
  id: string;
  type: "plan.published";
  workspace_id: string;
  created_at: string;
  data: {
    /** The plan's id. */
    planId: string;
    /** The plan's status after the change. */
    status: "draft" | "published" | "archived";
    /** The current version of the plan. */
    version: number;
  };
};

/** A plan was changed in place, or has a new version. */
export type PlanUpdatedEvent = {
  /** The same for every attempt and every replay. */
  id: string;
  type: "plan.updated";
  workspace_id: string;
  created_at: string;
  data: {
    /** The plan's id. */
    planId: string;
    /** The version that contains the change. */
    version: number;
  };
};

export type Price = 
  | FlatPrice
  | PerUnitPrice
  | GraduatedPrice
  | VolumePrice
  | PackagePrice
  | PercentagePrice
  | SeatPrice;

export type PriceSet = {
  prices: Array<Price>;
};

export type PriceTier = {
  /** The tier includes it. Ascending; null in the last tier. */
  upTo: number | null;
  unitAmount: number;
  /** Charged once, as soon as the tier is reached. Every period reaches the first one. */
  flatAmount?: number;
};

export type Pricing = {
  /** By `position`, those without one last, oldest first. */
  plans: Array<OfferedPlan>;
};

export type ProcessorAction = {
  action: "connect" | "disconnect" | "set_webhook_secret";
  /** The processor's API key. Required by `connect`. */
  apiKey?: string;
  /** The signing secret of the processor's webhook endpoint. Required by `set_webhook_secret`, optional for `connect`. */
  secret?: string;
};

export type ProcessorActionResult = {
  ok: boolean;
};

export type ProcessorConnection = {
  connected: boolean;
  keyLast4?: string;
  webhookSecretSet: boolean;
};

export type ProcessorEvent = {
  /** The processor's id of the event. */
  id: string;
  type?: string;
  /** `applied`: the subscription was changed. `ignored`: the event changed nothing. `unmatched`: the event waits for up to 35 days, and is applied when its subscription is linked or its prices are mapped. */
  status: "applied" | "ignored" | "unmatched";
  /** Why the event waits, was ignored, or was applied without its items. `older`: it is older than an applied event or than a change through this API. `given_up`: more than 20 newer events of its subscription wait, or more than 10,000 events (32 MiB) of the environment. */
  reasons: Array<
    | "older"
    | "given_up"
    | "subscription_not_linked"
    | "customer_not_known"
    | "customer_archived"
    | "too_many_subscriptions"
    | "price_not_mapped"
    | "several_plans"
    | "plan_archived"
    | "quantity_out_of_range"
    | "too_many_addons">;
  processorSubscriptionId?: string;
  /** The subscription that is linked to `processorSubscriptionId`. */
  subscriptionId?: string;
  /** Only while the event waits. */
  processorCustomerId?: string;
  /** The `metadata.customerId` of the event, only while it waits. */
  customerName?: string;
  /** The subscription items of the event, only while it waits. */
  items?: Array<{
    priceId: string;
    quantity: number;
  }>;
  /** Prices of the event that no plan or add-on has. */
  missingPriceIds: Array<string>;
  occurredAt?: string;
  receivedAt: string;
};

export type ProcessorEventPage = {
  data: Array<ProcessorEvent>;
  total: number;
  page: number;
  pageSize: number;
  totalPages: number;
  hasNext: boolean;
  hasPrev: boolean;
};

export type Product = {
  id: string;
  name: string;
  createdAt: string;
};

export type ProductPage = {
  data: Array<Product>;
  total: number;
  page: number;
  pageSize: number;
  totalPages: number;
  hasNext: boolean;
  hasPrev: boolean;
};

export type Readiness = {
  status: "ready" | "not_ready";
  /** The release of Metergate that responds. Left out as `checks` are. */
  version?: string;
  /** The result of each check. Left out when `METRICS_PORT` or `METRICS_TOKEN` is set and the caller may not see it. */
  checks?: Record<string, {
    ok: boolean;
    detail: string;
  }>;
  /** On the public port: `ok`, or the blockers that keep the data plane from accepting usage, by name. */
  dataPlane?: "ok" | Record<string, string>;
};

export type RecurringGrant = {
  /** Your name for it, once in a plan. A subscription gets each key once per period; plans whose grants replace each other use the same key. */
  key?: string;
  amount: number;
  /** `period`: at the start of each billing period. `month`: each month from the billing anchor on, also within a longer period. */
  every: "period" | "month";
  /** Grants with a lower priority are burned first; of equal ones the first to expire, then the oldest. */
  priority?: number;
  /** Whether what is left expires at the end of its period, or of its month. */
  expires: "period_end" | "never";
  rollover?: Rollover;
};

export type RecurringGrantSet = {
  creditGrants: Array<RecurringGrant>;
};

export type Reservation = {
  id: string;
  customerId: string;
  featureKey: string;
  meterId: string;
  amount: number;
  status: "held" | "committed" | "released" | "expired";
  onExpiry: "release" | "commit";
  properties?: Record<string, string | number | boolean>;
  createdAt: string;
  expiresAt: string;
  /** When it was committed or released, or expired. */
  endedAt?: string;
  /** What was committed. */
  value?: number;
  /** The usage event of its commit. */
  eventId?: string;
  /** It had expired, and been released, when it was committed. */
  late?: boolean;
};

export type ReservationCommit = {
  /** What was used. Default: the amount that is held. It may be less or more, and all of it is counted. */
  value?: number;
  /** Default: now. */
  occurredAt?: string;
  /** Default: those of the reservation. */
  properties?: Record<string, string | number | boolean>;
};

export type ReservationPage = {
  data: Array<Reservation>;
  total: number;
  page: number;
  pageSize: number;
  totalPages: number;
  hasNext: boolean;
  hasPrev: boolean;
};

export type ReservationPatch = {
  /** Of the whole reservation. More is decided again. */
  amount?: number;
  /** From now on. Left out: it expires as before. */
  expiresInSeconds?: number;
};

/** What goes on to the next period instead of expiring: a share of all that is left of the key when the period ends. Only for `period_end`. */
export type Rollover = {
  /** The share of what is left. */
  percent: number;
  /** The most that goes on, what was rolled over before included. Default: no limit. */
  max?: number;
};

export type RotatedWebhookEndpoint = {
  id: string;
  url: string;
  events: Array<string>;
  /** `disabled`: nothing is sent; deliveries are recorded as `held`. */
  status: "enabled" | "disabled";
  /** `gone`: the endpoint responded with 410. `failing`: all attempts of 5 days failed. */
  disabledReason?: "gone" | "failing";
  createdAt: string;
  /** The signing secret of deliveries. It is returned only once. */
  secret: string;
  previousSecretUntil?: string;
};

/** Each seat that the customer has. */
export type SeatPrice = {
  model: "seat";
  /** Your name for it. Prices with the same key are one price in several currencies and intervals. */
  key: string;
  /** A currency in use, by its code of ISO 4217. Amounts are in it, not in its minor unit. */
  currency: string;
  /** Together with `intervalCount` the period of the price. Periods begin at the billing anchor of the subscription. Of the prices with one key a subscription pays the one with its own interval, else the one with the shortest. */
  interval: "day" | "week" | "month" | "year";
  /** Default: 1. */
  intervalCount?: number;
  description?: string;
  /** The least that each period costs. */
  minimum?: number;
  /** The most that each period costs. */
  maximum?: number;
  /** The key of a limit or metered feature. Its value is the number of seats. */
  featureKey: string;
  unitAmount: number;
};

export type SignedProcessorEvent = {
  id: string;
  type: string;
  /** Unix seconds. */
  created: number;
  /** Must agree with the mode in the path. */
  livemode?: boolean;
  data: {
    object: Record<string, unknown>;
  };
};

export type SignedProcessorEventReceipt = {
  received: boolean;
};

export type SimulatedCustomer = {
  customerId: string;
  totals: Array<SimulatedTotal>;
  /** The window with the most usage, for each limit that is passed. */
  passedLimits: Array<PassedLimit>;
};

export type SimulatedTotal = {
  currency: string;
  current: number;
  simulated: number;
  difference: number;
};

export type Simulation = {
  id: string;
  status: "pending" | "running" | "completed" | "failed";
  planId?: string;
  from: string;
  to: string;
  progress: {
    customers: number;
    done: number;
  };
  /** Once it is completed. */
  totals?: Array<SimulationTotal>;
  asOf?: string;
  createdAt: string;
  finishedAt?: string;
  expiresAt: string;
};

export type SimulationResult = {
  id: string;
  status: "pending" | "running" | "completed" | "failed";
  planId?: string;
  from: string;
  to: string;
  progress: {
    customers: number;
    done: number;
  };
  /** Once it is completed. */
  totals?: Array<SimulationTotal>;
  asOf?: string;
  createdAt: string;
  finishedAt?: string;
  expiresAt: string;
  /** Those that are done, largest difference first. */
  customers: {
    data: Array<SimulatedCustomer>;
    total: number;
    page: number;
    pageSize: number;
    totalPages: number;
    hasNext: boolean;
    hasPrev: boolean;
  };
};

export type SimulationTotal = {
  currency: string;
  current: number;
  simulated: number;
  difference: number;
  /** That pay or would pay in this currency. */
  customers: number;
  /** The difference that this share of the customers does not exceed. */
  quantiles: Array<{
    share: number;
    difference: number;
  }>;
};

export type Subscription = {
  id: string;
  customerId: string;
  planId: string;
  planName: string;
  status: 
    | "incomplete"
    | "incomplete_expired"
    | "trialing"
    | "active"
    | "past_due"
    | "unpaid"
    | "paused"
    | "canceled";
  currentPeriodStart: string;
  currentPeriodEnd: string;
  /** Together with `intervalCount` the length of a billing period. The first period and a changed period can have another length. Left out when a subscription of an earlier release has periods that are not a whole number of days. */
  interval?: "day" | "week" | "month" | "year";
  /** Left out when a subscription of an earlier release has periods that are not a whole number of days. */
  intervalCount?: number;
  /** Periods begin at this time and at every multiple of the period length before and after it. In a month without that day a period begins on the last day of the month. */
  billingAnchor: string;
  /** When the subscription is canceled automatically; within 10 s if that time is in the past. */
  cancelAt?: string;
  /** When the subscription reached the status `canceled`. */
  canceledAt?: string;
  /** When a trialing subscription becomes active automatically. */
  trialEnd?: string;
  processorSubscriptionId?: string;
  /** Pins the subscription to this version of the plan. Without a version, changes of the plan apply to the subscription at once. */
  planVersion?: number;
  /** The plan that the subscription changes to at the end of its period. */
  pendingPlanId?: string;
  addons: Array<{
    addonId: string;
    quantity: number;
  }>;
  metadata?: Record<string, string | number | boolean>;
  createdAt: string;
};

/** A subscription reached the status `canceled`. */
export type SubscriptionCanceledEvent = {
  /** The same for every attempt and every replay. */
  id: string;
  type: "subscription.canceled";
  workspace_id: string;
  created_at: string;
  data: {
    /** The subscription's id. */
    subscriptionId: string;
    /** When the subscription ended. */
    canceledAt: string;
  };
};

export type SubscriptionCancellation = {
  /** `now` cancels at once. `period_end` sets `cancelAt` to the end of the current period or trial; when that end is changed, `cancelAt` changes with it. */
  at?: "now" | "period_end";
};

export type SubscriptionCost = {
  subscriptionId: string;
  customerId: string;
  from: string;
  to: string;
  /** The sum of the lines of each currency. */
  totals: Array<CostTotal>;
  lines: Array<CostLine>;
  asOf: string;
};

/** A subscription was created. */
export type SubscriptionCreatedEvent = {
  /** The same for every attempt and every replay. */
  id: string;
  type: "subscription.created";
  workspace_id: string;
  created_at: string;
  data: {
    /** The customer's id. */
    customerId: string;
    /** The subscription's id. */
    subscriptionId: string;
    /** The plan's id. */
    planId: string;
  };
};

export type SubscriptionPage = {
  data: Array<Subscription>;
  total: number;
  page: number;
  pageSize: number;
  totalPages: number;
  hasNext: boolean;
  hasPrev: boolean;
};

export type SubscriptionPatch = {
  status?: 
    | "incomplete"
    | "incomplete_expired"
    | "trialing"
    | "active"
    | "past_due"
    | "unpaid"
    | "paused"
    | "canceled";
  /** A new plan removes `planVersion`, unless the request contains it, and any pending plan change. null with `at: period_end` removes the pending plan change. */
  planId?: string | null;
  /** When a new `planId` takes effect: now, or at the end of the current period. Until then it is shown as `pendingPlanId`, and it takes effect even if the plan is archived in the meantime. The period of a subscription with a processor ends when the processor reports the next one. */
  at?: "now" | "period_end";
  /** null removes the pending plan change. To set one, use `planId` and `at`. */
  pendingPlanId?: null;
  /** Pins the subscription to this version of the plan. Without a version, changes of the plan apply to the subscription at once. null removes the pin. */
  planVersion?: number | null;
  /** The period includes `currentPeriodStart` and excludes `currentPeriodEnd`. With a start in the future, no usage counts until then, unless the period follows the current one. */
  currentPeriodStart?: string;
  /** The period includes `currentPeriodStart` and excludes `currentPeriodEnd`. The next period begins at this time and has the regular length. */
  currentPeriodEnd?: string;
  /** Together with `intervalCount` the length of a billing period. The first period and a changed period can have another length. A change applies from the next period on; `intervalCount` is then 1 unless it is given. */
  interval?: "day" | "week" | "month" | "year";
  /** At most 366 for `day`, 52 for `week`, 36 for `month`, 10 for `year`. */
  intervalCount?: number;
  /** When the subscription is canceled automatically; within 10 s if that time is in the past. null removes the cancellation. */
  cancelAt?: string | null;
  /** When a trialing subscription becomes active automatically. The period of a trial ends at the same time. null removes it. */
  trialEnd?: string | null;
  /** Can be set once. */
  processorSubscriptionId?: string;
  metadata?: Record<string, string | number | boolean>;
};

/** The status, plan, add-ons or dates of a subscription changed. */
export type SubscriptionUpdatedEvent = {
  /** The same for every attempt and every replay. */
  id: string;
  type: "subscription.updated";
  workspace_id: string;
  created_at: string;
  data: {
    /** The subscription's id. */
    subscriptionId: string;
    /** The subscription's status after the change. */
    status: 
      | "incomplete"
      | "incomplete_expired"
      | "trialing"
      | "active"
      | "past_due"
      | "unpaid"
      | "paused"
      | "canceled";
    /** The plan's id. */
    planId: string;
  };
};

export type UsageBreakdownReport = {
  customerId: string;
  /** The meter's key. */
  meterId: string;
  dimension: string;
  window: "current_period" | "day" | "week" | "month" | "all" | "custom";
  from?: string;
  to?: string;
  timezone?: string;
  /** What was read. A `rollup` has sums by hour, and by the values of each property: it is read as fast, however many events there are. Of properties with more than 10,000 values in a month, or whose values hardly repeat within an hour of a customer, and for what a rollup does not have (several filters, quantiles), the `events` are read. The numbers are the same. */
  source: "rollup" | "events";
  total: number;
  totalCreditCost: number;
  quantiles?: ValueQuantiles;
  breakdown: Array<{
    value: string;
    total: number;
    count: number;
    creditCost: number;
    quantiles?: ValueQuantiles;
  }>;
  /** The entries beyond `limit`, combined. */
  other?: {
    total: number;
    count: number;
    creditCost: number;
    quantiles?: ValueQuantiles;
  };
  unit?: string;
  asOf: string;
};

/** Usage that was counted was corrected. */
export type UsageCorrectedEvent = {
  /** The same for every attempt and every replay. */
  id: string;
  type: "usage.corrected";
  workspace_id: string;
  created_at: string;
  data: {
    /** The id of the correction. */
    correctionId: string;
    /** `void`: one event was voided. `amendment`: one event was replaced by another one. `selection`: many were voided at once. */
    kind: "void" | "amendment" | "selection";
    /** How many events were voided. */
    voided: number;
    /** The customer of the voided event, or the one that was selected. */
    customerId?: string;
    /** The key of the meter of the voided event, or of the selected one. */
    meterId?: string;
    /** Of one event: the voided one. */
    eventId?: string;
    /** Of an amendment: the event in its place. */
    newEventId?: string;
    /** The reason that was given. */
    reason?: string;
  };
};

export type UsageCorrection = {
  id: string;
  kind: "void" | "amendment" | "selection";
  /** `running`: nothing of it counts yet. `completed`: all of it counts, and has begun to at once. `reverted`: nothing of it counts. */
  status: "running" | "completed" | "reverted";
  /** How many events it takes away; while it runs, so far. */
  voided: number;
  select?: UsageSelection;
  /** Of a single event: the voided one. */
  eventId?: string;
  /** Of an amendment: the event in its place. */
  newEventId?: string;
  reason?: string;
  /** The key that asked for it. */
  createdBy: string;
  createdAt: string;
  completedAt?: string;
};

export type UsageCorrectionPage = {
  data: Array<UsageCorrection>;
  total: number;
  page: number;
  pageSize: number;
  totalPages: number;
  hasNext: boolean;
  hasPrev: boolean;
};

export type UsageCorrectionPreview = {
  status: "preview";
  events: number;
  /** By customer and meter, the most events first; 1000 at most. */
  customers: Array<{
    customerId: string;
    meterId: string;
    events: number;
    total: number;
  }>;
  /** There are more customers and meters than `customers` has. */
  more: boolean;
  asOf: string;
};

export type UsageCounter = {
  customerId: string;
  /** The meter's key. */
  meterId: string;
  current: number;
  /** The limit of the customer now; the largest one when several features use the meter. Left out when the customer has no such feature or is unlimited. */
  limit?: number;
  periodStart: string;
  periodEnd: string;
  unit?: string;
  asOf: string;
};

export type UsageCounterPage = {
  data: Array<UsageCounter>;
  total: number;
  page: number;
  pageSize: number;
  totalPages: number;
  hasNext: boolean;
  hasPrev: boolean;
};

export type UsageEvent = {
  id: string;
  customerId: string;
  /** The meter's key. */
  meterId: string;
  eventName: "usage.recorded";
  value: number;
  /** `voided`: it was taken away by a correction and counts no more. */
  status: "recorded" | "voided";
  occurredAt: string;
  createdAt: string;
  properties?: Record<string, string | number | boolean>;
  /** The voided event in whose place it counts. */
  supersedes?: string;
  /** Of a voided event: the event that counts in its place. */
  supersededBy?: string;
};

export type UsageEventAmendment = {
  /** What is left out stays as it is. */
  value?: number;
  occurredAt?: string;
  /** The customer's id or your own `externalId`. */
  customerId?: string;
  /** The meter's key or id. */
  meterId?: string;
  /** All of them: they replace those of the event. */
  properties?: Record<string, string | number | boolean>;
  /** Kept with the correction and in the audit log. */
  reason?: string;
};

export type UsageEventBatch = {
  events: Array<UsageEventBatchItem>;
};

export type UsageEventBatchItem = {
  /** The customer's id or your own `externalId`. */
  customerId: string;
  /** The meter's key. An unknown key creates a `sum` meter, unless the workspace has `strictMeters`. */
  meterId: string;
  /** At most 15 integer digits. Rounded half to even to 12 fraction digits before it is stored; with `Prefer: handling=strict` a value with more fraction digits is rejected. */
  value: number;
  /** RFC 3339 with any offset. Seconds can be left out, a space can replace the T, and +0000 is accepted. Default: now. */
  occurredAt?: string;
  properties?: Record<string, string | number | boolean>;
  idempotencyKey: string;
};

export type UsageEventBatchItemResult = {
  index: number;
  idempotencyKey: string;
  status: "created" | "duplicate" | "error";
  eventId?: string;
  event?: UsageEvent;
  error?: {
    code: string;
    message: string;
    param?: string;
  };
};

export type UsageEventBatchResult = {
  summary: {
    total: number;
    created: number;
    duplicate: number;
    errors: number;
  };
  results: Array<UsageEventBatchItemResult>;
};

export type UsageEventCorrection = {
  correctionId: string;
  voided: UsageEvent;
  /** Of an amendment. */
  event?: {
    id: string;
    customerId: string;
    /** The meter's key. */
    meterId: string;
    eventName: "usage.recorded";
    value: number;
    /** `voided`: it was taken away by a correction and counts no more. */
    status: "recorded" | "voided";
    occurredAt: string;
    createdAt: string;
    properties?: Record<string, string | number | boolean>;
    /** The voided event in whose place it counts. */
    supersedes?: string;
    /** Of a voided event: the event that counts in its place. */
    supersededBy?: string;
  };
};

/** One `UsageEventBatchItem` as JSON per line, at most 500 lines, separated by line feeds. Results are in the order of the lines. */
export type UsageEventLines = string;

export type UsageEventList = {
  data: Array<UsageEvent>;
  /** The cursor of the next page. Left out on the last page. */
  nextCursor?: string;
  asOf: string;
};

export type UsageEventVoid = {
  /** Kept with the correction and in the audit log. */
  reason?: string;
};

export type UsageLevel = {
  customerId: string;
  /** The meter's key. */
  meterId: string;
  /** Usage divided by the limit or by the budget, the larger of the two, with six fraction digits and rounded down. Of a limit of 0 it is 1. */
  share: number;
  current: number;
  limit?: number;
  /** The budget's hard threshold; the soft one without it. */
  budget?: number;
  unit?: string;
  periodStart: string;
  periodEnd: string;
  /** The last time that the level became another. */
  updatedAt: string;
};

export type UsageLevelList = {
  data: Array<UsageLevel>;
  /** The cursor of the next page. Left out on the last page. */
  nextCursor?: string;
};

export type UsageSelection = {
  /** The customer's id or `externalId`. */
  customerId?: string;
  /** The meter's key or id. */
  meterId?: string;
  from: string;
  to: string;
  /** The text that each property must have; empty: events without it. */
  properties?: Record<string, string>;
};

/** A customer's usage of a meter reached a threshold. */
export type UsageThresholdEvent = {
  /** The same for every attempt and every replay. */
  id: string;
  type: "usage.threshold";
  workspace_id: string;
  created_at: string;
  data: {
    /** The customer's id. */
    customerId: string;
    /** The meter's key. */
    meterId: string;
    /** The threshold that was reached. */
    thresholdValue: number;
    /** `soft`: the soft threshold of a budget, or 80 % of a limit. `hard`: the hard threshold of a budget, or the limit. */
    kind: "soft" | "hard";
    /** The usage of the period when the threshold was found reached. */
    currentUsage: number;
  };
};

export type ValueQuantiles = Array<{
  quantile: number;
  value: number;
}>;

/** All units of a period cost what the tier says that the last of them reaches. */
export type VolumePrice = {
  model: "volume";
  /** Your name for it. Prices with the same key are one price in several currencies and intervals. */
  key: string;
  /** A currency in use, by its code of ISO 4217. Amounts are in it, not in its minor unit. */
  currency: string;
  /** Together with `intervalCount` the period of the price. Periods begin at the billing anchor of the subscription. Of the prices with one key a subscription pays the one with its own interval, else the one with the shortest. */
  interval: "day" | "week" | "month" | "year";
  /** Default: 1. */
  intervalCount?: number;
  description?: string;
  /** The least that each period costs. */
  minimum?: number;
  /** The most that each period costs. */
  maximum?: number;
  /** The meter's key. */
  meterKey: string;
  tiers: Array<PriceTier>;
};

export type WebhookAttempt = {
  number: number;
  startedAt: string;
  durationMs: number;
  status?: number;
  errorCode?: 
    | "url_not_allowed"
    | "address_not_public"
    | "name_not_resolved"
    | "connect_failed"
    | "connect_timeout"
    | "tls_failed"
    | "timeout"
    | "connection_lost"
    | "response_invalid"
    | "response_too_large"
    | "status_not_2xx"
    | "internal";
  /** Request line and headers. The body is `requestBody`. */
  requestHead: string;
  /** Status line and headers, up to 4 KiB. */
  responseHead?: string;
  /** The first 4 KiB of the response body. Bytes that are not UTF-8, and U+0000, are shown as U+FFFD. */
  responseBody?: string;
};

export type WebhookDelivery = {
  id: string;
  endpointId: string;
  /** The id of the event, the same in every attempt and replay. */
  eventId: string;
  eventType: 
    | "customer.created"
    | "customer.updated"
    | "subscription.created"
    | "subscription.updated"
    | "subscription.canceled"
    | "plan.created"
    | "plan.updated"
    | "plan.published"
    | "plan.archived"
    | "feature.updated"
    | "feature.deleted"
    | "usage.threshold"
    | "usage.corrected"
    | "credit.granted"
    | "credit.depleted"
    | "entitlement.changed";
  /** `pending`: attempts follow. `succeeded`: an attempt got a 2xx response. `held`: the endpoint was disabled and no attempt is made. `failed`: ten attempts failed, or the endpoint was deleted. `held` and `failed` deliveries can be replayed while the endpoint is enabled. */
  status: "pending" | "succeeded" | "failed" | "held";
  attemptsMade: number;
  /** The HTTP status of the last response. */
  lastStatus?: number;
  lastError?: 
    | "url_not_allowed"
    | "address_not_public"
    | "name_not_resolved"
    | "connect_failed"
    | "connect_timeout"
    | "tls_failed"
    | "timeout"
    | "connection_lost"
    | "response_invalid"
    | "response_too_large"
    | "status_not_2xx"
    | "internal";
  lastAttemptAt?: string;
  /** The earliest time of the next attempt. An open circuit breaker delays it further. */
  nextAttemptAt?: string;
  /** Of a `failed` or `held` delivery: the one that a replay created for it. */
  replayedAs?: string;
  createdAt: string;
};

export type WebhookDeliveryList = {
  data: Array<WebhookDelivery>;
  /** The cursor of the next page. Left out on the last page. */
  nextCursor?: string;
};

export type WebhookDeliveryPage = {
  data: Array<WebhookDelivery>;
  total: number;
  page: number;
  pageSize: number;
  totalPages: number;
  hasNext: boolean;
  hasPrev: boolean;
};

export type WebhookDeliveryWithAttempts = {
  id: string;
  endpointId: string;
  /** The id of the event, the same in every attempt and replay. */
  eventId: string;
  eventType: 
    | "customer.created"
    | "customer.updated"
    | "subscription.created"
    | "subscription.updated"
    | "subscription.canceled"
    | "plan.created"
    | "plan.updated"
    | "plan.published"
    | "plan.archived"
    | "feature.updated"
    | "feature.deleted"
    | "usage.threshold"
    | "usage.corrected"
    | "credit.granted"
    | "credit.depleted"
    | "entitlement.changed";
  /** `pending`: attempts follow. `succeeded`: an attempt got a 2xx response. `held`: the endpoint was disabled and no attempt is made. `failed`: ten attempts failed, or the endpoint was deleted. `held` and `failed` deliveries can be replayed while the endpoint is enabled. */
  status: "pending" | "succeeded" | "failed" | "held";
  attemptsMade: number;
  /** The HTTP status of the last response. */
  lastStatus?: number;
  lastError?: 
    | "url_not_allowed"
    | "address_not_public"
    | "name_not_resolved"
    | "connect_failed"
    | "connect_timeout"
    | "tls_failed"
    | "timeout"
    | "connection_lost"
    | "response_invalid"
    | "response_too_large"
    | "status_not_2xx"
    | "internal";
  lastAttemptAt?: string;
  /** The earliest time of the next attempt. An open circuit breaker delays it further. */
  nextAttemptAt?: string;
  /** Of a `failed` or `held` delivery: the one that a replay created for it. */
  replayedAs?: string;
  createdAt: string;
  /** The event as every attempt sends it, byte for byte. */
  requestBody: string;
  attempts: Array<WebhookAttempt>;
};

export type WebhookEndpoint = {
  id: string;
  url: string;
  events: Array<string>;
  /** `disabled`: nothing is sent; deliveries are recorded as `held`. */
  status: "enabled" | "disabled";
  /** `gone`: the endpoint responded with 410. `failing`: all attempts of 5 days failed. */
  disabledReason?: "gone" | "failing";
  createdAt: string;
};

export type WebhookEndpointList = {
  data: Array<WebhookEndpoint>;
};

export type WebhookEndpointPatch = {
  /** An https URL without credentials. The host name is resolved for each delivery. */
  url?: string;
  /** The event types to deliver; `*` is all types, including those of later releases. */
  events?: Array<
    | "customer.created"
    | "customer.updated"
    | "subscription.created"
    | "subscription.updated"
    | "subscription.canceled"
    | "plan.created"
    | "plan.updated"
    | "plan.published"
    | "plan.archived"
    | "feature.updated"
    | "feature.deleted"
    | "usage.threshold"
    | "usage.corrected"
    | "credit.granted"
    | "credit.depleted"
    | "entitlement.changed"
    | "*">;
  /** `disabled`: nothing is sent; deliveries are recorded as `held`. */
  status?: "enabled" | "disabled";
};

export type WebhookEndpointWithSecret = {
  id: string;
  url: string;
  events: Array<string>;
  /** `disabled`: nothing is sent; deliveries are recorded as `held`. */
  status: "enabled" | "disabled";
  /** `gone`: the endpoint responded with 410. `failing`: all attempts of 5 days failed. */
  disabledReason?: "gone" | "failing";
  createdAt: string;
  /** The signing secret of deliveries. It is returned only once. */
  secret: string;
};

export type WebhookReplay = {
  from: string;
  /** Exclusive. */
  to: string;
  /** Whether to leave out events with a successful delivery. */
  onlyFailed?: boolean;
};

export type WebhookReplayResult = {
  /** Events for which a new delivery was created. */
  replayed: number;
  /** Pending deliveries whose next attempt is now due at once. */
  hurried: number;
  /** Present when there are more than 10000 events: the `from` of the next call. */
  nextFrom?: string;
};

export type WebhookSecretRotation = {
  /** Seconds for which deliveries are signed with the old secret too. Default: one day. Maximum: 7 days. */
  overlapSeconds?: number;
};

export type WebhookTest = {
  /** Default: the first type that the endpoint selected. */
  type?: 
    | "customer.created"
    | "customer.updated"
    | "subscription.created"
    | "subscription.updated"
    | "subscription.canceled"
    | "plan.created"
    | "plan.updated"
    | "plan.published"
    | "plan.archived"
    | "feature.updated"
    | "feature.deleted"
    | "usage.threshold"
    | "usage.corrected"
    | "credit.granted"
    | "credit.depleted"
    | "entitlement.changed";
};

export type Workspace = {
  id: string;
  name: string;
  /** Whether usage of an unknown meter is rejected. If false, the meter is created. */
  strictMeters: boolean;
  /** Days for which a past-due subscription still entitles. Default: 14. */
  pastDueGraceDays: number;
  /** The mode of the API key that makes the request. */
  mode: "live" | "test";
  firstApiCallAt?: string;
  createdAt: string;
};

export type WorkspacePatch = {
  name?: string;
  /** Whether usage of an unknown meter is rejected. If false, the meter is created. */
  strictMeters?: boolean;
  /** Days for which a past-due subscription still entitles. Default: 14. */
  pastDueGraceDays?: number;
};

export type WebhookEvent = 
  | CustomerCreatedEvent
  | CustomerUpdatedEvent
  | SubscriptionCreatedEvent
  | SubscriptionUpdatedEvent
  | SubscriptionCanceledEvent
  | PlanCreatedEvent
  | PlanUpdatedEvent
  | PlanPublishedEvent
  | PlanArchivedEvent
  | FeatureUpdatedEvent
  | FeatureDeletedEvent
  | UsageThresholdEvent
  | UsageCorrectedEvent
  | CreditGrantedEvent
  | CreditDepletedEvent
  | EntitlementChangedEvent;
