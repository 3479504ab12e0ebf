import { onTestFinished } from 'vitest';
import { RECORD_BYTES } from '../../../schemas/stored/record.ts';
import { onceKeysAreRead } from '../../../tests/support/once-keys-are-read.ts';
import { type Claim, type IdempotencyStore, OUTCOME, type Outcome } from '../idempotency-store.ts';

/** A store together with the log whose view it is. */
export interface IdempotencyStoreHarness {
  store(): IdempotencyStore;
  /** Makes records durable on the log, as one frame; returns the position behind it. */
  write(records: Uint8Array): Promise<number>;
  /** Ends the store and starts it again: in good order, or as a kill at this time leaves it. */
  restart(how: 'clean' | 'killed'): Promise<void>;
  close(): Promise<void>;
}

export type CreateStoreHarness = () => Promise<IdempotencyStoreHarness>;

/** An item to be judged. `id` is for a whole event id. */
export interface Item {
  id: number;
  fingerprint: number;
  occurredAtMs: number;
  createdAtMs: number;
  readOnly?: boolean;
  /** Which of the id's 128 bits is another. */
  turnedBit?: number;
}

export interface Judged {
  outcome: Outcome;
  occurredAtMs: number;
  createdAtMs: number;
}

export function item(fields: Partial<Item>): Item {
  return { id: 1, fingerprint: 7, occurredAtMs: 1, createdAtMs: 2, ...fields };
}

/**
 * A store and what was done with it: claims are numbered, and stay open until they are durable or released.
 */
export interface Session {
  claim(items: Item[]): Promise<Judged[]>;
  lastClaim(): Claim;
  /** Claims that are open. */
  open(): number;
  /** Makes the oldest open claims durable, in one frame; `unconfirmed` leaves the store without the news. */
  commit(count?: number, unconfirmed?: 'unconfirmed'): Promise<void>;
  /** Gives back the open claims from the nth on. */
  release(nth: number): Promise<void>;
  restart(how: 'clean' | 'killed'): Promise<void>;
  close(): Promise<void>;
}

/** Closed when the test is over. */
export async function openSession(create: CreateStoreHarness): Promise<Session> {
  const session = await startSession(create);
  onTestFinished(() => session.close());
  return session;
}

export async function startSession(create: CreateStoreHarness): Promise<Session> {
  const harness = await create();
  let open: Array<{ claim: Claim; created: Uint8Array }> = [];
  let lastClaim: Claim = { created: 0, waits: false };

  return {
    lastClaim: () => lastClaim,
    open: () => open.length,
    async claim(items) {
      const records = encodeItems(items);
      const readOnly = Uint8Array.from(items, (one) => (one.readOnly ? 1 : 0));
      const outcomes = new Uint8Array(items.length);
      lastClaim = await onceKeysAreRead(() =>
        harness.store().claim({ count: items.length, records, readOnly, outcomes }),
      );
      open.push({ claim: lastClaim, created: createdOf(records, outcomes) });
      return judgedOf(records, outcomes);
    },
    async commit(count = open.length, unconfirmed) {
      const frame = open.splice(0, count);
      const end = await harness.write(Buffer.concat(frame.map(({ created }) => created)));
      const claims = frame.map(({ claim }) => claim);
      if (!unconfirmed) await harness.store().confirm(claims, end);
    },
    async release(nth) {
      await harness.store().release(open.splice(nth).map(({ claim }) => claim));
    },
    async restart(how) {
      open = [];
      await harness.restart(how);
    },
    close: () => harness.close(),
  };
}

const WORDS = RECORD_BYTES / 4;

/**
 * All ids agree in their first 64 bits: whatever a store shortens them to, it must still distinguish them.
 */
function encodeItems(items: Item[]): Uint32Array {
  const records = new Uint32Array(items.length * WORDS);
  const times = new Float64Array(records.buffer);
  for (const [nth, { id, fingerprint, turnedBit, occurredAtMs, createdAtMs }] of items.entries()) {
    const at = nth * WORDS;
    records.set([0xfffffffe, 5, id, 9, fingerprint, 3], at);
    if (turnedBit !== undefined) {
      const word = at + (turnedBit >> 5);
      records[word] = (records[word] ?? 0) ^ (1 << (turnedBit & 31));
    }
    times.set([occurredAtMs, createdAtMs], at / 2 + 3);
  }
  return records;
}

function createdOf(records: Uint32Array, outcomes: Uint8Array): Uint8Array {
  const created = [...outcomes.keys()].filter((nth) => outcomes[nth] === OUTCOME.created);
  const bytes = Buffer.from(records.buffer);
  return Buffer.concat(created.map((nth) => bytes.subarray(nth * RECORD_BYTES, (nth + 1) * RECORD_BYTES)));
}

function judgedOf(records: Uint32Array, outcomes: Uint8Array): Judged[] {
  const times = new Float64Array(records.buffer);
  return Array.from(outcomes, (outcome, nth) => ({
    outcome: outcome as Outcome,
    occurredAtMs: times[(nth * WORDS) / 2 + 3] ?? Number.NaN,
    createdAtMs: times[(nth * WORDS) / 2 + 4] ?? Number.NaN,
  }));
}
