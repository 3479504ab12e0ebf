/** An event as a test gives it; its line is what the ingest tier writes (schemas/stored/event-row.ts). */
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
    event.value ?? '1',
    JSON.stringify(event.uniqueValue ?? ''),
    JSON.stringify(event.properties ?? {}),
    occurredAt,
    `${event.createdAtMs ?? TEST_NOW_MS}]\n`,
  ].join(',');
}

export function eventLines(events: TestEvent[]): Buffer {
  return Buffer.from(events.map(eventLine).join(''));
}
