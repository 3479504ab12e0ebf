import type { Pair } from '../usage/customer-meter.ts';

/** Rows of one pair, by the beginning of either table's sort key. Its values: {@link pairParams}. */
export const OF_PAIR = `environment = {environment:String} AND customer_id = {customer:String}
    AND meter_key = {meter:String}`;

export function pairParams({ environment, customerId, meter }: Pair): Record<string, string> {
  return { environment, customer: customerId, meter: meter.key };
}
