import type { CommitPart } from '../../../infra/ports/engine.ts';
import { OUTCOME } from '../../../infra/ports/idempotency-store.ts';
import type { ChangeRows } from '../../../schemas/stored/change-rows.ts';
import { arrivalText, propertyLabel } from '../../../schemas/stored/event-row.ts';
import type { TouchedSpan } from '../../../schemas/stored/frame.ts';
import { copyRecord, occurredAtMs, RECORD_BYTES, RECORD_WORDS } from '../../../schemas/stored/record.ts';
import { voidedText } from '../../../schemas/stored/row-lines.ts';
import { changeText } from '../../../schemas/stored/touched-rows.ts';
import { ORDERED_AGGREGATIONS } from '../../../schemas/usage-limits.ts';
import type { CustomerMeter } from '../../registry-entries.ts';
import type { Decided } from '../decided.ts';
import type { CheckedItem } from './check-item.ts';
import { quote } from './quote.ts';

/**
 * The created events of a request as they are written to the log: records, short lines, which customer and
 * meter each is of, and what they touch.
 */
export function framePart(decided: Decided): Omit<CommitPart, 'claim'> {
  const { items, records, times, arrival, change } = decided;
  const ofChange = changeText(change);
  const touched = new Map<CustomerMeter, TouchedSpan>();
  const numberOf = new Map<CustomerMeter, number>();
  const created = new Uint32Array(records.length);
  const numbers = new Uint16Array(items.length);
  let lines = '';
  let eventCount = 0;
  for (const { checked, customerMeter, at, outcome } of items) {
    if (outcome !== OUTCOME.created || !customerMeter || !checked) continue;
    copyRecord(records, at * RECORD_WORDS, created, eventCount * RECORD_WORDS);
    touch(touched, { customerMeter, ofChange }, occurredAtMs(times, at));
    const number = numberOf.get(customerMeter) ?? numberOf.size;
    numberOf.set(customerMeter, number);
    numbers[eventCount++] = number;
    lines += lineOf({ customerMeter, checked, arrival: arrival + at, change });
  }
  return {
    eventCount,
    records: new Uint8Array(created.buffer, 0, eventCount * RECORD_BYTES),
    lines: Buffer.from(lines),
    numbers: numbers.subarray(0, eventCount),
    touched: [...touched.values()],
  };
}

interface Line {
  customerMeter: CustomerMeter;
  checked: CheckedItem;
  /** How many events of its millisecond came before it. */
  arrival: number;
  change: ChangeRows | undefined;
}

/** A short line (schemas/stored/row-lines.ts). */
export function lineOf(line: Line): string {
  const { checked, change } = line;
  const voided = change?.voids ? voidedText(checked.idempotencyKey) : '';
  return `${voided}${checked.value},${countedValue(line)},${checked.properties.json}\n`;
}

/** '=' keeps an empty property apart from a missing one, which a `unique` meter does not count. */
function countedValue({ customerMeter: { meter }, checked: { properties }, arrival }: Line): string {
  if (ORDERED_AGGREGATIONS.has(meter.aggregation)) return `"${arrivalText(arrival)}"`;
  if (meter.property === undefined) return '""';
  const stored = properties.values[properties.keys.indexOf(meter.property)];
  return stored === undefined ? '""' : quote(`=${propertyLabel(stored)}`);
}

function touch(
  touched: Map<CustomerMeter, TouchedSpan>,
  { customerMeter, ofChange }: { customerMeter: CustomerMeter; ofChange: string },
  occurredAtMs: number,
): void {
  const span = touched.get(customerMeter);
  if (!span) {
    touched.set(customerMeter, {
      pair: customerMeter.json + ofChange,
      occurredFromMs: occurredAtMs,
      occurredToMs: occurredAtMs,
    });
    return;
  }
  if (occurredAtMs < span.occurredFromMs) span.occurredFromMs = occurredAtMs;
  if (occurredAtMs > span.occurredToMs) span.occurredToMs = occurredAtMs;
}
