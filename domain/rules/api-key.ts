import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Mode } from '../../schemas/primitives/environment.ts';

export type KeyKind = 'secret' | 'publishable';

/**
 * `sk_live_ | sk_test_ | pk_live_ | pk_test_`, 32 characters of base62, 6 of checksum: CRC-32 of everything
 * before it, in base62, most significant digit first. A typing error is detected without a query, and
 * scanners for leaked secrets can be sure of what they found.
 */
const KEY_SHAPE = /^([sp])k_(live|test)_[0-9A-Za-z]{38}$/;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_CHARS = 32;
const CHECKSUM_CHARS = 6;

/** A new random key, 190 bits. Its text is shown once and stored nowhere. */
export function newApiKey(kind: KeyKind, mode: Mode): string {
  const body = `${kind === 'secret' ? 'sk' : 'pk'}_${mode}_${randomText(RANDOM_CHARS)}`;
  return body + checksumOf(body);
}

/** What a text states of itself when it is a well-formed key with the right checksum. */
export function parseApiKey(text: string): { kind: KeyKind; mode: Mode } | undefined {
  const match = KEY_SHAPE.exec(text);
  if (!match || checksumOf(text.slice(0, -CHECKSUM_CHARS)) !== text.slice(-CHECKSUM_CHARS)) return undefined;
  return { kind: match[1] === 's' ? 'secret' : 'publishable', mode: match[2] === 'live' ? 'live' : 'test' };
}

/** What a list of keys shows of one. */
export function lastFour(key: string): string {
  return key.slice(-4);
}

function randomText(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      // 248 is 4 × 62: bytes from there on would make the first characters likelier.
      if (byte < 248 && text.length < length) text += ALPHABET.charAt(byte % 62);
    }
  }
  return text;
}

function checksumOf(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let digit = 0; digit < CHECKSUM_CHARS; digit += 1) {
    text = ALPHABET.charAt(rest % 62) + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}
