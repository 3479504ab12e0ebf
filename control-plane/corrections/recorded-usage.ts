import { decimalUnits, unitsText } from '../../schemas/primitives/decimal.ts';
import { exactJson } from '../../schemas/primitives/exact-json.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { FoundEvent } from '../store/read-usage-events.ts';
import type { RecordedUsage } from '../store/usage-corrections.ts';
import { shownProperties } from '../usage/event-page.ts';

/** A stored event as it is written again. */
export function recordedUsage(event: FoundEvent): RecordedUsage {
  const { customerId, meterKey: meterId, properties } = event;
  return {
    customerId,
    meterId,
    value: unitsText(decimalUnits(event.value)),
    occurredAt: timestampText(event.occurredAtMs),
    properties: properties.length === 0 ? null : exactJson(shownProperties(properties)),
  };
}
