import { Defect, Rejected } from '../../schemas/failures.ts';
import { parseExact } from '../../schemas/primitives/exact-json.ts';
import { newId } from '../../schemas/primitives/ids.ts';
import { type NewOverride, OVERRIDES_MAX, type Override } from '../../schemas/resources/overrides.ts';
import { changedFields } from '../changes/changed-fields.ts';
import { recordChange } from '../changes/record-change.ts';
import { touchEntitlements } from '../entitlements/changes/touch-entitlements.ts';
import { requireMatch } from '../http/etag.ts';
import { pageOf } from '../http/page.ts';
import type { Handlers, RequestContext } from '../http/request-context.ts';
import { readFeatureValue, readResets } from '../input/read-entitlement-values.ts';
import { shownOverride } from '../overrides/shown-override.ts';
import { type CustomerRow, lockCustomer } from '../store/customers.ts';
import { type FeatureRow, findFeature, shareFeature } from '../store/features.ts';
import { findCustomerId } from '../store/find-customer-id.ts';
import {
  countOverrides,
  deleteOverride,
  findOverride,
  listOverrides,
  type OverrideFields,
  type OverrideRow,
  putOverride,
} from '../store/overrides.ts';
import { givenTime } from '../subscriptions/read-times.ts';
import { customerNotFound } from '../usage/customer-meter.ts';

type OverrideOperation = Extract<keyof Handlers, `overrides.${string}`>;

export const overrideHandlers: Pick<Handlers, OverrideOperation> = {
  'overrides.list': async (context, { params, query }) => {
    const { db, environment } = context;
    const customerId = await knownCustomer(context, params.customerId);
    const { rows, total } = await listOverrides(db, environment, { customerId, ...query });
    return pageOf(rows.map(shownOverride), total, query);
  },

  'overrides.retrieve': async (context, { params }) => {
    const { db, environment } = context;
    const customerId = await knownCustomer(context, params.customerId);
    const feature = await findFeature(db, environment, params.featureKey);
    if (!feature) throw featureNotFound(params.featureKey);
    const row = await findOverride(db, environment, { customerId, featureId: feature.id });
    if (!row) throw noOverride(feature);
    return shownOverride(row);
  },

  'overrides.put': async (context, { params, body, bodyText }) => {
    const expiresAt = expiryOf(body, context.nowMs);
    const { customer, feature, row } = await overrideToChange(context, params);
    if (customer.status !== 'active') throw archived();
    const { value } = parseExact(bodyText) as { value: unknown };
    const resets = readResets(feature, body);
    const given = { resets, expiresAt, reason: body.reason ?? null };
    const fields = { ...readFeatureValue(feature, value, 'value'), ...given };
    if (!row) await checkOverrideCount(context, customer);
    return put(context, { customer, feature, row }, fields);
  },

  'overrides.delete': async (context, { params }) => {
    const { customer, feature, row } = await overrideToChange(context, params);
    if (!row) throw noOverride(feature);
    await deleteOverride(context.db, context.environment, row);
    await record(context, customer, { objectId: row.id, before: shownOverride(row) });
    return {};
  },
};

/** The existing override, with its customer and feature. */
interface Overridden {
  customer: CustomerRow;
  feature: FeatureRow;
  row: OverrideRow | undefined;
}

/** As its caller saw it; the customer is locked, and the feature is locked against deletion. */
async function overrideToChange(
  context: RequestContext,
  names: { customerId: string; featureKey: string },
): Promise<Overridden> {
  const { db, environment } = context;
  const customer = await lockCustomer(db, environment, names.customerId);
  if (!customer) throw customerNotFound(names.customerId);
  const feature = await shareFeature(db, environment, names.featureKey);
  if (!feature) throw featureNotFound(names.featureKey);
  const row = await findOverride(db, environment, { customerId: customer.id, featureId: feature.id });
  requireMatch(context, row && shownOverride(row));
  return { customer, feature, row };
}

/** To the same value: nothing is written and no event is emitted. */
async function put(
  context: RequestContext,
  { customer, feature, row }: Overridden,
  fields: OverrideFields,
): Promise<Override> {
  const { db, environment, nowMs } = context;
  const before = row && shownOverride(row);
  if (row && before && changedFields(before, shownOverride({ ...row, ...fields })).length === 0)
    return before;
  const written = await putOverride(db, environment, {
    id: newId('ovr'),
    customerId: customer.id,
    featureId: feature.id,
    ...fields,
    updatedAt: new Date(nowMs),
  });
  if (!written) throw new Defect('an override is in another environment than its customer');
  const after = shownOverride(written);
  await record(context, customer, { objectId: written.id, before, after });
  return after;
}

type OverrideChange = { objectId: string; before?: Override | undefined; after?: Override };

async function record(context: RequestContext, { id }: CustomerRow, change: OverrideChange): Promise<void> {
  await recordChange(context, change);
  await touchEntitlements(context, { customerIds: [id] });
}

function expiryOf({ expiresAt }: NewOverride, nowMs: number): Date | null {
  const at = givenTime(expiresAt) ?? null;
  if (at === null || at.getTime() > nowMs) return at;
  throw new Rejected('invalid_request', '`expiresAt` must be in the future.', { param: 'expiresAt' });
}

/** Throws Rejected. */
async function checkOverrideCount({ db, environment }: RequestContext, { id }: CustomerRow): Promise<void> {
  if ((await countOverrides(db, environment, id)) < OVERRIDES_MAX) return;
  const limit = `A customer can have at most ${OVERRIDES_MAX} overrides, including expired ones.`;
  throw new Rejected('invalid_request', `${limit} Delete one first.`, { param: 'customerId' });
}

async function knownCustomer({ db, environment }: RequestContext, name: string): Promise<string> {
  const id = await findCustomerId(db, environment, name);
  if (id === undefined) throw customerNotFound(name);
  return id;
}

function archived(): Rejected {
  return new Rejected('customer_archived', 'The customer is archived and cannot have overrides.', {
    param: 'customerId',
  });
}

function featureNotFound(name: string): Rejected {
  return new Rejected('feature_not_found', `There is no feature ${name}.`, { param: 'featureKey' });
}

function noOverride({ key }: FeatureRow): Rejected {
  return new Rejected('not_found', `The customer has no override of ${key}.`, { param: 'featureKey' });
}
