import { expect, test } from 'vitest';
import { ENVIRONMENT, openEngine, REQUEST_ID, rowsOf } from '../../infra/ports/conformance/engine-session.ts';
import { createEngineHarness } from './engine-under-test.ts';
import { createJsEngine } from './js/js-engine.ts';
import { createWasmEngine } from './wasm/wasm-engine.ts';

/**
 * What a client may have sent, and the id, fingerprint and value that the release of 25 November 2026 stored
 * for it. With another fingerprint a replay of a stored event is rejected as a reused key.
 */
const STORED: Array<[members: string, stored: string]> = [
  ['"value":1', '"use_sqq6apafioaibuji7yu7zok7oi","12560638785269264106",1'],
  ['"value":1.0', '"use_455wjovlre4uungtaudsxs6ude","12560638785269264106",1'],
  ['"value":-0.0', '"use_ahnnowqzpbxu5bkkhha6iideai","18186492059621211600",0'],
  ['"value":1e2', '"use_scqsgozmu5namtfgi3mlatbprq","9010283478766163313",100'],
  [
    '"value":123456789012345.123456789012',
    '"use_z7l77mfpjze5rpjvznjwqbhvv4","6166035918408613553",123456789012345.123456789012',
  ],
  ['"value":0.000000000001', '"use_xpbyzatgpk6msegufkyb43niny","702350671821138624",0.000000000001'],
  ['"value":0.10000000000000000000', '"use_njx6ugfowpjd5uljeiit3otfm4","12389401647366629863",0.1'],
  ['"value":2.5,"properties":{}', '"use_plo3r4avcm3jx37c7apzena2cy","1236126960179613208",2.5'],
  [
    '"value":2.5,"properties":{"z":"ü","a":1.50,"b":true,"n":"1.5"}',
    '"use_7mnmcrbqs3kxg24qokw64c6l2q","6787658760823176109",2.5',
  ],
  [
    '"value":2.5,"properties":{"size":-0,"e":1E-12,"big":123456789012345.5}',
    '"use_3pkdhjmne4aatgpexya2iyqchi","18336796066169579494",2.5',
  ],
  [
    '"value":7,"occurredAt":"2026-11-20T10:00:00.123456+01:00"',
    '"use_jfxak7m3imh6ilb6tmkywc4sqa","17823269944292171588",7',
  ],
];

test.each([
  ['plain', createJsEngine],
  ['fast', createWasmEngine],
] as const)('the %s engine writes ids and fingerprints as earlier releases did', async (_, create) => {
  const harness = await openEngine(() => createEngineHarness(create));
  const written: Array<[string, string]> = [];
  for (const [at, [members]] of STORED.entries()) {
    const item = `{"idempotencyKey":"key ${at}","customerId":"acme","meterId":"api_calls",${members}}`;
    const request = { environment: ENVIRONMENT, kind: 'batch', includeEvents: false, requestId: REQUEST_ID };
    const body = Buffer.from(`{"events":[${item}]}`);
    const { commit } = harness.engine.decide(await harness.engine.read({ ...request, kind: 'batch', body }));
    if (!commit) throw new Error(`nothing is stored of ${members}`);
    const [line = ''] = rowsOf(commit);
    await harness.commit(commit);
    written.push([members, /^\[(?:"[^"]*",){3}((?:"[^"]*",){2}[^,]*)/.exec(line)?.[1] ?? line]);
  }
  expect(written).toEqual(STORED);
});
