import { markForSettlement } from '../../domain/store/settlement-marks.ts';
import { Defect, Rejected } from '../../schemas/failures.ts';
import { decimalUnits } from '../../schemas/primitives/decimal.ts';
import { exactNumber, parseExact } from '../../schemas/primitives/exact-json.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { Budget } from '../../schemas/resources/budgets.ts';
import { changedFields } from '../changes/changed-fields.ts';
import { recordChange } from '../changes/record-change.ts';
import { requireMatch } from '../http/etag.ts';
import { pageOf } from '../http/page.ts';
import type { Handlers, RequestContext } from '../http/request-context.ts';
import { readDecimal } from '../input/read-decimal.ts';
import {
  type BudgetFields,
  type BudgetPlace,
  type BudgetRow,
  deleteBudget,
  findBudget,
  listBudgets,
  putBudget,
} from '../store/budgets.ts';
import { type CustomerRow, lockCustomer } from '../store/customers.ts';
import { findCustomerId } from '../store/find-customer-id.ts';
import { findMeter, type MeterRow } from '../store/meters.ts';
import { customerNotFound } from '../usage/customer-meter.ts';

type BudgetOperation = Extract<keyof Handlers, `budgets.${string}`>;

export const budgetHandlers: Pick<Handlers, BudgetOperation> = {
  'budgets.list': async (context, { params, query }) => {
    const { db, environment } = context;
    const customerId = await knownCustomer(context, params.customerId);
    const { rows, total } = await listBudgets(db, environment, { customerId, ...query });
    return pageOf(rows.map(shownBudget), total, query);
  },

  'budgets.retrieve': async (context, { params }) => {
    const customerId = await knownCustomer(context, params.customerId);
    const { key } = await knownMeter(context, params.meterKey);
    const row = await findBudget(context.db, context.environment, { customerId, meterKey: key });
    return shownBudget(row ?? noBudget(key));
  },

  'budgets.put': async (context, { params, bodyText }) => {
    const fields = readThresholds(bodyText);
    const { customer, meter, row } = await budgetToChange(context, params);
    if (customer.status !== 'active') throw archived();
    const before = row && shownBudget(row);
    const isSame = row && before && changedFields(before, shownBudget({ ...row, ...fields })).length === 0;
    if (isSame) return before;
    return put(context, { customerId: customer.id, meterKey: meter.key }, { before, fields });
  },

  'budgets.delete': async (context, { params }) => {
    const { customer, meter, row } = await budgetToChange(context, params);
    if (!row) return noBudget(meter.key);
    await deleteBudget(context.db, context.environment, row);
    await recordChange(context, { objectId: customer.id, before: shownBudget(row) });
    const place = { customerId: customer.id, meterKey: meter.key };
    await markForSettlement(context.db, context.environment, { ...place, from: new Date(context.nowMs) });
    return {};
  },
};

/** As its caller saw it; the customer is locked. */
async function budgetToChange(
  context: RequestContext,
  names: { customerId: string; meterKey: string },
): Promise<{ customer: CustomerRow; meter: MeterRow; row: BudgetRow | undefined }> {
  const { db, environment } = context;
  const customer = await lockCustomer(db, environment, names.customerId);
  if (!customer) throw customerNotFound(names.customerId);
  const meter = await knownMeter(context, names.meterKey);
  const row = await findBudget(db, environment, { customerId: customer.id, meterKey: meter.key });
  requireMatch(context, row && shownBudget(row));
  return { customer, meter, row };
}

/** Usage of the running period may have reached the new thresholds already. */
async function put(
  context: RequestContext,
  place: BudgetPlace,
  { before, fields }: { before: Budget | undefined; fields: BudgetFields },
): Promise<Budget> {
  const { db, environment, nowMs } = context;
  const now = new Date(nowMs);
  const written = await putBudget(db, environment, { ...place, ...fields, updatedAt: now });
  if (!written) throw new Defect('a budget that was written is missing');
  const after = shownBudget(written);
  await recordChange(context, { objectId: place.customerId, before, after });
  await markForSettlement(db, environment, { ...place, from: now });
  return after;
}

/** From the body's own text: a double would round the numbers. Throws Rejected. */
function readThresholds(bodyText: string): BudgetFields {
  const { soft, hard } = parseExact(bodyText) as { soft?: unknown; hard?: unknown };
  const fields = {
    soft: soft === undefined ? null : readDecimal(soft, 'soft'),
    hard: hard === undefined ? null : readDecimal(hard, 'hard'),
  };
  if (fields.soft === null && fields.hard === null) throw invalid('hard', 'or `soft` is required');
  if (fields.soft !== null && fields.hard !== null && decimalUnits(fields.soft) > decimalUnits(fields.hard)) {
    throw invalid('soft', 'must be at most `hard`');
  }
  return fields;
}

export function shownBudget({ customerId, meterKey, soft, hard, createdAt, updatedAt }: BudgetRow): Budget {
  return {
    customerId,
    meterId: meterKey,
    ...(soft === null ? {} : { soft: exactNumber(soft) }),
    ...(hard === null ? {} : { hard: exactNumber(hard) }),
    createdAt: timestampText(createdAt.getTime()),
    updatedAt: timestampText(updatedAt.getTime()),
  };
}

async function knownCustomer({ db, environment }: RequestContext, name: string): Promise<string> {
  const id = await findCustomerId(db, environment, name);
  if (id === undefined) throw customerNotFound(name);
  return id;
}

async function knownMeter({ db, environment }: RequestContext, name: string): Promise<MeterRow> {
  const meter = await findMeter(db, environment, name);
  if (meter) return meter;
  throw new Rejected('meter_not_found', `There is no meter ${name}.`, { param: 'meterKey' });
}

function archived(): Rejected {
  const message = 'The customer is archived and cannot have budgets.';
  return new Rejected('customer_archived', message, { param: 'customerId' });
}

function invalid(param: string, reason: string): Rejected {
  return new Rejected('invalid_request', `\`${param}\` ${reason}.`, { param });
}

function noBudget(meterKey: string): never {
  throw new Rejected('not_found', `The customer has no budget for ${meterKey}.`, { param: 'meterKey' });
}
