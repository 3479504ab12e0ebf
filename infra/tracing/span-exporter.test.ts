import { createServer } from 'node:http';
import { expect, onTestFinished, test, vi } from 'vitest';
import { listen } from '../../tests/support/listen.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { createSpanExporter, type ServedSpan } from './span-exporter.ts';

const SPAN: ServedSpan = {
  ...{ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), parentId: 'c'.repeat(16) },
  ...{ method: 'GET', path: '/api/v1/plans', requestId: 'req-1', status: 200 },
  ...{ startMs: 1_700_000_000_000.25, endMs: 1_700_000_000_001 },
};

/** A collector that keeps what it gets; it responds with these statuses, the last one forever. */
async function startCollector(...statuses: number[]) {
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields it expects
  const got: Array<{ url: string; headers: Record<string, unknown>; body: any }> = [];
  const server = createServer(async (request, response) => {
    const text = (await request.toArray()).join('');
    got.push({ url: String(request.url), headers: request.headers, body: JSON.parse(text) });
    response.statusCode = statuses.length > 1 ? (statuses.shift() ?? 200) : (statuses[0] ?? 200);
    response.end('{}');
  });
  const { url: origin, close } = await listen(server);
  onTestFinished(close);
  const url = `${origin}/v1/traces`;
  const named = { headers: { 'x-token': 't' }, serviceName: 'mine', serviceVersion: '1' };
  const spansOf = () => got.flatMap(({ body }) => body.resourceSpans[0].scopeSpans[0].spans);
  return { got, spansOf, settings: { url, ...named, log: SILENT, everyMs: 10 } };
}

test('a span is sent as OTLP over HTTP in JSON', async () => {
  const { got, spansOf, settings } = await startCollector(200);
  const exporter = createSpanExporter(settings);
  exporter.ended(SPAN);
  exporter.ended({ ...SPAN, status: 503 });
  await vi.waitFor(() => expect(spansOf()).toHaveLength(2));
  expect(got[0]?.headers).toMatchObject({ 'content-type': 'application/json', 'x-token': 't' });
  expect(got[0]?.body.resourceSpans[0].resource.attributes[0]).toEqual({
    key: 'service.name',
    value: { stringValue: 'mine' },
  });
  const [fine, failed] = spansOf();
  expect(fine).toMatchObject({
    traceId: SPAN.traceId,
    spanId: SPAN.spanId,
    parentSpanId: SPAN.parentId,
    kind: 2,
  });
  expect([fine.startTimeUnixNano, fine.endTimeUnixNano]).toEqual([
    '1700000000000250000',
    '1700000000001000000',
  ]);
  expect(fine.attributes).toContainEqual({ key: 'http.response.status_code', value: { intValue: '200' } });
  expect([fine.status, failed.status]).toEqual([undefined, { code: 2 }]);
  await exporter.close();
});

/** Red when each request of a close waits for its own time: eight of them. */
test('a collector that hangs does not hold up the close', async () => {
  let requests = 0;
  const { url, close } = await listen(createServer(() => void requests++));
  onTestFinished(close);
  const named = { headers: {}, serviceName: 'mine', serviceVersion: '1', log: SILENT };
  const exporter = createSpanExporter({ ...named, url, everyMs: 60_000, timeoutMs: 100 });
  for (let at = 0; at < 4_096; at += 1) exporter.ended(SPAN);
  await exporter.close();
  expect(requests).toBeLessThanOrEqual(2);
});

/** Red when a collector that is unavailable costs memory, or the process. */
test('spans beyond the bound are dropped, and so are those that the collector rejects', async () => {
  const { spansOf, settings } = await startCollector(500, 200);
  const exporter = createSpanExporter({ ...settings, everyMs: 60_000, queuedMax: 1_000 });
  for (let at = 0; at < 5_000; at += 1) exporter.ended(SPAN);
  await exporter.close();
  expect(spansOf()).toHaveLength(1_000);
  const away = createSpanExporter({ ...settings, url: 'http://127.0.0.1:1/v1/traces', everyMs: 60_000 });
  away.ended(SPAN);
  await away.close();
});
