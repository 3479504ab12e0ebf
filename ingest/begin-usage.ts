import type { Engine, Response, UsageRequest } from '../infra/ports/engine.ts';
import { KeysToRead } from '../infra/ports/idempotency-store.ts';
import type { CommitOutcome, GroupCommit } from './embedded/group-commit.ts';

/**
 * From a request's body to its reply, in this turn or later. `request.body` is not read after the call.
 * Never throws. Callbacks: a promise for each step costs a tenth of what a single event costs.
 */
export type BeginUsage = (request: UsageRequest, reply: UsageReply) => void;

/** Exactly one of these is called, once. None of them throws. */
export interface UsageReply {
  /** What the response says is durable. `created`: how many events the request has added. */
  respond(response: Response, created: number): void;
  /** Nothing of the request was stored. */
  noSpace(): void;
  fail(error: unknown): void;
}

/**
 * Over a log and keys of this process alone. What was read is released here: kept until the flush, its
 * objects outlive the young heap and double the GC.
 */
export function createBeginUsage(engine: Engine, groupCommit: GroupCommit): BeginUsage {
  /** In one turn from the claim to the commit: frames carry events in the order of their claims. */
  function decideAndCommit(reading: unknown, reply: UsageReply): void {
    const { response, commit } = engine.decide(reading);
    const created = commit?.eventCount ?? 0;
    const respond = () => reply.respond(response, created);
    const settle = (outcome: CommitOutcome) => (outcome === 'durable' ? respond() : reply.noSpace());
    // mutant: response-not-waited-for
    if (commit) groupCommit.commit(commit, settle, (error) => reply.fail(error));
    else respond();
  }

  /** Its body is read again: it is kept for that, in the turn in which it still is there. */
  function beginAgain(
    { whenRead }: KeysToRead,
    request: UsageRequest,
    reply: UsageReply,
    triesLeft: number,
  ): void {
    // mutant: lent-body-read-later
    const kept = { ...request, body: Buffer.from(request.body) };
    whenRead.then(() => begin(kept, reply, triesLeft)).catch((error) => reply.fail(error));
  }

  async function decideLater(reading: Promise<unknown>, reply: UsageReply): Promise<void> {
    const read = await reading;
    for (let triesLeft = TRIES_MAX; ; triesLeft--) {
      try {
        return decideAndCommit(read, reply);
      } catch (error) {
        if (!(error instanceof KeysToRead) || triesLeft === 0) throw error;
        await error.whenRead;
      }
    }
  }

  function begin(request: UsageRequest, reply: UsageReply, triesLeft: number): void {
    try {
      const reading = engine.read(request);
      if (!(reading instanceof Promise)) decideAndCommit(reading, reply);
      else decideLater(reading, reply).catch((error) => reply.fail(error));
    } catch (error) {
      if (error instanceof KeysToRead && triesLeft > 0) beginAgain(error, request, reply, triesLeft - 1);
      else reply.fail(error);
    }
  }

  return (request, reply) => begin(request, reply, TRIES_MAX);
}

/** A merge may move the keys to another file between a read and its claim; not each time. */
const TRIES_MAX = 3;
