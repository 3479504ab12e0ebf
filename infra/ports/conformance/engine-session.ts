import { beforeEach, onTestFinished } from 'vitest';
import { EVENT_COLUMNS } from '../../../schemas/stored/event-row.ts';
import { decodeFrame, encodeFrame } from '../../../schemas/stored/frame.ts';
import { rowLines } from '../../../schemas/stored/row-lines.ts';
import { onceKeysAreRead } from '../../../tests/support/once-keys-are-read.ts';
import type { CommitPart, Decision, Response, UsageRequest } from '../engine.ts';
import type { CreateEngineHarness, EngineHarness } from './engine-harness.ts';

/** Uses an engine as a data plane does: read, decide, commit, and only then the response. */
export interface EngineSession extends EngineHarness {
  send(request: SentRequest): Promise<Sent>;
  /** One event with its key in the header. */
  single(event: unknown, idempotencyKey?: string): Promise<Sent>;
  batch(events: unknown, options?: { includeEvents: boolean }): Promise<BatchSent>;
}

/** What is left out is as in most tests. */
export type SentRequest = Partial<Omit<UsageRequest, 'body'>> & { body: Buffer | string };

export interface Sent extends Response {
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into JSON of every shape
  json: any;
  commit: CommitPart | undefined;
  /** The rows of the created events, without their line feeds. */
  lines: string[];
}

export interface BatchSent extends Sent {
  json: {
    summary: { total: number; created: number; duplicate: number; errors: number };
    results: ItemResult[];
  };
}

export interface ItemResult {
  index: number;
  idempotencyKey: string;
  status: 'created' | 'duplicate' | 'error';
  eventId?: string;
  event?: Record<string, unknown>;
  error?: { code: string; message: string };
}

export const ENVIRONMENT = 'ws_aaaaaaaaaaaaaaaaaaaaaaaaaa:live';
export const REQUEST_ID = 'req_of_this_test';
export const NOW_MS = Date.parse('2026-11-21T12:00:00.000Z');
export const CUSTOMER = 'cus_aaaaaaaaaaaaaaaaaaaaaaaaaa';
const METER = 'api_calls';

/** An event that nothing is wrong with. */
export const SOUND = { customerId: CUSTOMER, meterId: METER, value: 1 };

/** A session for each test of the calling suite, with one customer and one meter. */
export function sessionForEachTest(create: CreateEngineHarness): () => EngineSession {
  let session: EngineSession;
  beforeEach(async () => {
    session = await openSession(create);
  });
  return () => session;
}

/** For the running test: an engine that knows one customer and one meter. */
export async function openEngine(create: CreateEngineHarness): Promise<EngineHarness> {
  const harness = await create();
  onTestFinished(() => harness.close());
  harness.setNow(NOW_MS);
  harness.putCustomer({ id: CUSTOMER, externalId: 'acme' });
  harness.putMeter({ key: METER });
  return harness;
}

async function openSession(create: CreateEngineHarness): Promise<EngineSession> {
  const harness = await openEngine(create);
  const send: EngineSession['send'] = (request) => exchange(harness, request);
  return {
    ...harness,
    send,
    single: (event, idempotencyKey) => send({ kind: 'single', body: JSON.stringify(event), idempotencyKey }),
    batch: (events, options) => send({ kind: 'batch', body: JSON.stringify({ events }), ...options }),
  };
}

async function exchange(harness: EngineHarness, request: SentRequest): Promise<Sent> {
  const { engine } = harness;
  const whole = {
    environment: ENVIRONMENT,
    kind: 'batch' as const,
    includeEvents: false,
    requestId: REQUEST_ID,
    ...request,
    body: Buffer.from(request.body),
  };
  // Tests of a file share a table of keys: of a full generation they are sealed, also within a test.
  const { response, commit } = await onceKeysAreRead(async () => {
    return kept(engine.decide(await engine.read(whole)));
  });
  const lines = commit ? rowsOf(commit) : [];
  if (commit) await harness.commit(commit);
  return { ...response, json: JSON.parse(response.body.toString()), commit, lines };
}

/** With a copy of what may lie in the engine's memory, which its next request overwrites. */
export function kept({ response, commit }: Decision): Decision {
  if (!commit) return { response };
  const [records, lines] = [Buffer.from(commit.records), Buffer.from(commit.lines)];
  const numbers = Uint16Array.from(commit.numbers);
  return { response, commit: { ...commit, records, lines, numbers } };
}

/** As the load reads them in the frame of the part alone. */
export function rowsOf({ records, lines, ...part }: CommitPart): string[] {
  const head = { logId: new Uint8Array(16), committedAtMs: 0, recheck: [] };
  const frame = encodeFrame({ ...head, ...part, records: [records], lines: [lines] });
  return rowLines(decodeFrame(Buffer.concat(frame)))
    .toString()
    .split('\n')
    .slice(0, -1);
}

/** A line by the names of its columns. Numbers are doubles here: compare long ones as text. */
export function columnsOf(line: string): Record<(typeof EVENT_COLUMNS)[number], unknown> {
  const cells = JSON.parse(line) as unknown[];
  if (cells.length !== EVENT_COLUMNS.length) throw new Error(`a line has ${cells.length} cells`);
  return Object.fromEntries(EVENT_COLUMNS.map((name, at) => [name, cells[at]])) as ReturnType<
    typeof columnsOf
  >;
}

/** The stored and the returned text of a value, digit by digit. */
export function valueText(json: string): string | undefined {
  return /"value":([^,}]+)/.exec(json)?.[1];
}

export function lineValueText(line: string): string | undefined {
  return /^\["[^"]*","[^"]*","[^"]*","[^"]*","\d+",([^,]+),/.exec(line)?.[1];
}
