import { expect, vi } from 'vitest';
import type { Exchange } from '../../infra/ports/http-front.ts';
import type { EventSource } from '../../schemas/resources/meters.ts';
import type { BeginUsage } from '../begin-usage.ts';
import { createAdmission } from '../http/admission.ts';
import type { UsageResponses } from '../http/usage-responses.ts';
import { createCountEvents } from './count-events.ts';
import { readEventsHead } from './events-head.ts';
import { type Listener, listenerOf } from './listener.ts';

export interface Sent {
  body: string;
  operation?: 'events' | 'logs';
  headers?: Record<string, string>;
  meters?: Record<string, EventSource & { property?: string }>;
  /** Of items, by their place; all others are created. */
  itemErrors?: Record<number, { code: string; message: string; param?: string }>;
  /** False: the meters are not cached, so no event is of the common form. */
  areKnown?: boolean;
  /** Of the second batch: it is the whole response to it. */
  laterFault?: { code: string; message: string };
}

/** What the response says, and which batches went to the engine. */
export async function send(sent: Sent) {
  const { body, operation = 'events', headers = {}, meters = {}, itemErrors = {}, areKnown = true } = sent;
  const { laterFault } = sent;
  const batches: string[] = [];
  const admission = createAdmission(8 * 1024 * 1024);
  const begin: BeginUsage = (request, reply) => {
    const { events } = JSON.parse(request.body.toString()) as { events: unknown[] };
    batches.push(request.body.toString());
    if (laterFault && batches.length > 1) {
      const fault = Buffer.from(JSON.stringify({ error: laterFault }));
      setImmediate(() => reply.respond({ status: 503, replayed: false, body: fault }, 0));
      return;
    }
    const results = events.map((_, at) => {
      const error = itemErrors[at];
      return error ? { status: 'error', error } : { status: 'created', eventId: `use_${at}` };
    });
    const text = JSON.stringify({ results });
    const faulty = Object.keys(itemErrors).length;
    const response = { status: 200, replayed: false, body: Buffer.from(text), itemErrors: faulty };
    setImmediate(() => reply.respond(response, events.length - faulty));
  };
  const shown: Array<{ status: number; headers: Record<string, string>; body: string }> = [];
  const exchange = {
    headers: new Map(Object.entries({ 'content-type': 'application/json', ...headers })),
    query: '',
    requestId: 'req-1',
    respond: (status: number, names: Record<string, string>, text: Buffer) =>
      shown.push({ status, headers: names, body: text.toString() }),
    begin: (status: number, pairs: Array<[string, string]>) =>
      shown.push({ status, headers: Object.fromEntries(pairs), body: '' }),
    end: () => undefined,
  } as unknown as Exchange; // nothing else of it is used
  const rejected: unknown[] = [];
  const keep = (_: Exchange, what: unknown) => rejected.push(what);
  const responses = { reject: keep, fail: keep } as unknown as UsageResponses; // likewise
  const byType = new Map<string, Listener[]>();
  for (const [key, { property, ...eventSource }] of Object.entries(meters)) {
    const aggregation = property === undefined ? 'sum' : 'unique';
    const listener = listenerOf({ key, aggregation, property, eventSource });
    byType.set(eventSource.eventType, [...(byType.get(eventSource.eventType) ?? []), listener]);
  }
  const listeners = {
    find: () => byType,
    known: () => (areKnown ? byType : undefined),
    forget: () => undefined,
    clear: () => undefined,
  };
  const counted = vi.fn();
  const created = vi.fn();
  const noSpace = { code: 'unavailable', message: 'full' } as const;
  const count = createCountEvents({ listeners, admission, begin, responses, created, counted, noSpace });
  const head = readEventsHead(exchange, operation);
  if ('code' in head) return { batches, shown: undefined, rejected: [head], counted, created };
  await new Promise<void>((resolve) => {
    count(exchange, 'ws_a:live', head, { body: Buffer.from(body), isKept: true, release: resolve });
  });
  expect(admission.held).toBe(0);
  return { batches, shown: shown[0], rejected, counted, created };
}
