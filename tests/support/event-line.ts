/** An event as a test gives it. */
export interface TestEvent {
  environment?: string;
  customerId?: string;
  meterKey?: string;
  id: string;
  /** A plain decimal. */
  value?: string;
  uniqueValue?: string;
  properties?: Record<string, string>;
  occurredAtMs?: number;
  createdAtMs?: number;
}

export const TEST_NOW_MS = Date.UTC(2026, 10, 21, 12, 30);

/** As `rowLines` gives it (schemas/stored/event-row.ts). */
export function eventLine(event: TestEvent): string {
  const texts = [
    event.environment ?? 'ws_a:live',
    event.customerId ?? 'cus_a',
    event.meterKey ?? 'calls',
    event.id,
    '18446744073709551615',
  ];
  const occurredAt = event.occurredAtMs ?? TEST_NOW_MS;
  return [
    `[${texts.map((text) => JSON.stringify(text)).join(',')}`,
    shortLine(event).trimEnd(),
    occurredAt,
    `${event.createdAtMs ?? TEST_NOW_MS}]\n`,
  ].join(',');
}

/** As the ingest tier writes it (schemas/stored/row-lines.ts). */
export function shortLine({ value = '1', uniqueValue = '', properties = {} }: TestEvent): string {
  return `${value},${JSON.stringify(uniqueValue)},${JSON.stringify(properties)}\n`;
}

export function eventLines(events: TestEvent[]): Buffer {
  return Buffer.from(events.map(eventLine).join(''));
}
