import type { Rejection } from '../../schemas/error-codes.ts';
import { type EventPath, valueAt } from '../../schemas/primitives/event-path.ts';
import { USAGE_LIMITS } from '../../schemas/usage-limits.ts';
import { invalid, isUnstorable } from '../engine/js/json-scalars.ts';
import { markedNumber } from '../engine/js/parse.ts';
import { quote } from '../engine/js/quote.ts';
import type { CloudEvent } from './cloud-event.ts';
import { eventKeyJson } from './event-key.ts';
import type { Listener } from './listener.ts';

/** True if the meter counts this event: every filter has one of its values. */
export function passes(event: CloudEvent, { filters }: Listener): boolean {
  return (
    filters.length === 0 ||
    filters.every(({ path, values }) => {
      const text = scalarText(valueAt(event.data, path));
      return text !== undefined && values.has(text);
    })
  );
}

/** An item of a usage batch, as JSON: what the event adds to one meter. Numbers keep the digits sent. */
export function usageItem(event: CloudEvent, listener: Listener): string | Rejection {
  const value = listener.value === undefined ? '1' : numberAt(event.data, listener.value);
  if (typeof value !== 'string') return value;
  const properties = propertiesOf(event, listener);
  if (typeof properties !== 'string') return properties;
  const time = event.time === undefined ? '' : `,"occurredAt":${quote(event.time)}`;
  return (
    `{"idempotencyKey":${eventKeyJson(event, listener.meterKey)},"customerId":${quote(event.subject)},` +
    `"meterId":${listener.meterKeyJson},"value":${value}${time}${properties}}`
  );
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const NUMBER_CHARS_MAX = 400;

/** The text of a number; also of one that was sent as a text, as some gateways do. */
function numberAt(data: unknown, path: EventPath): string | Rejection {
  const value = valueAt(data, path);
  const text = typeof value === 'string' ? (markedNumber(value) ?? value.trim()) : value;
  if (typeof text === 'number') return String(text);
  if (typeof text === 'string' && text.length <= NUMBER_CHARS_MAX && JSON_NUMBER.test(text)) return text;
  return invalid(`\`data\` has no number at \`${shownPath(path)}\`.`, 'data');
}

function propertiesOf({ data }: CloudEvent, { properties }: Listener): string | Rejection {
  let json = '';
  for (const { name, nameJson, path } of properties) {
    const value = valueAt(data, path);
    const text = scalarText(value);
    if (text === undefined) continue; // like null: the property is absent
    if (text.length > USAGE_LIMITS.propertyValueCharsMax || isUnstorable(text)) {
      const most = USAGE_LIMITS.propertyValueCharsMax;
      const message = `The property \`${name}\` is text of at most ${most} characters without U+0000.`;
      return invalid(message, 'data');
    }
    const isText = typeof value === 'string' && markedNumber(value) === undefined;
    json += `${json === '' ? '' : ','}${nameJson}:${isText ? quote(text) : text}`;
  }
  return json === '' ? '' : `,"properties":{${json}}`;
}

/** Of a text, a number or a boolean; undefined for all else. */
function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return markedNumber(value) ?? value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

function shownPath(path: EventPath): string {
  return path.reduce<string>((text, step) => {
    return text + (typeof step === 'number' ? `[${step}]` : /^\w+$/.test(step) ? `.${step}` : `['${step}']`);
  }, '$');
}
