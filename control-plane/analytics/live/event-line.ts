import { exactJson, numberText, parseExact } from '../../../schemas/primitives/exact-json.ts';
import { shownEvent } from '../../usage/event-page.ts';

/** Whose event a line has, without reading all of it. */
export interface LineOwner {
  environment: string;
  customerId: string;
  meterKey: string;
}

const TEXT = '"((?:[^"\\\\]|\\\\.)*)"';
const HEAD = new RegExp(`^\\[${TEXT},${TEXT},${TEXT},`);

/** The environment is text without escapes: an id and a mode. Two quotes enclose it. */
export function environmentIn(line: Buffer): string {
  return line.toString('latin1', 2, line.indexOf('"', 2));
}

export function ownerIn(line: Buffer): LineOwner | undefined {
  const [, environment, customer, meter] = HEAD.exec(line.toString()) ?? [];
  if (environment === undefined || customer === undefined || meter === undefined) return undefined;
  return { environment, customerId: text(customer), meterKey: text(meter) };
}

/** As the list of events shows it, as JSON without a line break. */
export function eventJson(line: Buffer): string {
  const [, customerId, meterKey, id, , value, , properties, occurredAt, createdAt] = parseExact(
    line.toString(),
  ) as [string, string, string, string, string, string, string, Record<string, string>, string, string];
  const event = {
    id,
    value: numberText(value) ?? '0',
    occurredAtMs: Number(numberText(occurredAt)),
    createdAtMs: Number(numberText(createdAt)),
    properties: Object.entries(properties),
    change: 0,
    isVoided: false,
  };
  return exactJson(shownEvent(event, { customerId, meterKey }));
}

function text(escaped: string): string {
  return JSON.parse(`"${escaped}"`) as string;
}
