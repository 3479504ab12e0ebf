import { notifyChange } from '../../domain/store/notify-change.ts';
import { Defect, Rejected } from '../../schemas/failures.ts';
import { newId } from '../../schemas/primitives/ids.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { Customer, CustomerPatch } from '../../schemas/resources/customers.ts';
import { changedFields } from '../changes/changed-fields.ts';
import { recordChange } from '../changes/record-change.ts';
import { touchEntitlements } from '../entitlements/changes/touch-entitlements.ts';
import { requireMatch } from '../http/etag.ts';
import { pageOf } from '../http/page.ts';
import type { Handlers, RequestContext } from '../http/request-context.ts';
import { readMetadata, shownMetadata } from '../input/read-metadata.ts';
import {
  type CustomerFields,
  type CustomerRow,
  findCustomer,
  insertCustomer,
  listCustomers,
  lockCustomer,
  updateCustomer,
} from '../store/customers.ts';
import { whenTaken } from '../store/unique-violation.ts';

type CustomerOperation = Extract<keyof Handlers, `customers.${string}`>;

export const customerHandlers: Pick<Handlers, CustomerOperation> = {
  'customers.list': async ({ db, environment }, { query }) => {
    const { rows, total } = await listCustomers(db, environment, query);
    return pageOf(rows.map(shownCustomer), total, query);
  },

  'customers.create': async (context, { body, bodyText }) => {
    const { db, environment, nowMs } = context;
    const row = await insertCustomer(db, environment, {
      id: newId('cus'),
      name: body.name,
      email: body.email,
      externalId: body.externalId ?? null,
      processorCustomerId: body.processorCustomerId ?? null,
      metadata: readMetadata(bodyText) ?? null,
      createdAt: new Date(nowMs),
    }).catch(whenTaken(idTaken));
    if (!row) throw new Defect('a customer was not inserted');
    const after = shownCustomer(row);
    const data = { customerId: row.id, customerName: row.name, customerEmail: row.email };
    await recordChange(context, { objectId: row.id, after, events: [{ type: 'customer.created', data }] });
    await notifyChange(db, { kind: 'customer', environment, id: row.id });
    return after;
  },

  'customers.retrieve': async ({ db, environment }, { params }) =>
    shownCustomer((await findCustomer(db, environment, params.customerId)) ?? notFound(params.customerId)),

  'customers.update': async (context, { params, body, bodyText }) => {
    const row = await lockedCustomer(context, params.customerId);
    checkExternalId(row, body);
    const { name = row.name, email = row.email, externalId = row.externalId } = body;
    const metadata = readMetadata(bodyText) ?? row.metadata;
    const { processorCustomerId = row.processorCustomerId } = body;
    const fields = { name, email, externalId, processorCustomerId, metadata, status: row.status };
    return change(context, row, fields);
  },

  'customers.archive': async (context, { params }) => {
    const row = await lockedCustomer(context, params.customerId);
    return change(context, row, { ...row, status: 'archived' });
  },
};

export function shownCustomer(row: CustomerRow): Customer {
  const { id, name, email, externalId, processorCustomerId, metadata, status, createdAt } = row;
  return {
    id,
    name,
    email,
    ...(externalId === null ? {} : { externalId }),
    ...(processorCustomerId === null ? {} : { processorCustomerId }),
    ...shownMetadata(metadata),
    status,
    createdAt: timestampText(createdAt.getTime()),
  };
}

/** As its caller saw it, and locked. */
async function lockedCustomer(context: RequestContext, name: string): Promise<CustomerRow> {
  const row = (await lockCustomer(context.db, context.environment, name)) ?? notFound(name);
  requireMatch(context, shownCustomer(row));
  return row;
}

/** To the same value: nothing is written and no event is emitted. */
async function change(context: RequestContext, row: CustomerRow, fields: CustomerFields): Promise<Customer> {
  const { db, environment } = context;
  const updated = await updateCustomer(db, environment, { ...fields, id: row.id }).catch(whenTaken(idTaken));
  if (!updated) throw new Defect('a locked customer is missing');
  const [before, after] = [shownCustomer(row), shownCustomer(updated)];
  const changes = changedFields(before, after);
  if (changes.length === 0) return after;
  const data = { customerId: row.id, changes };
  await recordChange(context, {
    objectId: row.id,
    before,
    after,
    events: [{ type: 'customer.updated', data }],
  });
  await notifyChange(db, { kind: 'customer', environment, id: row.id });
  if (after.status !== before.status) await touchEntitlements(context, { customerIds: [row.id] });
  return after;
}

function checkExternalId(row: CustomerRow, { externalId }: CustomerPatch): void {
  if (externalId === undefined || row.externalId === null || externalId === row.externalId) return;
  throw new Rejected('invalid_request', '`externalId` cannot be changed once it is set.', {
    param: 'externalId',
  });
}

function idTaken(index: string): Rejected {
  const param = index === 'customers_processor' ? 'processorCustomerId' : 'externalId';
  return new Rejected('already_exists', `Another customer has this ${param}.`, { param });
}

function notFound(name: string): never {
  throw new Rejected('customer_not_found', `There is no customer ${name}.`, { param: 'customerId' });
}
