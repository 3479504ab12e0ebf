import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { engineConformance } from '../../../infra/ports/conformance/engine.ts';
import type { EngineHarness } from '../../../infra/ports/conformance/engine-harness.ts';
import { CUSTOMER, NOW_MS } from '../../../infra/ports/conformance/engine-session.ts';
import type { CommitPart } from '../../../infra/ports/engine.ts';
import { openEnginePair, requestOf, respondTo } from '../engine-pair-under-test.ts';
import { engineHarnessesOfThisFile } from '../engine-under-test.ts';
import { REQUESTS } from '../random-requests-under-test.ts';
import { createWasmEngine } from './wasm-engine.ts';
import { createWasmModule } from './wasm-module.ts';

engineConformance('the fast engine', await engineHarnessesOfThisFile(createWasmEngine));

const DAY_MS = 86_400_000;

describe('the wasm engine and the js engine', () => {
  /**
   * Red when the wasm engine takes a request of the js engine, or writes one byte otherwise: tried with zeros
   * or the minus of a zero kept, properties unsorted or doubled, U+007F in a key, 16 integer digits, the
   * middle always rounded up, 29 February in any year, keys beyond ASCII sorted by bytes, and bytes behind
   * the end.
   */
  test('write the same responses, records and lines for the same requests', async () => {
    const [plain, fast] = await twoEngines();
    const module = createWasmModule();
    let taken = 0;
    let sent = 0;
    await fc.assert(
      fc.asyncProperty(REQUESTS, async (request) => {
        sent++;
        if (module.read(request) > 0) taken++;
        expect(await respondTo(fast, request)).toEqual(await respondTo(plain, request));
        // Again: now it is a replay of what was created.
        expect(await respondTo(fast, request)).toEqual(await respondTo(plain, request));
      }),
      { numRuns: 5_000, seed: 20261121 },
    );
    expect(taken / sent).toBeGreaterThan(0.4);
  });

  /** Red when a day of the calendar, or a digit, is written otherwise than Date does. */
  test('give the same response for every time of the last year', async () => {
    const engines = await twoEngines();
    const times = fc.nat(399 * DAY_MS).map((ms) => new Date(NOW_MS - ms).toISOString());
    let key = 0;
    await fc.assert(
      fc.asyncProperty(times, async (occurredAt) => {
        const body = Buffer.from(
          soundItem('').replace('"idempotencyKey":""', `"occurredAt":"${occurredAt}"`),
        );
        const request = { kind: 'single' as const, body, idempotencyKey: `time-${key++}` };
        const [plain, fast] = await Promise.all(engines.map((engine) => respondTo(engine, request)));
        expect(fast).toEqual(plain);
        expect(plain).toMatchObject({ status: 201, body: expect.stringContaining(occurredAt) });
      }),
      { numRuns: 1_000, seed: 20261122 },
    );
  });

  /** Red when a byte of the form, a digit, a tenth of a fraction or a number beyond 59 is not looked at. */
  test('read times that are wrong in one character in the same way', async () => {
    const [plain, fast] = await twoEngines();
    await fast.engine.read(requestOf({ kind: 'single', body: Buffer.from(soundItem('first')) }));
    const times = ['2026-11-20T10:21:32.654Z', '2026-11-20T10:21:32+05:30', '2026-11-20T10:21:32.6543-05:30'];
    const wrong = times.flatMap((time) =>
      Array.from(time, (_, at) =>
        Array.from('069/:;.Z@p+-', (by) => `${time.slice(0, at)}${by}${time.slice(at + 1)}`),
      ).flat(),
    );
    // Nine fraction digits, and ten.
    for (const zone of ['Z', '+05:30'])
      for (const fraction of ['123456789', '1234567890'])
        wrong.push(`2026-11-20T10:21:32.${fraction}${zone}`);
    for (const [at, occurredAt] of wrong.entries()) {
      const body = Buffer.from(soundItem(`${at}`).replace('1}', `1,"occurredAt":"${occurredAt}"}`));
      const request = { kind: 'single' as const, body };
      expect(await respondTo(fast, request), occurredAt).toEqual(await respondTo(plain, request));
    }
  });

  /**
   * Red when of known names the first bytes alone are compared, names that came unsorted are learnt, a text
   * of known name may be of any length, spaces before a name count as none, or members behind known ones are
   * not put among those: tried.
   */
  test('read properties like those of the event before in the same way', async () => {
    const [plain, fast] = await twoEngines();
    // Until its names are cached, a request goes to the js engine.
    await fast.engine.read(requestOf({ kind: 'single', body: Buffer.from(soundItem('first')) }));
    for (const [at, properties] of LIKE_BEFORE.entries()) {
      const each = [BEFORE, properties, properties, BEFORE];
      const items = each.map((own, nth) => soundItem(`${at}-${nth}`).replace('1}', `1,"properties":${own}}`));
      const request = { kind: 'batch' as const, body: Buffer.from(`{"events":[${items.join(',')}]}`) };
      expect(await respondTo(fast, request), properties).toEqual(await respondTo(plain, request));
    }
  });

  /**
   * Red when digits are counted beyond the 16 bytes that were loaded, a zero in front of others is taken, or
   * no digit at all is a number: tried.
   */
  test('read members that end about 16 bytes behind their beginning in the same way', async () => {
    const [plain, fast] = await twoEngines();
    await fast.engine.read(requestOf({ kind: 'single', body: Buffer.from(soundItem('first')) }));
    for (const keyBytes of KEY_BYTES)
      for (const value of VALUES) {
        const properties = `{"${'k'.repeat(keyBytes)}":${value},"a":1,"b":-2}`;
        const item = soundItem(`${keyBytes} ${value}`.replaceAll('"', "'"));
        const body = Buffer.from(item.replace('1}', `1,"properties":${properties}}`));
        const request = { kind: 'single' as const, body };
        expect(await respondTo(fast, request), properties).toEqual(await respondTo(plain, request));
      }
  });

  /**
   * Red when the texts of a (customer, meter) may end where the memory ends: a copy reads up to seven bytes
   * more. With these lengths the 65,536th ended there, and its keys were claimed by then.
   */
  test('every customer and meter of a full memory is written, the last one too', async () => {
    const [, fast] = await twoEngines();
    const customers = Array.from({ length: 65_536 }, (_, at) => `cus_${String(at).padStart(26, 'a')}`);
    fast.putMeter({ key: 'tokens' });
    for (const id of customers) fast.putCustomer({ id });
    for (let from = 0; from < customers.length; from += 256) {
      const items = customers.slice(from, from + 256).map((id) => soundItem(id, id, 'tokens'));
      const request = { kind: 'batch' as const, body: Buffer.from(`{"events":[${items.join(',')}]}`) };
      // First on the js engine, which queries the names; then on the wasm engine.
      await fast.engine.read(requestOf(request));
      const made = await respondTo(fast, request);
      expect(made).toMatchObject({ status: 200, eventCount: 256 });
    }
  });

  /** Red when the keys stay claimed: a retry is acknowledged as a duplicate of what was never written. */
  test.each([
    ['plain', true, 'from'],
    ['fast', false, 'allocUnsafe'],
  ] as const)('keys that the %s engine claimed are free again when it cannot write', async (...given) => {
    const [, includeEvents, maker] = given;
    const [, { engine, commit }] = await twoEngines();
    const batch = (value: number) => ({
      ...requestOf({
        kind: 'batch',
        body: Buffer.from(`{"events":[${soundItem('k').replace('1}', `${value}}`)}]}`),
      }),
      includeEvents,
    });
    await engine.read(batch(1));
    const reading = await engine.read(batch(1));
    vi.spyOn(Buffer, maker).mockImplementationOnce(() => {
      throw new RangeError('out of memory');
    });
    expect(() => engine.decide(reading)).toThrow(RangeError);
    const retried = engine.decide(await engine.read(batch(2)));
    expect(retried.response.body.toString()).toContain('"created":1');
    await commit(retried.commit as CommitPart);
  });

  /** Red when a reading is decided from a memory that holds another one by now. */
  test('a reading that was overtaken by another is decided as if it came alone', async () => {
    const [plain, fast] = await twoEngines();
    const bodies = ['one', 'two'].map((key) => Buffer.from(`{"events":[${soundItem(key)}]}`));
    // Until its names are cached, a request goes to the js engine.
    await fast.engine.read(
      requestOf({ kind: 'batch', body: Buffer.from(`{"events":[${soundItem('first')}]}`) }),
    );
    const readings = await Promise.all(
      bodies.map((body) => fast.engine.read(requestOf({ kind: 'batch', body }))),
    );
    const decided = readings.map((reading) => fast.engine.decide(reading));
    for (const [index, body] of bodies.entries()) {
      const alone = plain.engine.decide(await plain.engine.read(requestOf({ kind: 'batch', body })));
      expect(decided[index]?.response.body.toString()).toBe(alone.response.body.toString());
      const [lines, expected] = [decided[index], alone].map((one) => Buffer.from(one?.commit?.lines ?? []));
      expect(lines?.toString()).toBe(expected?.toString());
    }
  });
});

const BEFORE = '{"na":"x","nb":1.5,"nc":true}';
const MANY_NAMES = Array.from({ length: 33 }, (_, at) => `"p${at + 10}":${at}`);
/** Sent behind BEFORE, and then behind themselves. */
const LIKE_BEFORE = [
  '{"na":-0.0,"nb":"né","nc":false}',
  '{"na":"x"}',
  '{"na":1,"nb":2}',
  '{"na":1,"nb":2,"nc":3,"nd":4}',
  '{}',
  '{"nb":1,"na":2,"nc":3}',
  '{"na":1,"nc":2,"nb":3}',
  '{"na":1,"nb":2,"nb":3}',
  '{"na":1,"nb":2,"nc":3,"na":4}',
  '{"na":1,"nb":2,"nc":3,"a":4}',
  '{"na":1,"nb":2,"nd":4,"a":5,"nc":6}',
  '{"na":1,"nb":2,"nbc":4}',
  '{"na":1,"na":2,"nc":3}',
  '{"na":1,"nb":2,"nd":3}',
  '{"nab":1,"nb":2,"nc":3}',
  '{"na":1,"né":2}',
  '{"a_longer_name":1,"a_still_longer_name":2,"nb":3}',
  '{"twelve_bytes":1,"twelve_chars":2}',
  '{ "na": "x", "nb": 1, "nc": true }',
  '{ "na": "x", "nb": 1, "nc": true}',
  '{"na": "x", "nb": 1, "nc": true}',
  '{"na" :1,"nb":2,"nc":3}',
  '{"na":1 ,"nb":2,"nc":3}',
  '{"na":  1,"nb":2,\n"nc":3}',
  `{${' '.repeat(40)}"na":${' '.repeat(40)}1,"nb":2}`,
  `{"na":"${'x'.repeat(256)}","nb":1}`,
  `{"na":"${'x'.repeat(257)}","nb":1}`,
  `{"na":1${'0'.repeat(256)},"nb":1}`,
  '{"na":"\\n","nb":1}',
  '{"na":"\t","nb":1}',
  '{"na":"x,"nb":1}',
  '{"na":1e3,"nb":1}',
  '{"na":01,"nb":1}',
  '{"na":1.,"nb":1}',
  '{"na":truE,"nb":1}',
  '{"na":null,"nb":1}',
  '{"na":[1],"nb":1}',
  '{"na":1,}',
  '{"na":1]',
  '{"na":1;"nb":2}',
  '{"na"1,"nb":2}',
  `{${MANY_NAMES.slice(1).join(',')}}`,
  `{${MANY_NAMES.join(',')}}`,
];

const KEY_BYTES = [0, ...Array.from({ length: 18 }, (_, at) => at + 1), 32, 64, 65];
const VALUES = [
  ...['', '-', '0', '-0', '00', '-01', '7', '-7', '0.5', '1.', '1e3', '1 ', ' 1', '1;', '"x"', '""', 'true'],
  // A number that ends in the last byte, and behind it, wherever it begins.
  ...Array.from({ length: 14 }, (_, at) => '9'.repeat(at + 2)),
  // It ends where a search that found no end would.
  `"${'x'.repeat(30)}"`,
];

async function twoEngines(): Promise<[EngineHarness, EngineHarness]> {
  const { plain, fast, close } = await openEnginePair();
  onTestFinished(close);
  return [plain, fast];
}

function soundItem(key: string, customer: string = CUSTOMER, meter = 'api_calls'): string {
  return `{"idempotencyKey":"${key}","customerId":"${customer}","meterId":"${meter}","value":1}`;
}
