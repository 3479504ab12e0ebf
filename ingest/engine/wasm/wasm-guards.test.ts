import { beforeEach, describe, expect, test } from 'vitest';
import {
  CUSTOMER,
  ENVIRONMENT,
  openEngine,
  REQUEST_ID,
} from '../../../infra/ports/conformance/engine-session.ts';
import type { Engine, UsageRequest } from '../../../infra/ports/engine.ts';
import { createEngineHarness } from '../engine-under-test.ts';
import { createWasmEngine } from './wasm-engine.ts';

/**
 * What the wasm engine checks apart from reading: each goes red when its guard in wasm-engine.ts is removed.
 */
let engine: Engine<unknown>;

beforeEach(async () => {
  engine = (await openEngine(() => createEngineHarness(createWasmEngine))).engine;
  // Until its names are cached a batch goes to the js engine.
  await engine.read(batchOf('"before"'));
});

describe('a batch in the wasm engine', () => {
  test('that repeats one in flight waits for its commit', async () => {
    const [one, two] = [await decided(batchOf('"k"')), await decided(batchOf('"k"'))];
    expect([one.commit?.eventCount, two.commit?.eventCount]).toEqual([1, 0]);
    expect(two.response.body.toString()).toContain('"duplicate":1');
    expect(two.commit?.claim.waits).toBe(true);
  });

  test.each([
    ['half a surrogate pair', [0xed, 0xa0, 0x80]],
    ['an overlong form', [0xc0, 0xaf]],
    ['a cut character', [0xe2, 0x82]],
  ])('with %s in a text is rejected as a whole', async (_, bytes) => {
    for (const text of ['"k-?"', '"k","properties":{"user":"?"}']) {
      const [before = '', behind = ''] = batchOf(text).body.toString().split('?');
      const body = Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(behind)]);
      const { response, commit } = await decided({ ...batchOf(text), body });
      expect([response.status, commit]).toEqual([400, undefined]);
      expect(response.body.toString()).toContain('invalid_json');
    }
  });

  test.each([1, 15, 16, 40, 254])('with U+007F behind %i others in a key claims nothing', async (others) => {
    const { response, commit } = await decided(batchOf(`"${'k'.repeat(others)}\u007f"`));
    expect(commit).toBeUndefined();
    expect(response.body.toString()).toContain('idempotency_key_invalid');
  });
});

/** `key`: the JSON of the idempotency key, and members behind it. */
function batchOf(key: string): UsageRequest {
  const item = `{"customerId":"${CUSTOMER}","meterId":"api_calls","value":1,"idempotencyKey":${key}}`;
  const body = Buffer.from(`{"events":[${item}]}`);
  return { environment: ENVIRONMENT, kind: 'batch', body, includeEvents: false, requestId: REQUEST_ID };
}

async function decided(request: UsageRequest) {
  return engine.decide(await engine.read(request));
}
