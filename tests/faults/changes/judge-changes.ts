import { isDeepStrictEqual } from 'node:util';
import type { Outcome } from './plan-changes.ts';
import type { AuditEntry, Snapshot, StoredChanges } from './stored-changes.ts';

/**
 * How stored data differs from the responses, and from itself: half a change, one that is lost, one
 * that came twice. A sentence for each.
 */
export function judgeChanges(outcomes: readonly Outcome[], stored: StoredChanges): string[] {
  // A budget has no id: it is recorded of its customer.
  const own = { ...stored, entries: stored.entries.filter(({ action }) => !action.startsWith('budgets.')) };
  return [
    ...responsesWithoutChange(outcomes, stored),
    ...rowsWithoutEntry(own),
    ...entriesWithoutRow(own),
    ...unpairedEvents(stored),
    ...brokenHistories(own),
  ];
}

/** Each change that has a response took effect once, or was rejected and left nothing. */
function responsesWithoutChange(outcomes: readonly Outcome[], { entries }: StoredChanges): string[] {
  const byRequest = groupedBy(entries, ({ requestId }) => requestId);
  const actions = new Set(entries.map(({ action, objectId }) => `${action} ${objectId}`));
  return outcomes.flatMap(({ change, requestIds, response }) => {
    const effects = requestIds.flatMap((id) => byRequest.get(id) ?? []);
    const times = new Set(effects.map(({ requestId }) => requestId)).size;
    const named = `${change.operationId} ${change.path}`;
    const isPost = change.idempotencyKey !== undefined;
    if (response.status >= 400) {
      // A DELETE whose response was lost finds nothing any more when it is sent again.
      return times > 0 && (isPost || requestIds.length === 1)
        ? [`${named} was rejected and took effect`]
        : [];
    }
    if (isPost && times > 1) return [`${named} took effect ${times} times`];
    const { id } = (response.body ?? {}) as { id?: string };
    if (change.status === 201) {
      const made = effects.some(({ objectId }) => objectId === id);
      return made ? [] : [`${named} returned ${response.status} with ${id}, and that is not recorded`];
    }
    if (times > 0 || id === undefined || !CERTAIN.test(change.operationId)) return [];
    // Another change had done the same before: nothing was left to change.
    return actions.has(`${change.operationId} ${id}`) ? [] : [`${named} succeeded and left nothing`];
  });
}

/** Changes that cannot have found everything as it was to be, unless the same was done before. */
const CERTAIN = /\.(update|archive|publish|cancel|rotate)$/;

function rowsWithoutEntry({ entries, rows }: StoredChanges): string[] {
  const made = groupedBy(
    entries.filter(({ action, before }) => before === null && !SENDS.test(action)),
    ({ objectId }) => objectId,
  );
  return rows.flatMap((id) => {
    const times = made.get(id)?.length ?? 0;
    return times === 1 ? [] : [`${id} is there and its making is recorded ${times} times`];
  });
}

/** Sends something to an endpoint, and changes nothing of it. */
const SENDS = /\.(test|replay)$/;

function entriesWithoutRow({ entries, existing }: StoredChanges): string[] {
  const deleted = new Set(entries.filter(({ after }) => after === null).map(({ objectId }) => objectId));
  const made = entries.filter(({ before, objectId }) => before === null && OURS.test(objectId));
  return made.flatMap(({ action, objectId }) => {
    return existing.has(objectId) === deleted.has(objectId)
      ? [`${action} ${objectId} is recorded and the row is not so`]
      : [];
  });
}

/** A product's id may be the caller's own. */
const OURS = /^(cus|plan|feat|meter|addon|sub|grant|key|we)_[a-z2-7]{26}$/;

/** Each change has emitted its events, at its own time, and nothing else has emitted any. */
function unpairedEvents({ entries, events }: StoredChanges): string[] {
  // What becomes of entitlements follows in its own time, and is judged by itself.
  const own = events.filter(({ type }) => type !== 'entitlement.changed');
  const emitted = countsOf(own.map(({ type, objectId, at }) => `${type} of ${objectId} at ${at}`));
  const due = countsOf(
    entries.flatMap((entry) => eventsDue(entry).map(([type, id]) => `${type} of ${id} at ${entry.at}`)),
  );
  const all = new Set([...emitted.keys(), ...due.keys()]);
  return [...all].flatMap((one) => {
    const [is, ought] = [emitted.get(one) ?? 0, due.get(one) ?? 0];
    return is === ought ? [] : [`${one} was emitted ${is} times, and has to be ${ought} times`];
  });
}

type Due = Array<[type: string, objectId: string]>;

/** The webhook events of each change: schemas/events.ts. */
function eventsDue({ action, objectId, before, after }: AuditEntry): Due {
  if (objectId.startsWith('sub_')) return eventsOfSubscription(objectId, before, after);
  if (action === 'createPlan') return objectId.startsWith('plan_') ? [['plan.created', objectId]] : [];
  const types = action === 'webhookEndpoints.test' ? [String(after?.type)] : (EVENTS_OF[action] ?? []);
  return types.map((type) => [type, objectId]);
}

const EVENTS_OF: Record<string, string[]> = {
  'customers.create': ['customer.created'],
  'customers.update': ['customer.updated'],
  'customers.archive': ['customer.updated'],
  'credits.grant': ['credit.granted'],
  'plans.update': ['plan.updated'],
  'plans.replaceEntitlements': ['plan.updated'],
  'plans.replacePrices': ['plan.updated'],
  'plans.replaceCreditGrants': ['plan.updated'],
  'credits.grantRecurring': ['credit.granted'],
  'plans.publish': ['plan.published'],
  'plans.archive': ['plan.archived'],
  'features.update': ['feature.updated'],
  'features.delete': ['feature.deleted'],
};

function eventsOfSubscription(id: string, before: Snapshot | null, after: Snapshot | null): Due {
  const customer: Due = [['customer.updated', String(after?.customerId)]];
  if (before === null) return [['subscription.created', id], ...customer];
  if (before.status !== 'canceled' && after?.status === 'canceled') {
    return [['subscription.canceled', id], ...customer];
  }
  const ignored = { metadata: null };
  return isDeepStrictEqual({ ...before, ...ignored }, { ...after, ...ignored })
    ? []
    : [['subscription.updated', id]];
}

/** What an object was before a change is what it was after the one before. */
function brokenHistories({ entries }: StoredChanges): string[] {
  const whole = entries.filter(
    ({ action, objectId }) =>
      OURS.test(objectId) && !/(Entitlements|Prices|CreditGrants)$/.test(action) && !SENDS.test(action),
  );
  return [...groupedBy(whole, ({ objectId }) => objectId)].flatMap(([objectId, history]) => {
    return history.slice(1).flatMap(({ action, before }, at) => {
      return isDeepStrictEqual(settled(before), settled(history[at]?.after ?? null))
        ? []
        : [`${objectId}: ${action} found what no change had left: ${JSON.stringify(before)}`];
    });
  });
}

/**
 * Without what other changes move (those of a plan's entitlements, its name, the use of a key), and what only
 * the response of a rotation shows.
 */
function settled(snapshot: Snapshot | null): Snapshot {
  return {
    ...snapshot,
    version: null,
    updatedAt: null,
    planName: null,
    lastUsedAt: null,
    previousSecretUntil: null,
  };
}

function groupedBy<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const group = groups.get(keyOf(one));
    if (group) group.push(one);
    else groups.set(keyOf(one), [one]);
  }
  return groups;
}

function countsOf(keys: string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}
