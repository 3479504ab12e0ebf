import { type FuzzRequest, soundRequest, type Target } from './fuzz-request.ts';
import { readTable } from './text-table.ts';

/** One text for a JSON reader. */
export interface JsonCase {
  verdict: Verdict;
  why: string;
  bytes: Buffer;
  /** True: it is a case only as a whole body: inside one it would be something else. */
  wholeOnly: boolean;
}

/** `unstorable` is read, and rejected as a text; `beyond` is read, and rejected as a number. */
export type Verdict = 'read' | 'not JSON' | 'unstorable' | 'beyond';

const HEADING = /^(whole body, )?(read|not JSON|unstorable|beyond): (.+)$/;

/**
 * Texts for a JSON reader, with the reason of each verdict. The cases are those on which
 * readers were found to disagree (N. Seriot, "Parsing JSON is a minefield", and its JSONTestSuite), put in
 * our own groups; what RFC 8259 leaves open is decided here, as the API decides it.
 */
export function jsonCases(): JsonCase[] {
  return readTable('json-cases.txt').flatMap(([heading, entries]) => {
    const [, whole, verdict, why] = HEADING.exec(heading) ?? [];
    if (!verdict || !why) throw new Error(`a group of JSON cases is headed "${heading}"`);
    return entries.map((bytes) => ({
      verdict: verdict as Verdict,
      why,
      bytes,
      wholeOnly: whole !== undefined,
    }));
  });
}

/** Of the events that hold the cases. */
export interface CaseScope {
  run: string;
  customer: string;
  nowMs: number;
}

/**
 * Every case as a whole body, and where it can be a value: as an item, a line, an event's value, a
 * property and in the metadata of a customer. Batches twice: those that request the events go another way.
 */
export function* jsonCaseRequests({ run, ...scope }: CaseScope): Generator<FuzzRequest> {
  for (const [number, one] of jsonCases().entries()) {
    const what = `JSON case "${one.why}"`;
    const name = `${run}-case-${number}`;
    for (const request of wholeBodies(one, name)) yield { ...request, what };
    if (one.wholeOnly) continue;
    yield { ...customerWith(one), what };
    for (const includeEvents of [false, true]) {
      const batches = batchesWith(one, { ...scope, run: `${name}-${includeEvents}` });
      for (const request of batches) yield { ...request, what, includeEvents };
    }
  }
}

function wholeBodies({ bytes }: JsonCase, name: string): FuzzRequest[] {
  const headers = { 'content-type': 'application/json', 'idempotency-key': name };
  return TARGETS.map((target) => soundRequest(target, bytes, { headers }));
}

const TARGETS: readonly Target[] = ['single', 'batch', 'customers', 'meters'];

function customerWith({ bytes }: JsonCase): FuzzRequest {
  const before = '{"name":"n","email":"a@example.org","metadata":{"p":';
  return soundRequest('customers', around(before, bytes, '}}'));
}

const LINE_FEED = 10;

function* batchesWith({ bytes }: JsonCase, { run, customer, nowMs }: CaseScope): Generator<FuzzRequest> {
  const named = `"customerId":${JSON.stringify(customer)},"meterId":"tokens"`;
  const occurredAt = new Date(nowMs).toISOString();
  const sound = `{"idempotencyKey":"${run}",${named},"occurredAt":"${occurredAt}","value":1}`;
  const [withoutValue, open] = [sound.slice(0, -2), sound.slice(0, -1)];
  const keys = [run];
  yield soundRequest('batch', around('{"events":[', bytes, `,${sound}]}`), { keys });
  // Under other keys: the first one is taken.
  const valued = withoutValue.replace(run, `${run}-v`);
  yield soundRequest('batch', around(`{"events":[${valued}`, bytes, '}]}'), { keys: [`${run}-v`] });
  const propertied = open.replace(run, `${run}-p`);
  const inProperties = around(`{"events":[${propertied},"properties":{"p":`, bytes, '}}]}');
  yield soundRequest('batch', inProperties, { keys: [`${run}-p`] });
  if (bytes.includes(LINE_FEED)) return;
  const headers = { 'content-type': 'application/x-ndjson' };
  const lines = around('', bytes, `\n${sound.replace(run, `${run}-l`)}\n`);
  yield soundRequest('batch', lines, { headers, keys: [`${run}-l`] });
}

function around(before: string, bytes: Buffer, after: string): Buffer {
  return Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]);
}
