import { createHash } from 'node:crypto';
import { USAGE_LIMITS } from '../../schemas/usage-limits.ts';
import { quote } from '../engine/js/quote.ts';

/** What needs an escape in JSON, and the control characters that keys must not contain. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const SPECIAL = /["\\\u0000-\u001f\u007f-\u009f\ud800-\udfff]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f]/;

/** Which event it is. */
interface EventIdentity {
  source: string;
  id: string;
}

/**
 * The idempotency key of the usage that one meter counts of an event, which `source` and `id` identify. With
 * both lengths in front no two events have the same one: `ce:7:3:/orders:o-1:tokens`. One that would be too
 * long for a key, or holds control characters, is the SHA-256 of the same three texts.
 */
export function eventKey({ source, id }: EventIdentity, meterKey: string): string {
  const text = keyText({ source, id }, meterKey);
  if (text.length <= USAGE_LIMITS.idempotencyKeyCharsMax && !CONTROL_CHARACTERS.test(text)) return text;
  const hash = createHash('sha256')
    .update(JSON.stringify([source, id, meterKey]))
    .digest('hex');
  return `ce:sha256:${hash}`;
}

/** The same as JSON. */
export function eventKeyJson(event: EventIdentity, meterKey: string): string {
  const text = keyText(event, meterKey);
  const isPlain = text.length <= USAGE_LIMITS.idempotencyKeyCharsMax && !SPECIAL.test(text);
  return isPlain ? `"${text}"` : quote(eventKey(event, meterKey));
}

function keyText({ source, id }: EventIdentity, meterKey: string): string {
  return `ce:${source.length}:${id.length}:${source}:${id}:${meterKey}`;
}
