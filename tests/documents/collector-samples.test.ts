import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ROUTES } from '../../schemas/routes.ts';
import { USAGE_LIMITS } from '../../schemas/usage-limits.ts';

/*
 * The configurations of other programs in docs/samples: their syntax, and what of them the API has to know.
 * The programs do not run here.
 */
// biome-ignore lint/suspicious/noExplicitAny: each is another program's
const read = (name: string): any => parse(readFileSync(`docs/samples/${name}`, 'utf8'), { strict: true });
const { path } = ROUTES['events.ingest'];
const TYPES = Object.keys(ROUTES['events.ingest'].bodyTexts);
const MEMBERS = ['specversion', 'id', 'source', 'type', 'subject', 'data'];

function expectToFit({ count, bytes }: { count: number; bytes: number }): void {
  expect(count).toBeLessThanOrEqual(USAGE_LIMITS.foreignEventsMax);
  // The data come in addition to the events' own members.
  expect(bytes * 2).toBeLessThanOrEqual(USAGE_LIMITS.bodyBytesMax);
}

describe('the sample configuration', () => {
  test('for Vector sends arrays of CloudEvents within the limits', () => {
    const { transforms, sinks } = read('vector.yaml');
    const { uri, method, auth, encoding, framing, compression, batch } = sinks.metergate;
    expect([uri, method]).toEqual([`\${METERGATE_URL}${path}`, 'post']);
    expect(auth).toEqual({ strategy: 'bearer', token: `\${METERGATE_KEY}` });
    expect([encoding.codec, framing.character_delimited.delimiter, compression]).toEqual([
      'json',
      ',',
      'gzip',
    ]);
    for (const name of MEMBERS) expect(transforms.cloudevents.source).toContain(`"${name}":`);
    expectToFit({ count: batch.max_events, bytes: batch.max_bytes });
  });

  test('for Redpanda Connect sends arrays of CloudEvents within the limits', () => {
    const { pipeline, output } = read('redpanda-connect.yaml');
    const { outputs, batching } = output.broker;
    const [{ drop_on: dropping }] = outputs;
    const { url, verb, headers, drop_on: given } = dropping.output.http_client;
    expect([url, verb]).toEqual([`\${METERGATE_URL}${path}`, 'POST']);
    expect(TYPES).toContain(headers['Content-Type']);
    expect(batching.processors).toEqual([{ archive: { format: 'json_array' } }]);
    for (const name of MEMBERS) expect(pipeline.processors[0].mapping).toContain(`root.${name} =`);
    expectToFit({ count: batching.count, bytes: batching.byte_size });
    // What a wrong address or key responds with is repeated: nothing of it is about the events.
    const dropped = (status: number) => {
      const text = `HTTP request returned unexpected response code (${status}): ${status}, Error: {}`;
      return dropping.error_patterns.some((pattern: string) => new RegExp(pattern).test(text));
    };
    expect([400, 401, 403, 404, 409, 413, 422, 429, 500, 503].filter(dropped)).toEqual([400]);
    // A batch with a rejected event is never taken: repeated, it holds up all others.
    expect(given).toEqual([400]);
  });

  test('for Fluent Bit sends arrays of CloudEvents', () => {
    const { inputs, filters, outputs } = read('fluent-bit.yaml').pipeline;
    const [{ uri, header, format, json_date_key: time }] = outputs;
    expect([uri, header, format, time]).toEqual([
      path,
      `Authorization Bearer \${METERGATE_KEY}`,
      'json',
      'time',
    ]);
    const [nested, modified] = filters;
    const added = [nested.nest_under, ...[modified.add].flat().map((one: string) => one.split(' ')[0])];
    expect([...added, modified.rename.split(' ')[1], 'id'].sort()).toEqual([...MEMBERS].sort());
    expect(inputs[0]['storage.type']).toBe('filesystem');
  });
});
