import { Rejected } from '../../schemas/failures.ts';
import { newId } from '../../schemas/ids.ts';
import type { Meter, NewMeter } from '../../schemas/resources/meters.ts';
import { exactNumber, parseExact } from '../../schemas/rules/exact-json.ts';
import { timestampText } from '../../schemas/rules/timestamp.ts';
import { pageOf, sliceOf } from '../page.ts';
import { readDecimal } from '../read-decimal.ts';
import type { Handlers } from '../request-context.ts';
import { countMeters, insertMeter, listMeters, type MeterRow } from '../store/meters.ts';
import { notifyChange } from '../store/notify-change.ts';

export const meterHandlers: Pick<Handlers, 'meters.list' | 'meters.create'> = {
  'meters.list': async ({ db, environment }, { query }) => {
    const total = await countMeters(db, environment);
    const rows = await listMeters(db, environment, sliceOf(query));
    return pageOf(rows.map(shown), total, query);
  },

  'meters.create': async ({ db, environment }, { body, bodyText }) => {
    checkKind(body);
    const { key, name, aggregation, property = null, unit = null } = body;
    const rates = ratesOf(bodyText);
    const row = await insertMeter(db, environment, {
      id: newId('meter'),
      key,
      name,
      aggregation,
      property,
      unit,
      ...rates,
    });
    if (!row) throw new Rejected('already_exists', 'Another meter has this key.', { param: 'key' });
    await notifyChange(db, { kind: 'meter', environment, id: row.id });
    return shown(row);
  },
};

function checkKind({ aggregation, property, creditRate, creditRates }: NewMeter): void {
  if (aggregation === 'unique' && property === undefined) {
    throw invalid('property', 'is required: the property whose different values are counted');
  }
  if (aggregation !== 'unique' && property !== undefined) throw invalid('property', 'is for unique meters');
  if (aggregation === 'sum' || aggregation === 'count') return;
  if (creditRate !== undefined) throw invalid('creditRate', 'is for sum and count meters');
  if (creditRates !== undefined) throw invalid('creditRates', 'is for sum and count meters');
}

/** From the body's own text: a double would round 0.1000000000000001. */
function ratesOf(bodyText: string): Pick<MeterRow, 'creditRate' | 'creditRates'> {
  const { creditRate, creditRates } = parseExact(bodyText) as Partial<NewMeter>;
  const rates = Object.entries(creditRates?.rates ?? {}).map(([value, rate]) => {
    return [value, readDecimal(rate, `creditRates.rates.${value}`)];
  });
  return {
    creditRate: creditRate === undefined ? null : readDecimal(creditRate, 'creditRate'),
    creditRates: creditRates ? { property: creditRates.property, rates: Object.fromEntries(rates) } : null,
  };
}

function invalid(param: string, reason: string): Rejected {
  return new Rejected('invalid_request', `\`${param}\` ${reason}.`, { param });
}

function shown({ property, unit, creditRate, creditRates, createdAt, ...rest }: MeterRow): Meter {
  return {
    ...rest,
    ...(property === null ? {} : { property }),
    ...(unit === null ? {} : { unit }),
    ...(creditRate === null ? {} : { creditRate: exactNumber(creditRate) }),
    ...(creditRates === null ? {} : { creditRates: shownRates(creditRates) }),
    createdAt: timestampText(createdAt.getTime()),
  };
}

function shownRates({
  property,
  rates,
}: NonNullable<MeterRow['creditRates']>): NonNullable<Meter['creditRates']> {
  const shownRate = ([value, rate]: [string, string]) => [value, exactNumber(rate)];
  return { property, rates: Object.fromEntries(Object.entries(rates).map(shownRate)) };
}
