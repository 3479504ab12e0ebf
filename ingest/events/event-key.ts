import { createHash } from 'node:crypto';
import { USAGE_LIMITS } from '../../schemas/usage-limits.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: keys must not contain them
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f]/;

/**
 * The idempotency key of the usage that one meter counts of an event, which `source` and `id` identify. With
 * both lengths in front no two events have the same one: `ce:7:3:/orders:o-1:tokens`. One that would be too
 * long for a key, or holds control characters, is the SHA-256 of the same three texts.
 */
export function eventKey({ source, id }: { source: string; id: string }, meterKey: string): string {
  const text = `ce:${source.length}:${id.length}:${source}:${id}:${meterKey}`;
  if (text.length <= USAGE_LIMITS.idempotencyKeyCharsMax && !CONTROL_CHARACTERS.test(text)) return text;
  const hash = createHash('sha256')
    .update(JSON.stringify([source, id, meterKey]))
    .digest('hex');
  return `ce:sha256:${hash}`;
}
