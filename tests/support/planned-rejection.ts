import type { PlannedItem } from './planned-event.ts';
import type { Random } from './random.ts';

/** An item that must be rejected, with the expected code, alone in its batch. */
export function rejectedItem(key: string, customerId: string, nowMs: number, random: Random): PlannedItem {
  const fault = random.pick(FAULTS);
  const sound = { customerId, meterId: 'api_calls', value: 1, idempotencyKey: key };
  return { echoedKey: key, rejection: fault.code, ...fault.spoil(sound, nowMs) };
}

interface SoundItem {
  customerId: string;
  meterId: string;
  value: number;
  idempotencyKey: string;
}

interface Fault {
  code: string;
  /** The faulty item's text, and the key that its result echoes where it is not the item's own. */
  spoil: (sound: SoundItem, nowMs: number) => { json: string; echoedKey?: string };
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Codes: schemas/error-codes.ts. */
const FAULTS: Fault[] = [
  { code: 'invalid_request', spoil: () => ({ json: 'null', echoedKey: '' }) },
  { code: 'invalid_request', spoil: () => ({ json: '[1]', echoedKey: '' }) },
  changed('invalid_request', () => ({ value: '5' })),
  changed('invalid_request', () => ({ value: null })),
  changed('invalid_request', () => ({ customerId: '' })),
  changed('invalid_request', () => ({ meterId: 'm'.repeat(129) })),
  changed('invalid_request', () => ({ occurredAt: 'yesterday' })),
  changed('invalid_request', () => ({ occurredAt: '2026-02-30T00:00:00Z' })),
  changed('invalid_request', () => ({ properties: { user: ['a'] } })),
  changed('invalid_request', () => ({ properties: { user: 'half \ud800 pair' } })),
  { code: 'value_invalid', spoil: (sound) => ({ json: withValue(sound, '999999999999999.9999999999996') }) },
  { code: 'value_invalid', spoil: (sound) => ({ json: withValue(sound, '1000000000000000') }) },
  { code: 'value_invalid', spoil: (sound) => ({ json: withValue(sound, '1e400') }) },
  changed('customer_not_found', () => ({ customerId: 'nobody-here' })),
  changed('event_too_old', (nowMs) => ({ occurredAt: iso(nowMs - 401 * DAY_MS) })),
  changed('event_in_future', (nowMs) => ({ occurredAt: iso(nowMs + 60 * MINUTE_MS) })),
  {
    code: 'idempotency_key_missing',
    spoil: (sound) => ({ json: JSON.stringify({ ...sound, idempotencyKey: undefined }), echoedKey: '' }),
  },
];

function changed(code: string, change: (nowMs: number) => Record<string, unknown>): Fault {
  return { code, spoil: (sound, nowMs) => ({ json: JSON.stringify({ ...sound, ...change(nowMs) }) }) };
}

/** The number in its own text: a double would round it before it is sent. */
function withValue(sound: SoundItem, text: string): string {
  return JSON.stringify({ ...sound, value: 0 }).replace('"value":0', `"value":${text}`);
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
