// Made by `npm run openapi` of schemas/openapi.json; a test compares them.
import type * as schemas from './schemas.ts';

export interface Operations {
  /** List customers, newest first. */
  'customers.list': {
    input: {
      page?: number;
      pageSize?: number;
      /** The exact email address; upper and lower case are the same. */
      email?: string;
      /** Text that the name, email or `externalId` contains, or the whole `id`. */
      q?: string;
    };
    output: schemas.CustomerPage;
  };
  /** Create a customer. */
  'customers.create': {
    input: {
      body: schemas.NewCustomer;
    };
    output: schemas.Customer;
  };
  /** Retrieve a customer. */
  'customers.retrieve': {
    input: {
      /** The customer's id or your own `externalId`. */
      customerId: string;
    };
    output: schemas.Customer;
  };
  /** Update a customer. */
  'customers.update': {
    input: {
      /** The customer's id or your own `externalId`. */
      customerId: string;
      body: schemas.CustomerPatch;
    };
    output: schemas.Customer;
  };
  /** Archive a customer. */
  'customers.archive': {
    input: {
      /** The customer's id or your own `externalId`. */
      customerId: string;
    };
    output: schemas.Customer;
  };
  /** Create a token with which a browser reads one customer. */
  'customerTokens.create': {
    input: {
      body: schemas.NewCustomerToken;
    };
    output: schemas.CustomerToken;
  };
  /** Retrieve a customer's credits: balance, unpaid amount and grants. */
  'credits.retrieve': {
    input: {
      /** The customer's id or your own `externalId`. */
      customerId: string;
    };
    output: schemas.CustomerCredits;
  };
  /** Grant credits to a customer. */
  'credits.grant': {
    input: {
      /** The customer's id or your own `externalId`. */
      customerId: string;
      body: schemas.NewCreditGrant;
    };
    output: schemas.CreditGrant;
  };
  /** Void a grant of credits. */
  'credits.voidGrant': {
    input: {
      /** The customer's id or your own `externalId`. */
      customerId: string;
      grantId: string;
      body?: schemas.GrantVoid;
    };
    output: schemas.CreditGrant;
  };
  /** Let a grant of credits expire earlier. */
  'credits.updateGrant': {
    input: {
      /** The customer's id or your own `externalId`. */
      customerId: string;
      grantId: string;
      body: schemas.CreditGrantPatch;
    };
    output: schemas.CreditGrant;
  };
  /** List a customer's credit ledger, newest first. */
  'credits.listLedger': {
    input: {
      /** The customer's id or your own `externalId`. */
      customerId: string;
      page?: number;
      pageSize?: number;
    };
    output: schemas.CreditLedgerEntryPage;
  };
  /** List a customer's overrides, newest first. */
  'overrides.list': {
    input: {
      /** The customer's id or your own `externalId`. */
      customerId: string;
      page?: number;
      pageSize?: number;
    };
    output: schemas.OverridePage;
  };
  /** Retrieve an override. */
  'overrides.retrieve': {
    input: {
      /** The customer's id or your own `externalId`. */
      customerId: string;
      /** The feature's key or id. */
      featureKey: string;
    };
    output: schemas.Override;
  };
  /** Create or replace a customer's override of a feature. */
  'overrides.put': {
    input: {
      /** The customer's id or your own `externalId`. */
      customerId: string;
      /** The feature's key or id. */
      featureKey: string;
      body: schemas.NewOverride;
    };
    output: schemas.Override;
  };
  /** Delete an override. */
  'overrides.delete': {
    input: {
      /** The customer's id or your own `externalId`. */
      customerId: string;
      /** The feature's key or id. */
      featureKey: string;
    };
    output: undefined;
  };
  /** List a customer's budgets, newest first. */
  'budgets.list': {
    input: {
      /** The customer's id or your own `externalId`. */
      customerId: string;
      page?: number;
      pageSize?: number;
    };
    output: schemas.BudgetPage;
  };
  /** Retrieve a budget. */
  'budgets.retrieve': {
    input: {
      /** The customer's id or your own `externalId`. */
      customerId: string;
      /** The meter's key or id. */
      meterKey: string;
    };
    output: schemas.Budget;
  };
  /** Create or replace a customer's budget for a meter. */
  'budgets.put': {
    input: {
      /** The customer's id or your own `externalId`. */
      customerId: string;
      /** The meter's key or id. */
      meterKey: string;
      body: schemas.NewBudget;
    };
    output: schemas.Budget;
  };
  /** Delete a budget. */
  'budgets.delete': {
    input: {
      /** The customer's id or your own `externalId`. */
      customerId: string;
      /** The meter's key or id. */
      meterKey: string;
    };
    output: undefined;
  };
  /** List products, newest first. */
  'products.list': {
    input: {
      page?: number;
      pageSize?: number;
    };
    output: schemas.ProductPage;
  };
  /** Create a product. */
  'products.create': {
    input: {
      body: schemas.NewProduct;
    };
    output: schemas.Product;
  };
  /** List plans, newest first. */
  'plans.list': {
    input: {
      page?: number;
      pageSize?: number;
      status?: "draft" | "published" | "archived";
      productId?: string;
    };
    output: schemas.PlanPage;
  };
  /** Create a plan as a draft. */
  'createPlan': {
    input: {
      body: schemas.NewPlan;
    };
    output: schemas.Plan;
  };
  /** Retrieve a plan. */
  'plans.retrieve': {
    input: {
      /** The plan's id or key. */
      planId: string;
    };
    output: schemas.Plan;
  };
  /** Update a plan. */
  'plans.update': {
    input: {
      /** The plan's id or key. */
      planId: string;
      body: schemas.PlanPatch;
    };
    output: schemas.Plan;
  };
  /** Publish a plan. */
  'plans.publish': {
    input: {
      /** The plan's id or key. */
      planId: string;
    };
    output: schemas.Plan;
  };
  /** Archive a plan. */
  'plans.archive': {
    input: {
      /** The plan's id or key. */
      planId: string;
    };
    output: schemas.Plan;
  };
  /** Retrieve the entitlements of a plan. */
  'plans.retrieveEntitlements': {
    input: {
      /** The plan's id or key. */
      planId: string;
      /** The version of the plan. Default: the current version. */
      version?: number;
    };
    output: schemas.PlanEntitlements;
  };
  /** Replace the entitlements of a plan. */
  'plans.replaceEntitlements': {
    input: {
      /** The plan's id or key. */
      planId: string;
      body: schemas.EntitlementSet;
    };
    output: schemas.PlanEntitlements;
  };
  /** Retrieve the prices of a plan. */
  'plans.retrievePrices': {
    input: {
      /** The plan's id or key. */
      planId: string;
      /** The version of the plan. Default: the current version. */
      version?: number;
    };
    output: schemas.PlanPrices;
  };
  /** Replace the prices of a plan. */
  'plans.replacePrices': {
    input: {
      /** The plan's id or key. */
      planId: string;
      body: schemas.PriceSet;
    };
    output: schemas.PlanPrices;
  };
  /** Retrieve the credits that a plan grants. */
  'plans.retrieveCreditGrants': {
    input: {
      /** The plan's id or key. */
      planId: string;
      /** The version of the plan. Default: the current version. */
      version?: number;
    };
    output: schemas.PlanCreditGrants;
  };
  /** Replace the credits that a plan grants. */
  'plans.replaceCreditGrants': {
    input: {
      /** The plan's id or key. */
      planId: string;
      body: schemas.RecurringGrantSet;
    };
    output: schemas.PlanCreditGrants;
  };
  /** Retrieve the published plans with their prices and entitlements, for a pricing page. */
  'pricing.retrieve': {
    input: {
      /** A publishable key, in place of a header. Secret keys are rejected. */
      key?: string;
    };
    output: schemas.Pricing;
  };
  /** List features, newest first. */
  'features.list': {
    input: {
      page?: number;
      pageSize?: number;
    };
    output: schemas.FeaturePage;
  };
  /** Create a feature. */
  'features.create': {
    input: {
      body: schemas.NewFeature;
    };
    output: schemas.Feature;
  };
  /** Retrieve a feature. */
  'features.retrieve': {
    input: {
      /** The feature's key or id. */
      featureKey: string;
    };
    output: schemas.Feature;
  };
  /** Update a feature. */
  'features.update': {
    input: {
      /** The feature's key or id. */
      featureKey: string;
      body: schemas.FeaturePatch;
    };
    output: schemas.Feature;
  };
  /** Delete a feature. */
  'features.delete': {
    input: {
      /** The feature's key or id. */
      featureKey: string;
    };
    output: undefined;
  };
  /** List add-ons, newest first. */
  'addons.list': {
    input: {
      page?: number;
      pageSize?: number;
    };
    output: schemas.AddonPage;
  };
  /** Create an add-on. */
  'addons.create': {
    input: {
      body: schemas.NewAddon;
    };
    output: schemas.Addon;
  };
  /** Retrieve an add-on. */
  'addons.retrieve': {
    input: {
      /** The add-on's id or key. */
      addonId: string;
    };
    output: schemas.Addon;
  };
  /** Update an add-on. */
  'addons.update': {
    input: {
      /** The add-on's id or key. */
      addonId: string;
      body: schemas.AddonPatch;
    };
    output: schemas.Addon;
  };
  /** Retrieve the entitlements of an add-on. */
  'addons.retrieveEntitlements': {
    input: {
      /** The add-on's id or key. */
      addonId: string;
    };
    output: schemas.AddonEntitlements;
  };
  /** Replace the entitlements of an add-on. */
  'addons.replaceEntitlements': {
    input: {
      /** The add-on's id or key. */
      addonId: string;
      body: schemas.EntitlementSet;
    };
    output: schemas.AddonEntitlements;
  };
  /** Retrieve the prices of an add-on. */
  'addons.retrievePrices': {
    input: {
      /** The add-on's id or key. */
      addonId: string;
    };
    output: schemas.AddonPrices;
  };
  /** Replace the prices of an add-on. */
  'addons.replacePrices': {
    input: {
      /** The add-on's id or key. */
      addonId: string;
      body: schemas.PriceSet;
    };
    output: schemas.AddonPrices;
  };
  /** List meters, newest first. */
  'meters.list': {
    input: {
      page?: number;
      pageSize?: number;
    };
    output: schemas.MeterPage;
  };
  /** Create a meter. */
  'meters.create': {
    input: {
      body: schemas.NewMeter;
    };
    output: schemas.Meter;
  };
  /** Retrieve a meter. */
  'meters.retrieve': {
    input: {
      /** The meter's key or id. */
      meterId: string;
    };
    output: schemas.Meter;
  };
  /** Update a meter. */
  'meters.update': {
    input: {
      /** The meter's key or id. */
      meterId: string;
      body: schemas.MeterPatch;
    };
    output: schemas.Meter;
  };
  /** Archive a meter. */
  'meters.archive': {
    input: {
      /** The meter's key or id. */
      meterId: string;
    };
    output: schemas.Meter;
  };
  /** Retrieve a meter's usage over all customers. */
  'meterUsage.retrieve': {
    input: {
      /** The meter's key or id. */
      meterId: string;
      from: string;
      to: string;
      /** Default: one bucket, all of the time range. */
      granularity?: "hour" | "day" | "week" | "month";
      /** An IANA time zone, such as `Europe/Berlin`, of the hours, days, weeks and months. Default: UTC. */
      timezone?: string;
      /** `customerId` and names of properties, up to three, separated by commas. Events without the property have the empty value. */
      groupBy?: string;
      /** Only events whose property has this value, for example `filter[region]=eu`. The empty value selects events without the property. Several filters must all apply. `filter[customerId]` takes a customer's id or externalId and selects that customer. */
      filter?: Record<string, string>;
      /** Up to five numbers from 0 to 1, separated by commas, such as `0.5,0.95`. Only for `sum` meters. Of n values in ascending order the quantile q is the one at position q × n, rounded down and counted from 0; for q = 1 the last one. */
      quantiles?: string;
      /** Of the entries: oldest first, or largest total first. Default: `time` with a `granularity`, otherwise `total`. */
      order?: "time" | "total";
      /** With `zero`, every bucket of the time range has an entry, also those without usage. */
      fill?: "none" | "zero";
      /** Groups that are shown one by one. */
      limit?: number;
      /** By default the response waits up to 1 s for the usage acknowledged before the request, and is returned without it after that. `strong` waits up to 5 s; after that the response is 503. `eventual` does not wait. Usage acknowledged before `asOf` is counted. */
      consistency?: "strong" | "eventual";
    };
    output: schemas.MeterUsageReport;
  };
  /** List subscriptions, newest first. */
  'subscriptions.list': {
    input: {
      page?: number;
      pageSize?: number;
      /** The customer's id or your own `externalId`. */
      customerId?: string;
      status?: 
        | "incomplete"
        | "incomplete_expired"
        | "trialing"
        | "active"
        | "past_due"
        | "unpaid"
        | "paused"
        | "canceled";
      /** The plan's id or key. */
      planId?: string;
      processorSubscriptionId?: string;
    };
    output: schemas.SubscriptionPage;
  };
  /** Subscribe a customer to a plan. */
  'subscriptions.create': {
    input: {
      body: schemas.NewSubscription;
    };
    output: schemas.Subscription;
  };
  /** Retrieve a subscription. */
  'subscriptions.retrieve': {
    input: {
      subscriptionId: string;
    };
    output: schemas.Subscription;
  };
  /** Update a subscription. */
  'subscriptions.update': {
    input: {
      subscriptionId: string;
      body: schemas.SubscriptionPatch;
    };
    output: schemas.Subscription;
  };
  /** Cancel a subscription now or at the end of its period. */
  'subscriptions.cancel': {
    input: {
      subscriptionId: string;
      body?: schemas.SubscriptionCancellation;
    };
    output: schemas.Subscription;
  };
  /** Add an add-on to a subscription, or change its quantity. */
  'subscriptions.setAddon': {
    input: {
      subscriptionId: string;
      /** The add-on's id or key. */
      addonId: string;
      body: schemas.AddonQuantity;
    };
    output: schemas.Subscription;
  };
  /** Remove an add-on from a subscription. */
  'subscriptions.removeAddon': {
    input: {
      subscriptionId: string;
      /** The add-on's id or key. */
      addonId: string;
    };
    output: undefined;
  };
  /** List a customer's entitlements. */
  'entitlements.list': {
    input: {
      /** The customer's id or your own `externalId`. */
      customerId: string;
    };
    output: schemas.EntitlementList;
  };
  /** Check whether a customer may use a feature. */
  'entitlements.check': {
    input: {
      /** The customer's id or your own `externalId`. */
      customerId: string;
      /** The feature's key or id. */
      featureKey: string;
      /** A decimal; an exponent, as in 1e-7, is accepted. The amount that the customer wants to use. Metered features: in addition to the usage so far, 1 by default. Limit features: compared with the limit, 0 by default. Not for boolean features. */
      requested?: string;
      /** `eventual` decides from a cache and does not wait: a change of the customer's entitlements is visible within 1 s, and counters are at most 2 s old. `strong` reads from the database and waits up to 5 s for the usage acknowledged before the request; after that the response is 503. Usage acknowledged before `asOf` is counted. */
      consistency?: "eventual" | "strong";
    };
    output: schemas.EntitlementDecision;
  };
  /** Check several features of a customer. */
  'entitlements.checkMany': {
    input: {
      /** `eventual` decides from a cache and does not wait: a change of the customer's entitlements is visible within 1 s, and counters are at most 2 s old. `strong` reads from the database and waits up to 5 s for the usage acknowledged before the request; after that the response is 503. Usage acknowledged before `asOf` is counted. */
      consistency?: "eventual" | "strong";
      body: schemas.EntitlementChecks;
    };
    output: schemas.EntitlementDecisionList;
  };
  /** Hold an amount of a customer's limit or credits. */
  'reservations.create': {
    input: {
      /** `eventual` decides from a cache and does not wait: a change of the customer's entitlements is visible within 1 s, and counters are at most 2 s old. `strong` reads from the database and waits up to 5 s for the usage acknowledged before the request; after that the response is 503. Usage acknowledged before `asOf` is counted. */
      consistency?: "eventual" | "strong";
      body: schemas.NewReservation;
    };
    output: schemas.DeniedReservation;
  };
  /** List reservations. */
  'reservations.list': {
    input: {
      page?: number;
      pageSize?: number;
      customerId?: string;
      status?: "held" | "committed" | "released" | "expired";
    };
    output: schemas.ReservationPage;
  };
  /** Retrieve a reservation. */
  'reservations.retrieve': {
    input: {
      reservationId: string;
    };
    output: schemas.Reservation;
  };
  /** Change the amount or the expiry of a reservation. */
  'reservations.update': {
    input: {
      reservationId: string;
      /** `eventual` decides from a cache and does not wait: a change of the customer's entitlements is visible within 1 s, and counters are at most 2 s old. `strong` reads from the database and waits up to 5 s for the usage acknowledged before the request; after that the response is 503. Usage acknowledged before `asOf` is counted. */
      consistency?: "eventual" | "strong";
      body: schemas.ReservationPatch;
    };
    output: schemas.ChangedReservation;
  };
  /** Commit a reservation. */
  'reservations.commit': {
    input: {
      reservationId: string;
      body?: schemas.ReservationCommit;
    };
    output: schemas.CommittedReservation;
  };
  /** Release a reservation. */
  'reservations.release': {
    input: {
      reservationId: string;
    };
    output: schemas.Reservation;
  };
  /** Use an amount, if the customer may. */
  'entitlements.consume': {
    input: {
      /** `eventual` decides from a cache and does not wait: a change of the customer's entitlements is visible within 1 s, and counters are at most 2 s old. `strong` reads from the database and waits up to 5 s for the usage acknowledged before the request; after that the response is 503. Usage acknowledged before `asOf` is counted. */
      consistency?: "eventual" | "strong";
      body: schemas.Consumption;
    };
    output: schemas.DeniedConsumption;
  };
  /** Record one usage event. */
  'usage.submit': {
    input: {
      /** An open backfill: its events are acknowledged and deduplicated like all others, and count once it is closed. */
      backfillId?: string;
      body: schemas.NewUsageEvent;
    };
    output: schemas.UsageEvent;
  };
  /** Find a usage event by its idempotency key or id. */
  'usage.findEvents': {
    input: {
      /** The idempotency key that the event was sent with. */
      idempotencyKey?: string;
      id?: string;
      /** By default the response waits up to 1 s for the usage acknowledged before the request, and is returned without it after that. `strong` waits up to 5 s; after that the response is 503. `eventual` does not wait. Usage acknowledged before `asOf` is counted. */
      consistency?: "strong" | "eventual";
    };
    output: schemas.FoundUsageEvents;
  };
  /** Record up to 500 usage events. */
  'usage.submitBatch': {
    input: {
      include?: "events";
      /** An open backfill: its events are acknowledged and deduplicated like all others, and count once it is closed. */
      backfillId?: string;
      body: schemas.UsageEventBatch;
    };
    output: schemas.UsageEventBatchResult;
  };
  /** Record CloudEvents. */
  'events.ingest': {
    input: {
      body: schemas.CloudEvent;
    };
    output: schemas.CloudEventResults;
  };
  /** Record log records of OpenTelemetry. */
  'events.ingestLogs': {
    input: {
      body: schemas.LogsExport;
    };
    output: schemas.LogsExported;
  };
  /** Void a usage event. */
  'usageCorrections.void': {
    input: {
      usageEventId: string;
      body?: schemas.UsageEventVoid;
    };
    output: schemas.UsageEventCorrection;
  };
  /** Replace a usage event by another one. */
  'usageCorrections.amend': {
    input: {
      usageEventId: string;
      body: schemas.UsageEventAmendment;
    };
    output: schemas.UsageEventCorrection;
  };
  /** Void many usage events. */
  'usageCorrections.create': {
    input: {
      body: schemas.NewUsageCorrection;
    };
    output: schemas.UsageCorrectionPreview;
  };
  /** List corrections of usage. */
  'usageCorrections.list': {
    input: {
      page?: number;
      pageSize?: number;
    };
    output: schemas.UsageCorrectionPage;
  };
  /** Retrieve a correction of usage, with its progress. */
  'usageCorrections.retrieve': {
    input: {
      correctionId: string;
    };
    output: schemas.UsageCorrection;
  };
  /** List a customer's usage counters. */
  'usage.list': {
    input: {
      /** The customer's id or your own `externalId`. */
      customerId: string;
      page?: number;
      pageSize?: number;
      /** A time within the period to read. Default: now. */
      at?: string;
      /** By default the response waits up to 1 s for the usage acknowledged before the request, and is returned without it after that. `strong` waits up to 5 s; after that the response is 503. `eventual` does not wait. Usage acknowledged before `asOf` is counted. */
      consistency?: "strong" | "eventual";
    };
    output: schemas.UsageCounterPage;
  };
  /** Retrieve a usage counter. */
  'usage.retrieve': {
    input: {
      /** The customer's id or your own `externalId`. */
      customerId: string;
      /** The meter's key or id. */
      meterId: string;
      /** A time within the period to read. Default: now. */
      at?: string;
      /** By default the response waits up to 1 s for the usage acknowledged before the request, and is returned without it after that. `strong` waits up to 5 s; after that the response is 503. `eventual` does not wait. Usage acknowledged before `asOf` is counted. */
      consistency?: "strong" | "eventual";
    };
    output: schemas.UsageCounter;
  };
  /** Retrieve usage broken down by a property or by time. */
  'usage.breakdown': {
    input: {
      /** The customer's id or your own `externalId`. */
      customerId: string;
      /** The meter's key or id. */
      meterId: string;
      /** An event property, or `$hour`, `$day` or `$month` of `occurredAt` in `timezone`. */
      dimension: string;
      window?: "current_period" | "day" | "week" | "month" | "all";
      from?: string;
      to?: string;
      /** A time within the period to read. Default: now. */
      at?: string;
      /** An IANA time zone, such as `Europe/Berlin`, of the hours, days and months, and of the windows `day`, `week` and `month`. Default: UTC. */
      timezone?: string;
      /** Only events whose property has this value, for example `filter[region]=eu`. The empty value selects events without the property. Several filters must all apply. */
      filter?: Record<string, string>;
      /** Up to five numbers from 0 to 1, separated by commas, such as `0.5,0.95`. Only for `sum` meters. Of n values in ascending order the quantile q is the one at position q × n, rounded down and counted from 0; for q = 1 the last one. */
      quantiles?: string;
      /** Largest total first (the default), or oldest first where the dimension is one of time. */
      order?: "time" | "total";
      /** With `zero`, every bucket of the time range has an entry, also those without usage. */
      fill?: "none" | "zero";
      limit?: number;
      /** By default the response waits up to 1 s for the usage acknowledged before the request, and is returned without it after that. `strong` waits up to 5 s; after that the response is 503. `eventual` does not wait. Usage acknowledged before `asOf` is counted. */
      consistency?: "strong" | "eventual";
    };
    output: schemas.UsageBreakdownReport;
  };
  /** List usage events, oldest first. */
  'usage.events': {
    input: {
      /** The customer's id or your own `externalId`. */
      customerId: string;
      /** The meter's key or id. */
      meterId: string;
      from?: string;
      to?: string;
      cursor?: string;
      limit?: number;
      /** By default the response waits up to 1 s for the usage acknowledged before the request, and is returned without it after that. `strong` waits up to 5 s; after that the response is 503. `eventual` does not wait. Usage acknowledged before `asOf` is counted. */
      consistency?: "strong" | "eventual";
    };
    output: schemas.UsageEventList;
  };
  /** Retrieve what a customer costs, line by line. */
  'cost.ofCustomer': {
    input: {
      /** The customer's id or your own `externalId`. */
      customerId: string;
      /** Requires `to`. Default: the start of the current billing period of each subscription. */
      from?: string;
      /** Requires `from`. Default: the end of that period. What has not begun yet is not charged. */
      to?: string;
      /** By default the response waits up to 1 s for the usage acknowledged before the request, and is returned without it after that. `strong` waits up to 5 s; after that the response is 503. `eventual` does not wait. Usage acknowledged before `asOf` is counted. */
      consistency?: "strong" | "eventual";
    };
    output: schemas.CustomerCost;
  };
  /** Retrieve what a subscription costs, line by line. */
  'cost.ofSubscription': {
    input: {
      subscriptionId: string;
      /** Requires `to`. Default: the start of the current billing period of each subscription. */
      from?: string;
      /** Requires `from`. Default: the end of that period. What has not begun yet is not charged. */
      to?: string;
      /** By default the response waits up to 1 s for the usage acknowledged before the request, and is returned without it after that. `strong` waits up to 5 s; after that the response is 503. `eventual` does not wait. Usage acknowledged before `asOf` is counted. */
      consistency?: "strong" | "eventual";
    };
    output: schemas.SubscriptionCost;
  };
  /** Simulate what customers would have paid with other prices. */
  'simulations.create': {
    input: {
      body: schemas.NewSimulation;
    };
    output: schemas.Simulation;
  };
  /** Retrieve a simulation: its progress, and its results by customer. */
  'simulations.retrieve': {
    input: {
      simulationId: string;
      page?: number;
      pageSize?: number;
      /** `true`: only customers that would pass a limit. */
      passedLimits?: "true" | "false";
    };
    output: schemas.SimulationResult;
  };
  /** List customers by the share of a limit or budget used, largest first. */
  'usageLevels.list': {
    input: {
      /** Only entries with at least this share. */
      above?: number;
      /** A metered feature: only entries of its meter. */
      featureKey?: string;
      limit?: number;
      cursor?: string;
    };
    output: schemas.UsageLevelList;
  };
  /** Connect or disconnect the payment processor, or set its webhook secret. */
  'connectProcessor': {
    input: {
      body: schemas.ProcessorAction;
    };
    output: schemas.ProcessorActionResult;
  };
  /** Retrieve the connection to the payment processor. */
  'processor.retrieve': {
    input: Record<string, never>;
    output: schemas.ProcessorConnection;
  };
  /** List subscription events of the payment processor, newest first. */
  'processor.listEvents': {
    input: {
      page?: number;
      pageSize?: number;
      status?: "applied" | "ignored" | "unmatched";
      processorSubscriptionId?: string;
    };
    output: schemas.ProcessorEventPage;
  };
  /** Apply an unmatched event. */
  'processor.applyEvent': {
    input: {
      /** The processor's id of the event. */
      processorEventId: string;
    };
    output: schemas.ProcessorEvent;
  };
  /** Receive an event of the payment processor. */
  'processor.receiveEvent': {
    input: {
      workspaceId: string;
      /** `live` or `test`. */
      mode: string;
      body: schemas.SignedProcessorEvent;
    };
    output: schemas.SignedProcessorEventReceipt;
  };
  /** Record an anonymous event of the pricing widget. */
  'funnel.record': {
    input: {
      /** A publishable key, in place of a header. Secret keys are rejected. */
      key?: string;
      body: schemas.FunnelEvent;
    };
    output: schemas.FunnelEventReceipt;
  };
  /** Retrieve the pricing funnel: sessions that saw the widget, started a checkout and subscribed. */
  'funnel.retrieve': {
    input: {
      from?: string;
      to?: string;
      planId?: string;
    };
    output: schemas.Funnel;
  };
  /** List webhook endpoints, newest first. */
  'listWebhookEndpoints': {
    input: Record<string, never>;
    output: schemas.WebhookEndpointList;
  };
  /** Create a webhook endpoint. */
  'createWebhookEndpoint': {
    input: {
      body: schemas.NewWebhookEndpoint;
    };
    output: schemas.WebhookEndpointWithSecret;
  };
  /** List the webhook endpoints that fail now. */
  'webhookEndpoints.listFailing': {
    input: Record<string, never>;
    output: schemas.FailingWebhookEndpointList;
  };
  /** Retrieve a webhook endpoint, without its secret. */
  'webhookEndpoints.retrieve': {
    input: {
      endpointId: string;
    };
    output: schemas.WebhookEndpoint;
  };
  /** Update, disable or enable a webhook endpoint. */
  'webhookEndpoints.update': {
    input: {
      endpointId: string;
      body: schemas.WebhookEndpointPatch;
    };
    output: schemas.WebhookEndpoint;
  };
  /** Delete a webhook endpoint. */
  'webhookEndpoints.delete': {
    input: {
      endpointId: string;
    };
    output: undefined;
  };
  /** Rotate the signing secret of a webhook endpoint. */
  'webhookEndpoints.rotateSecret': {
    input: {
      endpointId: string;
      body?: schemas.WebhookSecretRotation;
    };
    output: schemas.RotatedWebhookEndpoint;
  };
  /** List webhook events, newest first. */
  'webhookEvents.list': {
    input: {
      page?: number;
      pageSize?: number;
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
      from?: string;
      /** Exclusive. */
      to?: string;
    };
    output: schemas.EventEnvelopePage;
  };
  /** Retrieve a webhook event. */
  'webhookEvents.retrieve': {
    input: {
      eventId: string;
    };
    output: schemas.EventEnvelope;
  };
  /** List the deliveries of all endpoints, newest first. */
  'webhookDeliveries.listAll': {
    input: {
      /** A status; `undelivered`: all but those that succeeded or were replayed; or `retrying`: `pending` after an attempt that failed. */
      status?: "pending" | "succeeded" | "failed" | "held" | "undelivered" | "retrying";
      endpointId?: string;
      /** Of the event. */
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
      /** from ≤ `createdAt` of the delivery. */
      from?: string;
      /** `createdAt` of the delivery < to. */
      to?: string;
      limit?: number;
      cursor?: string;
    };
    output: schemas.WebhookDeliveryList;
  };
  /** List the deliveries of an endpoint, newest first. */
  'webhookDeliveries.list': {
    input: {
      endpointId: string;
      page?: number;
      pageSize?: number;
      /** A status; `undelivered`: all but those that succeeded or were replayed; or `retrying`: `pending` after an attempt that failed. */
      status?: "pending" | "succeeded" | "failed" | "held" | "undelivered" | "retrying";
    };
    output: schemas.WebhookDeliveryPage;
  };
  /** Retrieve a delivery with its attempts. */
  'webhookDeliveries.retrieve': {
    input: {
      deliveryId: string;
    };
    output: schemas.WebhookDeliveryWithAttempts;
  };
  /** Replay a delivery. */
  'webhookDeliveries.replay': {
    input: {
      deliveryId: string;
    };
    output: schemas.WebhookDelivery;
  };
  /** Replay the events of a period to an endpoint. */
  'webhookEndpoints.replay': {
    input: {
      endpointId: string;
      body: schemas.WebhookReplay;
    };
    output: schemas.WebhookReplayResult;
  };
  /** Send a test event to an endpoint. */
  'webhookEndpoints.test': {
    input: {
      endpointId: string;
      body?: schemas.WebhookTest;
    };
    output: schemas.WebhookDelivery;
  };
  /** List the API keys of the environment, newest first. */
  'apiKeys.list': {
    input: {
      page?: number;
      pageSize?: number;
      kind?: "secret" | "publishable";
      status?: "active" | "expired" | "revoked";
    };
    output: schemas.ApiKeyPage;
  };
  /** Create an API key. */
  'apiKeys.create': {
    input: {
      body: schemas.NewApiKey;
    };
    output: schemas.ApiKeyWithText;
  };
  /** Retrieve an API key, without its text. */
  'apiKeys.retrieve': {
    input: {
      keyId: string;
    };
    output: schemas.ApiKey;
  };
  /** Revoke an API key. */
  'apiKeys.revoke': {
    input: {
      keyId: string;
    };
    output: undefined;
  };
  /** Rotate an API key. */
  'apiKeys.rotate': {
    input: {
      keyId: string;
      body?: schemas.ApiKeyRotation;
    };
    output: schemas.ApiKeyWithText;
  };
  /** Retrieve the workspace of the API key. */
  'workspace.retrieve': {
    input: Record<string, never>;
    output: schemas.Workspace;
  };
  /** Update the settings of the workspace. */
  'workspace.update': {
    input: {
      body: schemas.WorkspacePatch;
    };
    output: schemas.Workspace;
  };
  /** List the audit log, newest first. */
  'auditLog.list': {
    input: {
      page?: number;
      pageSize?: number;
      from?: string;
      to?: string;
      actor?: string;
      action?: string;
      objectId?: string;
      /** The customer's id or your own `externalId`: changes of the customer and of its subscriptions, overrides, budgets and credits. */
      customerId?: string;
    };
    output: schemas.AuditEntryPage;
  };
}

/** Method, path below /api/v1, whether it takes an `Idempotency-Key`. */
export const OPERATIONS: Record<keyof Operations, readonly [method: string, path: string, idempotent: boolean]> = {
  'customers.list': ["GET", "/customers", false],
  'customers.create': ["POST", "/customers", true],
  'customers.retrieve': ["GET", "/customers/{customerId}", false],
  'customers.update': ["PATCH", "/customers/{customerId}", false],
  'customers.archive': ["POST", "/customers/{customerId}/archive", true],
  'customerTokens.create': ["POST", "/customer-tokens", true],
  'credits.retrieve': ["GET", "/customers/{customerId}/credits", false],
  'credits.grant': ["POST", "/customers/{customerId}/credits", true],
  'credits.voidGrant': ["POST", "/customers/{customerId}/credits/{grantId}/void", true],
  'credits.updateGrant': ["PATCH", "/customers/{customerId}/credits/{grantId}", false],
  'credits.listLedger': ["GET", "/customers/{customerId}/credits/ledger", false],
  'overrides.list': ["GET", "/customers/{customerId}/overrides", false],
  'overrides.retrieve': ["GET", "/customers/{customerId}/overrides/{featureKey}", false],
  'overrides.put': ["PUT", "/customers/{customerId}/overrides/{featureKey}", false],
  'overrides.delete': ["DELETE", "/customers/{customerId}/overrides/{featureKey}", false],
  'budgets.list': ["GET", "/customers/{customerId}/budgets", false],
  'budgets.retrieve': ["GET", "/customers/{customerId}/budgets/{meterKey}", false],
  'budgets.put': ["PUT", "/customers/{customerId}/budgets/{meterKey}", false],
  'budgets.delete': ["DELETE", "/customers/{customerId}/budgets/{meterKey}", false],
  'products.list': ["GET", "/products", false],
  'products.create': ["POST", "/products", true],
  'plans.list': ["GET", "/plans", false],
  'createPlan': ["POST", "/plans", true],
  'plans.retrieve': ["GET", "/plans/{planId}", false],
  'plans.update': ["PATCH", "/plans/{planId}", false],
  'plans.publish': ["POST", "/plans/{planId}/publish", true],
  'plans.archive': ["POST", "/plans/{planId}/archive", true],
  'plans.retrieveEntitlements': ["GET", "/plans/{planId}/entitlements", false],
  'plans.replaceEntitlements': ["PUT", "/plans/{planId}/entitlements", false],
  'plans.retrievePrices': ["GET", "/plans/{planId}/prices", false],
  'plans.replacePrices': ["PUT", "/plans/{planId}/prices", false],
  'plans.retrieveCreditGrants': ["GET", "/plans/{planId}/credit-grants", false],
  'plans.replaceCreditGrants': ["PUT", "/plans/{planId}/credit-grants", false],
  'pricing.retrieve': ["GET", "/pricing", false],
  'features.list': ["GET", "/features", false],
  'features.create': ["POST", "/features", true],
  'features.retrieve': ["GET", "/features/{featureKey}", false],
  'features.update': ["PATCH", "/features/{featureKey}", false],
  'features.delete': ["DELETE", "/features/{featureKey}", false],
  'addons.list': ["GET", "/addons", false],
  'addons.create': ["POST", "/addons", true],
  'addons.retrieve': ["GET", "/addons/{addonId}", false],
  'addons.update': ["PATCH", "/addons/{addonId}", false],
  'addons.retrieveEntitlements': ["GET", "/addons/{addonId}/entitlements", false],
  'addons.replaceEntitlements': ["PUT", "/addons/{addonId}/entitlements", false],
  'addons.retrievePrices': ["GET", "/addons/{addonId}/prices", false],
  'addons.replacePrices': ["PUT", "/addons/{addonId}/prices", false],
  'meters.list': ["GET", "/meters", false],
  'meters.create': ["POST", "/meters", true],
  'meters.retrieve': ["GET", "/meters/{meterId}", false],
  'meters.update': ["PATCH", "/meters/{meterId}", false],
  'meters.archive': ["POST", "/meters/{meterId}/archive", true],
  'meterUsage.retrieve': ["GET", "/meters/{meterId}/usage", false],
  'subscriptions.list': ["GET", "/subscriptions", false],
  'subscriptions.create': ["POST", "/subscriptions", true],
  'subscriptions.retrieve': ["GET", "/subscriptions/{subscriptionId}", false],
  'subscriptions.update': ["PATCH", "/subscriptions/{subscriptionId}", false],
  'subscriptions.cancel': ["POST", "/subscriptions/{subscriptionId}/cancel", true],
  'subscriptions.setAddon': ["PUT", "/subscriptions/{subscriptionId}/addons/{addonId}", false],
  'subscriptions.removeAddon': ["DELETE", "/subscriptions/{subscriptionId}/addons/{addonId}", false],
  'entitlements.list': ["GET", "/entitlements/{customerId}", false],
  'entitlements.check': ["GET", "/entitlements/{customerId}/{featureKey}", false],
  'entitlements.checkMany': ["POST", "/entitlements/check", true],
  'reservations.create': ["POST", "/reservations", true],
  'reservations.list': ["GET", "/reservations", false],
  'reservations.retrieve': ["GET", "/reservations/{reservationId}", false],
  'reservations.update': ["PATCH", "/reservations/{reservationId}", false],
  'reservations.commit': ["POST", "/reservations/{reservationId}/commit", true],
  'reservations.release': ["POST", "/reservations/{reservationId}/release", true],
  'entitlements.consume': ["POST", "/entitlements/consume", true],
  'usage.submit': ["POST", "/usage/events", true],
  'usage.findEvents': ["GET", "/usage/events", false],
  'usage.submitBatch': ["POST", "/usage/events/batch", false],
  'events.ingest': ["POST", "/events", false],
  'events.ingestLogs': ["POST", "/otlp/v1/logs", false],
  'usageCorrections.void': ["POST", "/usage/events/{usageEventId}/void", true],
  'usageCorrections.amend': ["POST", "/usage/events/{usageEventId}/amend", true],
  'usageCorrections.create': ["POST", "/usage/corrections", true],
  'usageCorrections.list': ["GET", "/usage/corrections", false],
  'usageCorrections.retrieve': ["GET", "/usage/corrections/{correctionId}", false],
  'usage.list': ["GET", "/usage/{customerId}", false],
  'usage.retrieve': ["GET", "/usage/{customerId}/{meterId}", false],
  'usage.breakdown': ["GET", "/usage/{customerId}/{meterId}/breakdown", false],
  'usage.events': ["GET", "/usage/{customerId}/{meterId}/events", false],
  'cost.ofCustomer': ["GET", "/customers/{customerId}/cost", false],
  'cost.ofSubscription': ["GET", "/subscriptions/{subscriptionId}/cost", false],
  'simulations.create': ["POST", "/simulations", true],
  'simulations.retrieve': ["GET", "/simulations/{simulationId}", false],
  'usageLevels.list': ["GET", "/usage/levels", false],
  'connectProcessor': ["POST", "/integrations/processor", true],
  'processor.retrieve': ["GET", "/integrations/processor", false],
  'processor.listEvents': ["GET", "/integrations/processor/events", false],
  'processor.applyEvent': ["POST", "/integrations/processor/events/{processorEventId}/apply", true],
  'processor.receiveEvent': ["POST", "/integrations/processor/webhooks/{workspaceId}/{mode}", false],
  'funnel.record': ["POST", "/events/funnel", true],
  'funnel.retrieve': ["GET", "/funnel", false],
  'listWebhookEndpoints': ["GET", "/webhooks/endpoints", false],
  'createWebhookEndpoint': ["POST", "/webhooks/endpoints", true],
  'webhookEndpoints.listFailing': ["GET", "/webhooks/failing-endpoints", false],
  'webhookEndpoints.retrieve': ["GET", "/webhooks/endpoints/{endpointId}", false],
  'webhookEndpoints.update': ["PATCH", "/webhooks/endpoints/{endpointId}", false],
  'webhookEndpoints.delete': ["DELETE", "/webhooks/endpoints/{endpointId}", false],
  'webhookEndpoints.rotateSecret': ["POST", "/webhooks/endpoints/{endpointId}/rotate-secret", true],
  'webhookEvents.list': ["GET", "/webhooks/events", false],
  'webhookEvents.retrieve': ["GET", "/webhooks/events/{eventId}", false],
  'webhookDeliveries.listAll': ["GET", "/webhooks/deliveries", false],
  'webhookDeliveries.list': ["GET", "/webhooks/endpoints/{endpointId}/deliveries", false],
  'webhookDeliveries.retrieve': ["GET", "/webhooks/deliveries/{deliveryId}", false],
  'webhookDeliveries.replay': ["POST", "/webhooks/deliveries/{deliveryId}/replay", true],
  'webhookEndpoints.replay': ["POST", "/webhooks/endpoints/{endpointId}/replay", true],
  'webhookEndpoints.test': ["POST", "/webhooks/endpoints/{endpointId}/test", true],
  'apiKeys.list': ["GET", "/api-keys", false],
  'apiKeys.create': ["POST", "/api-keys", true],
  'apiKeys.retrieve': ["GET", "/api-keys/{keyId}", false],
  'apiKeys.revoke': ["DELETE", "/api-keys/{keyId}", false],
  'apiKeys.rotate': ["POST", "/api-keys/{keyId}/rotate", true],
  'workspace.retrieve': ["GET", "/workspace", false],
  'workspace.update': ["PATCH", "/workspace", false],
  'auditLog.list': ["GET", "/audit-log", false],
};
