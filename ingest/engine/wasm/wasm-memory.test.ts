import { expect, test } from 'vitest';
import { USAGE_LIMITS } from '../../../schemas/usage-limits.ts';
import { createWasmModule } from './wasm-module.ts';

const MIB = 1024 * 1024;
const SOUND = '{"a":true,"b":"x","c":1}';
/** One property wrong, each kind of value. */
const WRONG = ['t', 'txxx', 'f', 'fals', '"x', '"\\', '-', '1.', '01', '', 'null', '[1]'].flatMap((value) => [
  `{"a":${value}}`,
  `{"a":true,"b":${value},"c":1}`,
  `{"a":true,"b":"x","c":${value}}`,
  `{"a":${value}`,
]);
/** Spaces before an item: it begins anywhere in the largest body. */
const PLACES = Array.from({ length: 5 }, (_, nth) => Math.floor((nth * MIB) / 5));

function bodyOf(properties: string, place = 0): Buffer {
  const item = `{"customerId":"c","meterId":"m","value":1,"idempotencyKey":"k","properties":${properties}}`;
  const body = Buffer.from(`{"events":[${' '.repeat(place)}${item}]}`);
  return body.subarray(0, USAGE_LIMITS.bodyBytesMax);
}

/**
 * Red when a value is written before it is known where it ends: a quote was put up to a mebibyte in front of
 * the properties, where it changed which customer and meter another request's names stand for.
 */
test('what is wrong in a body, wherever it is, writes nothing in front of the body', () => {
  const { read, wasm } = createWasmModule();
  // Known customers and meters are here, none so far, and what lies between them and the body.
  const known = Buffer.from(wasm.memory.buffer, wasm.BODY.value - MIB, MIB);
  const untouched = Buffer.alloc(MIB);
  for (const properties of WRONG) {
    for (const place of PLACES) {
      // So that its names are those of the event before.
      expect(read({ kind: 'batch', body: bodyOf(SOUND) })).toBe(1);
      expect(read({ kind: 'batch', body: bodyOf(properties, place) }), properties).toBe(-1);
      expect(known.equals(untouched), `${properties} behind ${place} spaces`).toBe(true);
    }
  }
});
