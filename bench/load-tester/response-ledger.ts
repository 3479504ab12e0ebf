import { createFaults } from '../../tests/support/ledger.ts';
import type { PlannedSend } from '../../tests/support/load-body.ts';
import type { LoadResponse } from '../../tests/support/load-connection.ts';

export interface Tally {
  events: number;
  thousandths: number;
}

/** Of one customer: acknowledged, and of requests without a response. */
export type Tallies = Record<'acknowledged' | 'uncertain', Tally>;

/**
 * What the server said, request by request: it alone decides what the counters must show at the end. A
 * fault is a response that is not what is promised for what was sent.
 */
export interface ResponseLedger {
  /**
   * `again`: the same request was sent before and its response was lost, so that new events may be
   * duplicates. Says `repeat` for what has to be sent again: nothing of it was booked.
   */
  responded(send: PlannedSend, response: LoadResponse, again: boolean): 'booked' | 'repeat';
  /** Without a response: its new events may be stored or not. */
  withoutResponse(send: PlannedSend): void;
  counts(): LedgerCounts;
  /** By customer. */
  tallies(): Tallies[];
  faults(): string[];
}

export interface LedgerCounts {
  created: number;
  duplicate: number;
  rejected: number;
  withoutResponse: number;
  /** Responses of which every item was checked; of the others only the summary. */
  responsesReadWhole: number;
}

const FAULTS_KEPT = 20;
/** Reading a whole response costs the generator as much as everything else. */
const READ_WHOLE_EVERY = 20;
const NOTHING_COUNTED: LedgerCounts = {
  created: 0,
  duplicate: 0,
  rejected: 0,
  withoutResponse: 0,
  responsesReadWhole: 0,
};

export function createResponseLedger(customers: number, readWholeEvery = READ_WHOLE_EVERY): ResponseLedger {
  const counts: LedgerCounts = { ...NOTHING_COUNTED };
  const tallies = Array.from({ length: customers }, () => ({
    acknowledged: { events: 0, thousandths: 0 },
    uncertain: { events: 0, thousandths: 0 },
  }));
  const { add: fault, list: faults } = createFaults(FAULTS_KEPT);
  let responses = 0;

  function respondedSingle(send: PlannedSend, response: LoadResponse, again: boolean): void {
    if (response.status !== 201) {
      counts.rejected++;
      fault(`a single event returned ${response.status}: ${startOf(response.body)}`);
      return;
    }
    const expected = send.replayed[0] === 1;
    if (response.replayed !== expected && !(again && response.replayed)) {
      fault(`a single event that ${expected ? 'was' : 'was not'} sent before received the opposite response`);
    }
    counts[response.replayed ? 'duplicate' : 'created']++;
    book(tallies, 'acknowledged', send);
  }

  function respondedBatch(send: PlannedSend, response: LoadResponse, again: boolean): 'booked' | 'repeat' {
    const items = send.replayed.length;
    const summary = response.status === 200 ? summaryOf(response.body) : undefined;
    if (!summary) {
      counts.rejected += items;
      fault(`a batch of ${items} returned ${response.status}: ${startOf(response.body)}`);
      return 'booked';
    }
    const readWhole = summary.errors > 0 || responses++ % readWholeEvery === 0;
    const results = readWhole ? resultsOf(response.body) : undefined;
    if (results?.some(({ error }) => error?.code === 'unavailable')) return 'repeat';
    if (results) counts.responsesReadWhole++;
    const text = batchFault(send, summary, results, again);
    if (text !== undefined) fault(text);
    counts.created += summary.created;
    counts.duplicate += summary.duplicate;
    counts.rejected += summary.errors;
    const isStored = (at: number) => summary.errors === 0 || results?.[at]?.status !== 'error';
    book(tallies, 'acknowledged', send, isStored);
    return 'booked';
  }

  return {
    responded(send, response, again) {
      if (send.kind === 'batch') return respondedBatch(send, response, again);
      respondedSingle(send, response, again);
      return 'booked';
    },
    withoutResponse(send) {
      counts.withoutResponse += send.replayed.length;
      book(tallies, 'uncertain', send);
    },
    counts: () => ({ ...counts }),
    tallies: () => tallies,
    faults,
  };
}

/** The new events of a send; replays were booked before. */
function book(
  tallies: readonly Tallies[],
  into: keyof Tallies,
  send: PlannedSend,
  isStored: (at: number) => boolean = () => true,
): void {
  for (let at = 0; at < send.replayed.length; at++) {
    const tally = tallies[send.customers[at] ?? 0]?.[into];
    if (!tally || send.replayed[at] === 1 || !isStored(at)) continue;
    tally.events++;
    tally.thousandths += send.thousandths[at] ?? 0;
  }
}

interface Summary {
  total: number;
  created: number;
  duplicate: number;
  errors: number;
}

interface Result {
  index?: unknown;
  status?: unknown;
  error?: { code?: unknown };
}

/** It comes first; where it does not, the whole response is read. */
function summaryOf(body: Buffer): Summary | undefined {
  const head = body.toString('latin1', 0, 200);
  const [text] = /(?<=^\{"summary":)\{[^{}]*\}/.exec(head) ?? [];
  try {
    return JSON.parse(text ?? JSON.stringify((JSON.parse(body.toString()) as { summary: Summary }).summary));
  } catch {
    return undefined;
  }
}

function resultsOf(body: Buffer): Result[] | undefined {
  try {
    return (JSON.parse(body.toString()) as { results?: Result[] }).results ?? [];
  } catch {
    return [];
  }
}

function batchFault(
  { replayed }: PlannedSend,
  summary: Summary,
  results: Result[] | undefined,
  again: boolean,
): string | undefined {
  const items = replayed.length;
  const { total, created, duplicate, errors } = summary;
  const fresh = items - replayed.reduce((sum, one) => sum + one, 0);
  const counts = `${created} created, ${duplicate} duplicate and ${errors} rejected of ${total}`;
  if (errors > 0) {
    const rejected = results?.find(({ status }) => status === 'error')?.error?.code;
    return `a batch has ${errors} rejected items, the first as ${rejected}`;
  }
  const sound = total === items && created + duplicate === items;
  if (!sound || (again ? created > fresh : created !== fresh)) {
    return `a batch of ${fresh} new events and ${items - fresh} replays returned ${counts}`;
  }
  if (results && results.length !== items) return `a batch of ${items} got ${results.length} results`;
  const wrong = results?.findIndex(({ index, status }, at) => {
    return index !== at || !isExpected(status, replayed[at] === 1, again);
  });
  if (wrong === undefined || wrong < 0) return undefined;
  return `result ${wrong} of a batch is ${JSON.stringify(results?.[wrong])}`;
}

function isExpected(status: unknown, isReplay: boolean, again: boolean): boolean {
  if (isReplay) return status === 'duplicate';
  return status === 'created' || (again && status === 'duplicate');
}

function startOf(body: Buffer): string {
  return body.toString('utf8', 0, 200).replaceAll(/\s+/g, ' ');
}
