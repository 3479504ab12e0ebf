import type { Route } from '../../../schemas/route.ts';
import { ROUTES } from '../../../schemas/routes.ts';
import type { ApiResponse } from '../../support/api.ts';
import type { Random } from '../../support/random.ts';

/** A change to request, the same bytes at every try. */
export interface PlannedChange {
  operationId: string;
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below /api/v1. */
  path: string;
  body?: string;
  /** Of a POST. */
  idempotencyKey?: string;
  /** What the response must be when the change is accepted. */
  status: number;
}

/** What came of one change. */
export interface Outcome {
  change: PlannedChange;
  /** One per try: the audit log has the id of the try that took effect. */
  requestIds: string[];
  response: ApiResponse;
}

export type ChangePlanner = ReturnType<typeof planChanges>;

/**
 * Draws changes of every kind in the route table, of the objects that it knows. `run` distinguishes the names
 * of several planners against one store. Every other change is of a kind that
 * is not `taken` yet, in the order of a shuffled deck: by chance alone a rare one would now and then be left
 * out.
 */
export function planChanges(random: Random, run: string, taken: Set<string>) {
  const dealt = createDeck(random, taken);
  const put = new Map<string, string[]>();
  const known = new Map(Object.keys(NAMES).map((name) => [name, [] as string[]]));
  let drawn = 0;

  /** A key in a list is a name within its own object. */
  function filled(name: string, example: unknown, isListed = false): unknown {
    if (known.has(name)) return random.pick(known.get(name) ?? []);
    if (Array.isArray(example)) return example.map((one) => filled('', one, true));
    if (typeof example === 'object' && example !== null) {
      const values = Object.entries(example).map(([inner, value]) => {
        return [inner, filled(name === 'metadata' ? 'name' : inner, value, isListed)];
      });
      return Object.fromEntries(values);
    }
    if (UNIQUE.has(name) && !isListed) return `${run}-${drawn}`;
    if (typeof example === 'number' && VARIED.has(name)) return 1 + random.below(300);
    return name === 'at' ? random.pick(['now', 'period_end']) : example;
  }

  /** What is taken away was mostly put there before: two names drawn by themselves rarely meet. */
  function pathOf({ method, path }: Route): string {
    const there = put.get(path);
    if (method === 'DELETE' && there?.length && random.chance(PUT_BEFORE_SHARE)) return random.pick(there);
    return path.replace(/\{(\w+)\}/g, (_, name: string) => String(filled(name, '')));
  }

  function plan([operationId, route]: Change): PlannedChange {
    drawn += 1;
    const path = pathOf(route);
    return {
      operationId,
      method: route.method as PlannedChange['method'],
      path: path.replace(/^\/api\/v1/, ''),
      status: route.status,
      ...(route.body ? { body: JSON.stringify(filled('', route.example)) } : {}),
      ...(route.method === 'POST' ? { idempotencyKey: `${run}-${drawn}` } : {}),
    };
  }

  return {
    next(): PlannedChange {
      const possible = CHANGES.filter((one) => needs(one).every((name) => known.get(name)?.length));
      const untried = drawn % 2 === 0 ? dealt(possible) : undefined;
      return plan(untried ?? random.pick(possible.flatMap((one) => Array<Change>(weightOf(one)).fill(one))));
    },
    /** It was accepted. Later changes use the object in its response. */
    taken({ operationId, method, path }: PlannedChange, response: { id?: unknown; key?: unknown }): void {
      taken.add(operationId);
      const template = ROUTE_PATHS.get(operationId);
      if (method === 'PUT' && template !== undefined)
        keepLatest(put, template, `/api/v1${path}`, KNOWN_MAX_ELSE);
      for (const [name, [maker, field]] of Object.entries(NAMES)) {
        if (maker !== operationId) continue;
        keepLatest(known, name, String(response[field]), KNOWN_MAX[name] ?? KNOWN_MAX_ELSE);
      }
    },
  };
}

type Change = readonly [operationId: string, route: Route];

/**
 * Changes nothing; is signed by another, or applies what was; is no change of an object: the funnel,
 * simulations and reservations have no audit log.
 */
const NO_CHANGES = [
  /^((customerTokens|simulations)\.create|\w+\.(query|checkMany)|processor\.\w+Event|funnel\.record)$/,
  /^reservations\./,
  /^entitlements\.consume$/,
  // Of usage: the warehouse of this promise is not there.
  /^usageCorrections\./,
  // Of a customer and a grant: two names drawn by themselves do not meet.
  /^credits\.(void|update)Grant$/,
];

/** Whatever the control plane changes for a key: an operation that is new is among them at once. */
export const CHANGES: readonly Change[] = Object.entries<Route>(ROUTES).filter(([operationId, route]) => {
  return (
    route.plane === 'control' && route.method !== 'GET' && !NO_CHANGES.some((one) => one.test(operationId))
  );
});

const ROUTE_PATHS = new Map(CHANGES.map(([operationId, { path }]) => [operationId, path]));

/** The next that is possible and not accepted yet. It goes to the end of the deck: it may be rejected. */
function createDeck(random: Random, taken: ReadonlySet<string>) {
  const deck = shuffled(CHANGES, random);
  return (possible: readonly Change[]): Change | undefined => {
    const at = deck.findIndex((one) => !taken.has(one[0]) && possible.includes(one));
    const [change] = at < 0 ? [] : deck.splice(at, 1);
    if (change) deck.push(change);
    return change;
  };
}

function shuffled<T>(list: readonly T[], random: Random): T[] {
  const left = [...list];
  return list.flatMap(() => left.splice(random.below(left.length), 1));
}

/** The latest of each name. */
function keepLatest(all: Map<string, string[]>, name: string, value: string, most: number): void {
  const values = all.get(name) ?? [];
  if (values.push(value) > most) values.shift();
  all.set(name, values);
}

/** Names of objects in paths and bodies: the operation that creates one, and the member that names it. */
const NAMES: Record<string, [maker: string, field: 'id' | 'key']> = {
  customerId: ['customers.create', 'id'],
  planId: ['createPlan', 'id'],
  featureKey: ['features.create', 'key'],
  meterId: ['meters.create', 'id'],
  meterKey: ['meters.create', 'key'],
  addonId: ['addons.create', 'id'],
  subscriptionId: ['subscriptions.create', 'id'],
  keyId: ['apiKeys.create', 'id'],
  endpointId: ['createWebhookEndpoint', 'id'],
  deliveryId: ['webhookEndpoints.test', 'id'],
};
/** Few, so that changes of one object meet, and an add-on that is taken away has been attached. */
const KNOWN_MAX: Record<string, number> = { addonId: 2, subscriptionId: 4 };
const KNOWN_MAX_ELSE = 8;
const PUT_BEFORE_SHARE = 0.75;
const UNIQUE = new Set(['key', 'name', 'externalId', 'processorSubscriptionId', 'secret']);
const VARIED = new Set(['value', 'quantity', 'pastDueGraceDays']);

/** Throws for a name that nothing makes: without it a new operation would be left out in silence. */
function needs([operationId, route]: Change): string[] {
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const strange = inPath.find((name) => !(name in NAMES));
  if (strange) throw new Error(`${operationId}: say in NAMES what makes a ${strange}`);
  if (route.body && !route.example) throw new Error(`${operationId} has no example of a body`);
  const inBody = [...JSON.stringify(route.example ?? {}).matchAll(/"(\w+)":/g)].map(([, name = '']) => name);
  return [...inPath, ...inBody.filter((name) => name in NAMES)];
}

/**
 * What ends objects is rare, else there would be nothing to change. An add-on that is to be taken away is
 * seldom attached: it is tried more often.
 */
function weightOf([operationId, route]: Change): number {
  if (operationId === 'subscriptions.removeAddon') return 10;
  const ends = /archive|delete|cancel|revoke/i.test(operationId);
  return ends ? 1 : route.status === 201 ? 4 : 3;
}
