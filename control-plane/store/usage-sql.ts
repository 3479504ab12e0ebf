import type { CustomerMeter } from '../usage/customer-meter.ts';

/**
 * Rows of one customer and meter, by the beginning of either table's sort key. Its values: {@link
 * customerMeterParams}.
 */
export const OF_CUSTOMER_METER = `environment = {environment:String} AND customer_id = {customer:String}
    AND meter_key = {meter:String}`;

export function customerMeterParams({
  environment,
  customerId,
  meter,
}: CustomerMeter): Record<string, string> {
  return { environment, customer: customerId, meter: meter.key };
}
