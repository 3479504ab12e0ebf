import type { Route } from '../../schemas/route.ts';
import { type OperationId, ROUTES } from '../../schemas/routes.ts';

/** One request of an operation, made of its row in the route table and of what one tenant has. */
export interface TenantRequest {
  operationId: OperationId;
  route: Route;
  path: string;
  body: unknown;
}

/** A request in which one name, if any, is that of another tenant's object. */
export interface CrossingRequest extends TenantRequest {
  foreign?: ReferenceName;
}

/** The tenant's objects, by the names that parameters and fields give them. */
export type Objects = Record<ReferenceName, string>;
export type ReferenceName = (typeof REFERENCES)[number];

export const REFERENCES = [
  'customerId',
  'planId',
  'productId',
  'featureKey',
  'meterId',
  'meterKey',
  'addonId',
  'subscriptionId',
  'keyId',
  'eventId',
  'endpointId',
  'deliveryId',
  'processorEventId',
  'simulationId',
  'reservationId',
  'usageEventId',
  'correctionId',
  'grantId',
  'workspaceId',
  'mode',
] as const;

/** A list of them: in a request it has the one. */
const LISTS: Record<string, ReferenceName> = { customerIds: 'customerId' };

/** Names that end like a reference and are the caller's own text. */
const OWN_TEXTS = [
  'idempotencyKey',
  'sessionId',
  'externalId',
  'apiKey',
  'processorSubscriptionId',
  'processorCustomerId',
  'processorPriceIds',
  'objectId',
  // Only ever null.
  'pendingPlanId',
];

/** Query parameters that an operation cannot do without. */
const NEEDED: Record<string, string> = {
  dimension: 'region',
  from: '2026-01-01T00:00:00Z',
  to: '2027-01-01T00:00:00Z',
};

/** Of an operation that would go on: in this time it ends. */
const BRIEF: Partial<Record<OperationId, Record<string, string>>> = {
  'usageLive.stream': { forSeconds: '1' },
  'entitlements.feed': { forSeconds: '3' },
};

/** References that are members of a parameter, or that a parameter gives another name. */
const MEMBERS: Partial<Record<OperationId, Record<string, ReferenceName>>> = {
  'meterUsage.retrieve': { 'filter[customerId]': 'customerId' },
  'usage.findEvents': { id: 'usageEventId' },
};

const EUR = { currency: 'EUR', interval: 'month' };
const SEAT_PRICE = { prices: [{ ...EUR, key: 'seats', model: 'seat', featureKey: '', unitAmount: 1 }] };
const OCTOBER = { from: '2026-10-01T00:00:00Z', to: '2026-11-01T00:00:00Z' };
const USAGE_PRICE = { prices: [{ ...EUR, key: 'use', model: 'per_unit', meterKey: '', unitAmount: 1 }] };

/** Where an operation's example omits a reference that its body may have. */
const FURTHER_BODIES: Partial<Record<OperationId, object[]>> = {
  'features.create': [{ key: 'further', name: 'Further', type: 'metered', meterKey: '' }],
  'subscriptions.create': [{ customerId: '', planId: '', addons: [{ addonId: '', quantity: 1 }] }],
  'subscriptions.update': [{ planId: '' }, { planId: '', at: 'period_end' }],
  'features.update': [{ meterKey: '' }],
  'plans.replacePrices': [SEAT_PRICE],
  'addons.replacePrices': [SEAT_PRICE, USAGE_PRICE],
  'plans.update': [{ productId: '' }],
  'reservations.create': [{ customerId: '', meterId: '', amount: 1 }],
  'entitlements.consume': [{ customerId: '', meterId: '', amount: 1 }],
  'usageCorrections.amend': [{ customerId: '' }, { meterId: '' }],
  'usageCorrections.create': [{ select: { ...OCTOBER, meterId: '' }, action: 'void' }],
  'simulations.create': [
    { ...OCTOBER, ...SEAT_PRICE, customerIds: [] },
    { ...OCTOBER, ...USAGE_PRICE, all: true },
  ],
};

/** What ends an object comes last, so that a request never fails for what was done by one before it. */
const LAST = /\/(archive|cancel|commit|release|void|amend)$/;

/** Of every operation that needs a key or a signature. Throws for a name that is not explained here. */
export function tenantRequests(objects: Objects): TenantRequest[] {
  const all = Object.entries<Route>(ROUTES).filter(([, { access }]) => access !== 'public');
  const requests = all.flatMap(([id, route]) => requestsOf(id as OperationId, route, objects));
  return requests.sort((one, other) => weight(one) - weight(other));
}

/**
 * As {@link tenantRequests}, with one name at a time taken from another tenant: what an operation looks up
 * second is tried as well. Requests that name nothing come once.
 */
export function crossingRequests(own: Objects, theirs: Objects): CrossingRequest[] {
  const mine = tenantRequests(own);
  const allTheirs = tenantRequests(theirs);
  const nameless = mine.filter((request, at) => isSame(request, allTheirs[at]));
  const crossing = REFERENCES.flatMap((foreign) =>
    tenantRequests({ ...own, [foreign]: theirs[foreign] })
      .filter((request, at) => !isSame(request, mine[at]))
      .map((request) => ({ ...request, foreign })),
  );
  return [...nameless, ...crossing];
}

function isSame(one: TenantRequest, other: TenantRequest | undefined): boolean {
  return one.path === other?.path && JSON.stringify(one.body) === JSON.stringify(other.body);
}

function weight({ route }: TenantRequest): number {
  if (route.method === 'GET') return 0;
  if (route.method === 'DELETE') return 3;
  return LAST.test(route.path) ? 2 : 1;
}

function requestsOf(operationId: OperationId, route: Route, objects: Objects): TenantRequest[] {
  const bodies = bodiesOf(operationId, route);
  const path = pathOf(operationId, route, objects);
  return bodies.map((body) => ({ operationId, route, path, body: withObjects(body, objects) }));
}

function bodiesOf(operationId: OperationId, route: Route): unknown[] {
  if (!route.body) return [undefined];
  if (!route.example) throw new Error(`${operationId} has a body and no example.`);
  const bodies = [route.example, ...(FURTHER_BODIES[operationId] ?? [])];
  const used = new Set(bodies.flatMap(fieldNames));
  for (const name of schemaNames(route.body).filter((field) => isReference(operationId, field))) {
    if (!used.has(name)) throw new Error(`No body of ${operationId} names its ${name}: see FURTHER_BODIES.`);
  }
  return bodies;
}

function pathOf(operationId: OperationId, { path, query }: Route, objects: Objects): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    return encodeURIComponent(objectNamed(operationId, name, objects));
  });
  const search = new URLSearchParams();
  for (const name of Object.keys(query.properties)) {
    const isNeeded = query.required?.includes(name) && !('default' in (query.properties[name] ?? {}));
    const listed = LISTS[name];
    if (listed) search.set(name, objects[listed]);
    else if (isReference(operationId, name)) search.set(name, objectNamed(operationId, name, objects));
    else if (isNeeded) search.set(name, NEEDED[name] ?? unknown(operationId, name));
  }
  for (const [name, reference] of Object.entries(MEMBERS[operationId] ?? {})) {
    search.set(name, objects[reference]);
  }
  for (const [name, value] of Object.entries(BRIEF[operationId] ?? {})) search.set(name, value);
  return search.size === 0 ? filled : `${filled}?${search}`;
}

function objectNamed(operationId: OperationId, name: string, objects: Objects): string {
  return Object.hasOwn(objects, name) ? objects[name as ReferenceName] : unknown(operationId, name);
}

function isReference(operationId: OperationId, name: string): boolean {
  if (REFERENCES.some((known) => known === name)) return name !== 'mode';
  if (Object.hasOwn(LISTS, name)) return true;
  if (!/(Id|Key)s?$/.test(name) || OWN_TEXTS.includes(name)) return false;
  return unknown(operationId, name);
}

function unknown(operationId: OperationId, name: string): never {
  throw new Error(`${operationId} takes \`${name}\`: tenant-requests.ts does not know what it names.`);
}

/** The same value with the tenant's own objects wherever a field names one. */
function withObjects(value: unknown, objects: Objects): unknown {
  if (Array.isArray(value)) return value.map((item) => withObjects(item, objects));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => {
    const listed = LISTS[name];
    if (listed) return [name, [objects[listed]]];
    const isNamed = name !== 'mode' && Object.hasOwn(objects, name);
    return [name, isNamed ? objects[name as ReferenceName] : withObjects(inner, objects)];
  });
  return Object.fromEntries(entries);
}

function fieldNames(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...fieldNames(inner)]);
}

/** Names of all properties that a JSON Schema speaks of, at any depth. */
function schemaNames(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {} } = schema as { properties?: object };
  const deeper = Object.values(schema).flatMap(schemaNames);
  return [...Object.keys(properties), ...deeper];
}
