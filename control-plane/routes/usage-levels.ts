import { Rejected } from '../../schemas/failures.ts';
import { exactNumber } from '../../schemas/primitives/exact-json.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { UsageLevel } from '../../schemas/resources/usage-levels.ts';
import { cursorOf, isText, readCursor } from '../http/cursor.ts';
import type { Handlers, RequestContext } from '../http/request-context.ts';
import { findFeature } from '../store/features.ts';
import { type LevelPlace, listUsageLevels, type UsageLevelRow } from '../store/usage-levels.ts';

export const usageLevelHandlers: Pick<Handlers, 'usageLevels.list'> = {
  'usageLevels.list': async (context, { query }) => {
    const { db, environment, nowMs } = context;
    const { above, featureKey, limit, cursor } = query;
    const after = cursor === undefined ? undefined : placeOf(cursor);
    const meterKey = featureKey === undefined ? undefined : await meterOf(context, featureKey);
    const filter = { above: String(above), meterKey, after, now: new Date(nowMs) };
    const rows = await listUsageLevels(db, environment, { ...filter, limit: limit + 1 });
    const last = rows.length > limit ? rows[limit - 1] : undefined;
    return {
      data: rows.slice(0, limit).map(shownLevel),
      ...(last ? { nextCursor: cursorOf([last.share, last.customerId, last.meterKey]) } : {}),
    };
  },
};

async function meterOf({ db, environment }: RequestContext, featureKey: string): Promise<string> {
  const feature = await findFeature(db, environment, featureKey);
  const param = 'featureKey';
  if (!feature) throw new Rejected('feature_not_found', `There is no feature ${featureKey}.`, { param });
  if (feature.meterKey !== null) return feature.meterKey;
  const message = '`featureKey` must be a feature with a meter.';
  throw new Rejected('invalid_request', message, { param });
}

function placeOf(cursor: string): LevelPlace {
  const [share, customerId, meterKey] = readCursor(cursor, isPosition);
  return { share, customerId, meterKey };
}

function isPosition(values: unknown[]): values is [string, string, string] {
  const [share, ...names] = values;
  return names.length === 2 && names.every(isText) && /^\d{1,30}\.\d{6}$/.test(String(share));
}

function shownLevel(row: UsageLevelRow): UsageLevel {
  const { customerId, meterKey, share, current, limit, budget, unit } = row;
  return {
    customerId,
    meterId: meterKey,
    share: Number(share),
    current: exactNumber(current),
    ...(limit === null ? {} : { limit: exactNumber(limit) }),
    ...(budget === null ? {} : { budget: exactNumber(budget) }),
    ...(unit === null ? {} : { unit }),
    periodStart: timestampText(row.periodStart.getTime()),
    periodEnd: timestampText(row.periodEnd.getTime()),
    updatedAt: timestampText(row.updatedAt.getTime()),
  };
}
