import { expect, test } from 'vitest';
import type { CreateEngineHarness } from './engine-harness.ts';
import { ENVIRONMENT, lineValueText, SOUND, sessionForEachTest, valueText } from './engine-session.ts';

/**
 * The text of a JSON number, the text of a value that is stored and returned, and of a property where it
 * differs.
 */
const VALUES: Array<[string, string, string?]> = [
  ['0', '0'],
  ['-0', '0'],
  ['-0.0', '0'],
  ['0e99999999999999999999', '0'],
  ['-0E-400', '0'],
  ['1', '1'],
  ['1.0', '1'],
  ['1e0', '1'],
  ['1E+00', '1'],
  ['10e-1', '1'],
  ['1.00000000000000000000000000000', '1'],
  ['0.1', '0.1'],
  ['-0.1', '-0.1'],
  ['0.30000000000000004e0', '0.3', '0.30000000000000004'],
  [String(0.1 + 0.2), '0.3', '0.30000000000000004'],
  [String(1 / 3), '0.333333333333', '0.3333333333333333'],
  [String(-2 / 3), '-0.666666666667', '-0.6666666666666666'],
  ['1e-7', '0.0000001'],
  ['1e-07', '0.0000001'],
  ['0.9999999999999999', '1', '0.9999999999999999'],
  ['9.9999999999999999', '10', '9.9999999999999999'],
  ['-99.9999999999999999', '-100', '-99.9999999999999999'],
  ['0.0000000000005', '0', '0.0000000000005'],
  ['-0.0000000000005', '0', '-0.0000000000005'],
  ['0.00000000000050', '0', '0.0000000000005'],
  ['0.0000000000015', '0.000000000002', '0.0000000000015'],
  ['0.0000000000025', '0.000000000002', '0.0000000000025'],
  ['0.00000000000250000001', '0.000000000003', '0.00000000000250000001'],
  ['-1.0000000000004', '-1', '-1.0000000000004'],
  ['1e21', 'value_invalid', '1000000000000000000000'],
  ['1e-12', '0.000000000001'],
  ['-1e-12', '-0.000000000001'],
  ['0.000000000001', '0.000000000001'],
  ['0.0000001', '0.0000001'],
  ['1e-13', '0', '0.0000000000001'],
  ['0.0000000000001', '0', '0.0000000000001'],
  ['10e-13', '0.000000000001'],
  ['0.1234567890123', '0.123456789012', '0.1234567890123'],
  ['0.00000015', '0.00000015'],
  ['1e-400', '0', 'value_invalid'],
  ['1e400', 'value_invalid'],
  ['-1e99999999999999999999', 'value_invalid'],
  ['1e-99999999999999999999', '0', 'value_invalid'],
  ['999999999999999', '999999999999999'],
  ['-999999999999999', '-999999999999999'],
  ['1000000000000000', 'value_invalid', '1000000000000000'],
  ['1e14', '100000000000000'],
  ['1e15', 'value_invalid', '1000000000000000'],
  ['9007199254740993', 'value_invalid', '9007199254740993'],
  ['123456789.000000000001', '123456789.000000000001'],
  ['123456789012345.123456789012', '123456789012345.123456789012'],
  ['-123456789012345.123456789012', '-123456789012345.123456789012'],
  ['123456789012345.1234567890121', '123456789012345.123456789012', '123456789012345.1234567890121'],
  ['999999999999999.9999999999999', 'value_invalid', '999999999999999.9999999999999'],
  ['123456789012345.12345678901200000000000000', '123456789012345.123456789012'],
  ['1234567890123.45e2', '123456789012345'],
  ['0.000000123456789012e6', '0.123456789012'],
  ['9.99999999999', '9.99999999999'],
  ['2.675', '2.675'],
  ['4503599627370497.5', 'value_invalid', '4503599627370497.5'],
];

export function engineValueTests(create: CreateEngineHarness): void {
  const session = sessionForEachTest(create);
  const send = (value: string, key: string, isStrict = false) =>
    session().send({
      kind: 'single',
      isStrict,
      idempotencyKey: key,
      body: JSON.stringify({ ...SOUND, value: 0 }).replace('"value":0', `"value":${value}`),
    });

  test.each(VALUES)('a value of %s is %s', async (sent, stored) => {
    const { status, json, body, lines } = await send(sent, 'k');
    if (stored === 'value_invalid') {
      expect([status, json.error]).toMatchObject([422, { code: 'value_invalid', param: 'value' }]);
      return;
    }
    expect(status).toBe(201);
    expect(valueText(body.toString())).toBe(stored);
    expect(lineValueText(lines[0] ?? '')).toBe(stored);
  });

  test.each(VALUES.map(([sent, value, stored = value]) => [sent, stored] as const))(
    'a property of %s is %s',
    async (sent, stored) => {
      const { status, body, lines } = await session().send({
        kind: 'batch',
        includeEvents: true,
        body: `{"events":[{"idempotencyKey":"k","customerId":"acme","meterId":"api_calls","value":5,
        "properties":{"n":${sent}}}]}`,
      });
      expect(status).toBe(200);
      const responded = /"properties":\{"n":([^}]+)\}/.exec(body.toString())?.[1];
      expect(responded).toBe(stored === 'value_invalid' ? undefined : stored);
      expect(lines).toHaveLength(stored === 'value_invalid' ? 0 : 1);
      if (lines[0]) expect(lines[0]).toContain(`{"n":"\\u0000n${stored}"}`);
    },
  );

  test('spellings of one number are one value: the second is a replay', async () => {
    for (const [at, spellings] of [
      ['1', '1.0', '1e0', '10e-1', '0.1E+1', '1.0000000000000000000'],
      ['-0', '0', '0.0', '-0e5'],
      ['0.0000001', '1e-7', '0.00000010', '10E-8'],
      ['123456789012345.5', '1234567890123455e-1', '123456789012345.50000'],
    ].entries()) {
      const [first, ...more] = await inTurn(spellings, (spelling) => send(spelling, `k${at}`));
      for (const replay of more) expect([replay.replayed, replay.body]).toEqual([true, first?.body]);
    }
  });

  /** Red when the rounded value is not the one that fingerprints cover. */
  test('what is rounded to one value is one event, and handling=strict rounds nothing', async () => {
    const [first, ...more] = await inTurn(['0.30000000000000004', '0.3', '3e-1'], (value) =>
      send(value, 'k'),
    );
    for (const replay of more) expect([replay.replayed, replay.body]).toEqual([true, first?.body]);
    for (const value of ['0.30000000000000004', '1e-13', '0.1234567890123']) {
      const { status, json } = await send(value, 'l', true);
      expect([status, json.error]).toMatchObject([422, { code: 'value_invalid', param: 'value' }]);
      expect(json.error.message).toContain('handling=strict');
    }
    const strict = await inTurn(['0.3', '0.30000000000000000'], (value) => send(value, 'l', true));
    expect(strict.map(({ status, replayed }) => [status, replayed])).toEqual([
      [201, false],
      [201, true],
    ]);
  });

  test('numbers=text returns a value as text, also for a replay of one returned as a number', async () => {
    const event = { ...SOUND, value: 2.5, properties: { n: 7 } };
    const sent = { kind: 'single' as const, body: JSON.stringify(event), idempotencyKey: 'k' };
    const batch = {
      kind: 'batch' as const,
      body: JSON.stringify({ events: [{ ...event, idempotencyKey: 'k' }] }),
    };
    await session().send(sent);
    const responses = await inTurn([{ numbersAsText: true }, {}], (form) =>
      session().send({ ...sent, ...form }),
    );
    expect(responses.map(({ json }) => json.value)).toEqual(['2.5', 2.5]);
    // What the client's own properties are stays as it was sent.
    expect(responses.map(({ json }) => json.properties)).toEqual([{ n: 7 }, { n: 7 }]);
    const shown = await session().send({ ...batch, includeEvents: true, numbersAsText: true });
    expect(shown.json.results[0].event.value).toBe('2.5');
    expect(shown.json.summary.duplicate).toBe(1);
  });

  test('neighbours of a value that are equal as doubles are different values', async () => {
    expect((await send('123456789012345.123456789012', 'k')).status).toBe(201);
    const other = await send('123456789012345.123456789011', 'k');
    expect(other.json.error.code).toBe('idempotency_key_reused');
  });

  /** Red when a long number in one item changes how another item's text or number is read. */
  test('text that looks like a number stays text next to long numbers', async () => {
    const { json } = await session().send({
      kind: 'batch',
      includeEvents: true,
      body: `{"events":[{"idempotencyKey":"1234567890123456789","customerId":"acme","meterId":"api_calls",
        "value":0.000000000001,"properties":{"a":"x:1e5,[2e7","b":"\\":1e5","1e5":1e5,"c":"\\\\"}}]}`,
    });
    expect(json.results[0]).toMatchObject({
      idempotencyKey: '1234567890123456789',
      event: { properties: { a: 'x:1e5,[2e7', b: '":1e5', '1e5': 100_000, c: '\\' } },
    });
    expect(JSON.stringify(json)).not.toContain(ENVIRONMENT);
  });

  /** Red when any expression over a number's text looks back: 60,000 digits took 3 s once. */
  test.each([
    ['zeros before the last digit', `0.1${'0'.repeat(700_000)}1`],
    ['digits', '1'.repeat(700_000)],
    ['an exponent', `1e${'9'.repeat(700_000)}`],
    ['zeros in front', `0.${'0'.repeat(700_000)}1`],
  ])('a number of 700,000 characters costs no time (%s)', async (_, value) => {
    const started = performance.now();
    expect((await send(value, 'k', true)).json.error.code).toBe('value_invalid');
    expect((await send(value, 'k')).status).toBe(/^[1e]/.test(value) ? 422 : 201);
    expect(performance.now() - started).toBeLessThan(1_000);
  });
}

async function inTurn<In, Out>(inputs: readonly In[], act: (input: In) => Promise<Out>): Promise<Out[]> {
  const outputs: Out[] = [];
  for (const input of inputs) outputs.push(await act(input));
  return outputs;
}
