import type { CommitPart } from '../../../infra/ports/engine.ts';
import { OUTCOME } from '../../../infra/ports/idempotency-store.ts';
import { arrivalText, propertyLabel } from '../../../schemas/stored/event-row.ts';
import type { TouchedSpan } from '../../../schemas/stored/frame.ts';
import {
  copyRecord,
  createdAtMs,
  occurredAtMs,
  RECORD_BYTES,
  RECORD_WORDS,
} from '../../../schemas/stored/record.ts';
import { ORDERED_AGGREGATIONS } from '../../../schemas/usage-limits.ts';
import type { CustomerMeter } from '../../registry-entries.ts';
import type { Decided } from '../decided.ts';
import type { CheckedItem } from './check-item.ts';
import { quote } from './quote.ts';

/**
 * The created events of a request as they are written to the log: records, lines (EVENT_COLUMNS), what they
 * touch.
 */
export function framePart(decided: Decided): Omit<CommitPart, 'claim'> {
  const { items, records, times, arrival } = decided;
  const touched = new Map<CustomerMeter, TouchedSpan>();
  const created = new Uint32Array(records.length);
  let lines = '';
  let eventCount = 0;
  for (const { checked, customerMeter, at, outcome, identity } of items) {
    if (outcome !== OUTCOME.created || !customerMeter || !checked) continue;
    const occurredMs = occurredAtMs(times, at);
    copyRecord(records, at * RECORD_WORDS, created, eventCount * RECORD_WORDS);
    eventCount++;
    const line = { customerMeter, checked, identity, arrival: arrival + at };
    lines += lineOf(line, occurredMs, createdAtMs(times, at));
    touch(touched, customerMeter, occurredMs);
  }
  return {
    eventCount,
    records: new Uint8Array(created.buffer, 0, eventCount * RECORD_BYTES),
    lines: Buffer.from(lines),
    touched: [...touched.values()],
  };
}

interface Line {
  customerMeter: CustomerMeter;
  checked: CheckedItem;
  identity: string;
  /** How many events of its millisecond came before it. */
  arrival: number;
}

export function lineOf(line: Line, occurredAtMs: number, createdAtMs: number): string {
  const { customerMeter, checked, identity } = line;
  const values = `${checked.value},${countedValue(line)},${checked.properties.json}`;
  return `[${customerMeter.json},"${identity}",${values},${occurredAtMs},${createdAtMs}]\n`;
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
  customerMeter: CustomerMeter,
  occurredAtMs: number,
): void {
  const span = touched.get(customerMeter);
  if (!span) {
    touched.set(customerMeter, {
      pair: customerMeter.json,
      occurredFromMs: occurredAtMs,
      occurredToMs: occurredAtMs,
    });
    return;
  }
  if (occurredAtMs < span.occurredFromMs) span.occurredFromMs = occurredAtMs;
  if (occurredAtMs > span.occurredToMs) span.occurredToMs = occurredAtMs;
}
