import { ApiError } from '../client/api-error.ts';
import { type Client, connectionOf } from '../client/client.ts';
import type { EntitlementDecision } from '../generated/schemas.ts';
import { roundedUnitsOf, textOfUnits } from '../meter/exact-decimal.ts';
import { type Meter, ownUsageOf } from '../meter/meter.ts';
import type { MeterName, OwnUsage } from '../meter/own-usage.ts';
import { Reporter, type ReportOptions } from '../meter/report.ts';
import { checkName } from './checked-names.ts';
import type { FedFeature } from './fed-customer.ts';
import { EntitlementFeed, type Known } from './feed.ts';
import { decideHere, owedByOthers } from './local-decision.ts';

/** What is decided when the server does not respond. `last_known` is `closed` where nothing is known. */
export type FallbackPolicy = 'open' | 'closed' | 'last_known';

export interface EntitlementsOptions extends Pick<ReportOptions, 'onError'> {
  client: Pick<Client, 'entitlements'>;
  /** For each feature by its key. Default: `closed`. */
  fallback?: FallbackPolicy | Readonly<Record<string, FallbackPolicy>>;
  /** How long a decision is waited for. Default 1,000. */
  timeoutMs?: number;
  /** Of decisions that are kept for `last_known`. Default 10,000. */
  knownMax?: number;
  /** Decides in this process, from a feed of the customers that are checked. Call `close` at the end. */
  isLocal?: boolean;
  /** With `isLocal`: what it has tracked counts at once. Made before it tracks anything. */
  meter?: Meter;
  /** With `isLocal`: so many customers are followed; the server is asked about the others. Default 2,000. */
  customersMax?: number;
}

/** A decision, and what made it: this process, the server, or the policy for the want of a response. */
export interface Decision extends EntitlementDecision {
  source: 'local' | 'server' | 'fallback';
}

export interface Check {
  /** The customer's id, or your own `externalId`. */
  customerId: string;
  featureKey: string;
  /** The amount that is wanted; a decimal as text where a number would lose digits. */
  requested?: number | string;
}

export interface Entitlements {
  /** Never rejects for want of a response: `source` says what decided. Rejects with other `ApiError`s. */
  check(check: Check): Promise<Decision>;
  /** Ends the feed. */
  close(): void;
}

export function createEntitlements(options: EntitlementsOptions): Entitlements {
  return new Checks(options);
}

/** After a check without a response the next ones do not wait for one. */
const UNAVAILABLE_MS = 1_000;

class Checks implements Entitlements {
  private readonly options: EntitlementsOptions;
  private readonly timeoutMs: number;
  private readonly feed: EntitlementFeed | undefined;
  private readonly ownUsage: OwnUsage | undefined;
  /** The oldest first. */
  private readonly known = new Map<string, EntitlementDecision>();
  private unavailableUntilMs = Number.NEGATIVE_INFINITY;

  constructor(options: EntitlementsOptions) {
    this.options = options;
    this.timeoutMs = options.timeoutMs ?? 1_000;
    if (!options.isLocal) return;
    this.ownUsage = options.meter && ownUsageOf(options.meter);
    this.feed = feedOf(options, this.ownUsage);
  }

  async check(check: Check): Promise<Decision> {
    checkName('customerId', check.customerId);
    checkName('featureKey', check.featureKey);
    const here = this.decide(check);
    if (here) return here;
    this.feed?.watch(check.customerId);
    // The server does not know of what is still on its way to it.
    if (this.ownUsage?.has(check.customerId)) {
      await this.feed?.known(check.customerId, this.timeoutMs);
      const joined = this.decide(check);
      if (joined) return joined;
    }
    if (performance.now() < this.unavailableUntilMs) return this.fallBack(check);
    // What it throws is the fault of this check, and not of the server.
    const requested = this.withOwnUsage(check);
    try {
      return { ...(await this.ask(check, requested)), source: 'server' };
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      this.unavailableUntilMs = performance.now() + UNAVAILABLE_MS;
      return this.fallBack(check);
    }
  }

  close(): void {
    this.feed?.close();
  }

  private async ask(check: Check, requested: string | undefined): Promise<EntitlementDecision> {
    const { customerId, featureKey } = check;
    const amount = requested === undefined ? {} : { requested };
    const signal = AbortSignal.timeout(this.timeoutMs);
    const { client, knownMax = 10_000 } = this.options;
    const decision = await client.entitlements.check({ customerId, featureKey, ...amount }, { signal });
    if (!isDecision(decision)) throw noDecision();
    const name = nameOf(check);
    this.known.delete(name);
    this.known.set(name, decision);
    if (this.known.size > knownMax) this.known.delete(this.known.keys().next().value ?? '');
    return decision;
  }

  /** Of what this process has used the server may know nothing: that much more is requested. */
  private withOwnUsage(check: Check): string | undefined {
    const { requested } = check;
    const units = requested === undefined ? 10n ** 12n : roundedUnitsOf(requested);
    const own = this.feed ? this.ownOf(check, this.feed.findLast(check.customerId)) : 0n;
    if (own > 0n && units !== undefined && units >= 0n) return textOfUnits(units + own);
    if (requested === undefined) return undefined;
    return units === undefined ? String(requested) : textOfUnits(units);
  }

  /** Undefined where the server has to be asked. */
  private decide(check: Check): Decision | undefined {
    const known = this.feed?.find(check.customerId);
    return known && this.decideFrom(known, check, 'local');
  }

  private decideFrom(known: Known, check: Check, source: Decision['source']): Decision | undefined {
    const { featureKey, requested: wanted } = check;
    const requested = wanted === undefined ? undefined : roundedUnitsOf(wanted);
    // The server says what is wrong with it.
    if (wanted !== undefined && (requested === undefined || requested < 0n)) return undefined;
    const { customer, asOf } = known;
    const feature = customer.features.get(featureKey);
    const time = asOf === undefined ? {} : { asOf };
    if (!feature) {
      const reason = `The customer does not have ${featureKey}.`;
      const named = { customerId: customer.customerId, featureKey };
      return { allowed: false, reason, ...named, reasonCode: customer.otherwise, ...time, source };
    }
    const own = this.ownOf(check, known);
    const owed = this.owedBy(check.customerId, known, feature);
    return { ...decideHere(customer, feature, { requested, own, owed }), ...time, source };
  }

  private ownOf({ customerId, featureKey }: Check, known: Known | undefined): bigint {
    const feature = known?.customer.features.get(featureKey);
    const meter = feature?.meter ?? this.feed?.meterOf(featureKey);
    const toMs = known && feature ? known.countedToMs(feature) : Number.NEGATIVE_INFINITY;
    return this.ownOfMeter([customerId, known?.customer.customerId ?? customerId], meter, toMs);
  }

  /** Tracked under the name of the check, or under the customer's id. */
  private ownOfMeter([name, id]: [string, string], meter: MeterName | undefined, toMs: number): bigint {
    if (!this.ownUsage || meter === undefined) return 0n;
    // mutant: own-usage-not-counted
    const own = this.ownUsage.uncounted(name, meter, toMs);
    return id === name ? own : own + this.ownUsage.uncounted(id, meter, toMs);
  }

  /** The same credits pay for all that it uses. */
  private owedBy(name: string, { customer, countedToMs }: Known, feature: FedFeature): bigint {
    const id = customer.customerId;
    if (feature.creditRate === undefined || !(this.ownUsage?.has(name) || this.ownUsage?.has(id))) return 0n;
    return owedByOthers(customer, feature, (one) => this.ownOfMeter([name, id], one.meter, countedToMs(one)));
  }

  private fallBack(check: Check): Decision {
    const { customerId, featureKey } = check;
    const policy = policyOf(this.options.fallback, featureKey);
    if (policy === 'last_known') {
      const fed = this.feed?.findLast(customerId);
      const decision = fed && this.decideFrom(fed, check, 'fallback');
      if (decision) return decision;
    }
    const last = policy === 'last_known' ? this.known.get(nameOf(check)) : undefined;
    return { ...(last ?? decided({ customerId, featureKey }, policy === 'open')), source: 'fallback' };
  }
}

function feedOf(
  { client, customersMax = 2_000, onError }: EntitlementsOptions,
  ownUsage: OwnUsage | undefined,
): EntitlementFeed {
  const connection = connectionOf(client);
  if (!connection) throw new TypeError('`isLocal` needs a client that `createClient` has made.');
  const reporter = new Reporter(onError ? { onError } : {});
  return new EntitlementFeed({
    url: connection.url,
    headers: { authorization: `Bearer ${connection.apiKey}`, 'user-agent': 'metergate-node/0.1.0' },
    customersMax,
    ownUsage,
    onProblem: (code, message) => reporter.problem(code, message),
  });
}

function nameOf({ customerId, featureKey }: Check): string {
  return JSON.stringify([customerId, featureKey]);
}

function policyOf(fallback: EntitlementsOptions['fallback'], featureKey: string): FallbackPolicy {
  return (typeof fallback === 'object' ? fallback[featureKey] : fallback) ?? 'closed';
}

/** A proxy in between may respond with other JSON: it decides nothing, and is not kept. */
function isDecision(body: unknown): boolean {
  return /* mutant: garbage-decides */ typeof (body as { allowed?: unknown } | null)?.allowed === 'boolean';
}

function noDecision(): ApiError {
  const message = 'The response has the status 200 and is no decision.';
  return new ApiError(message, { code: 'unexpected_response', status: 200 });
}

function isUnavailable(error: unknown): boolean {
  if (!(error instanceof ApiError)) return true;
  const { status, code } = error;
  return status === undefined || status === 429 || status >= 500 || code === 'unexpected_response';
}

function decided(of: { customerId: string; featureKey: string }, allowed: boolean): EntitlementDecision {
  const policy = allowed ? 'open' : 'closed';
  const reason = `The server did not respond; the fallback of this feature is ${policy}.`;
  return { ...of, allowed, reason, reasonCode: allowed ? 'granted' : 'feature_not_included' };
}
