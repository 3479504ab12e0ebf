import { type Api, getPatiently } from '../tests/support/api.ts';
import { numberText } from '../tests/support/exact.ts';

const PATIENCE_MS = 60_000;

/** The events of a customer's meter that a breakdown counts. */
export async function countedEvents(
  api: Api,
  { customer, meterKey }: { customer: string | undefined; meterKey: string },
  consistency = '',
): Promise<number> {
  const path = `/usage/${customer}/${meterKey}/breakdown?dimension=$month&window=all${consistency}`;
  const { body } = await getPatiently(api, path, PATIENCE_MS);
  return eventsIn((body as { breakdown: BreakdownRow[] }).breakdown);
}

export interface BreakdownRow {
  count: unknown;
}

export function eventsIn(breakdown: BreakdownRow[]): number {
  return breakdown.reduce((sum, { count }) => sum + Number(numberText(count)), 0);
}
