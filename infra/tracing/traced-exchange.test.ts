import { describe, expect, test, vi } from 'vitest';
import { createNodeFront } from '../http/node-front.ts';
import { createUwsFront } from '../http/uws-front.ts';
import { type CreateFront, startFront } from '../ports/conformance/front-under-test.ts';
import type { Exchange } from '../ports/http-front.ts';
import type { ServedSpan } from './span-exporter.ts';
import { traceExchanges } from './traced-exchange.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

describe.each<[string, CreateFront]>([
  ['uWebSockets.js', createUwsFront],
  ['node:http', createNodeFront],
])('behind %s', (_, createFront) => {
  test('a request whose caller records the trace is a span, and the parent of what follows', async () => {
    const spans: ServedSpan[] = [];
    const passedOn: Array<string | undefined> = [];
    const exporter = { ended: (span: ServedSpan) => void spans.push(span), close: async () => undefined };
    const handler = (exchange: Exchange) => {
      passedOn.push(new Map(exchange.headers).get('traceparent'), exchange.headers.get('traceparent'));
      const pieces: Buffer[] = [];
      exchange.readBody(
        (chunk) => void pieces.push(Buffer.from(chunk)),
        () => {
          if (exchange.path === '/whole') exchange.respond(201, {}, Buffer.concat(pieces));
          else {
            exchange.begin(200, []);
            exchange.write(Buffer.concat(pieces));
            exchange.end();
          }
        },
      );
    };
    const { url } = await startFront(createFront, traceExchanges(handler, exporter));
    const post = async (path: string, flags: string) => {
      const headers = { traceparent: `00-${TRACE}-${SPAN}-${flags}` };
      return (await fetch(url + path, { method: 'POST', body: 'hello', headers })).text();
    };
    expect(await post('/whole?secret=1', '01')).toBe('hello');
    expect(await post('/pieces', '01')).toBe('hello');
    expect(await post('/whole', '00')).toBe('hello');
    await vi.waitFor(() => expect(spans).toHaveLength(2));
    expect(spans).toMatchObject([
      { traceId: TRACE, parentId: SPAN, method: 'POST', path: '/whole', status: 201 },
      { traceId: TRACE, parentId: SPAN, path: '/pieces', status: 200 },
    ]);
    const own = `00-${TRACE}-${spans[0]?.spanId}-01`;
    expect(passedOn.slice(0, 2)).toEqual([own, own]);
    expect(passedOn.at(-1)).toBe(`00-${TRACE}-${SPAN}-00`);
    expect(spans[0]?.endMs).toBeGreaterThanOrEqual(spans[0]?.startMs ?? Infinity);
  });
});
