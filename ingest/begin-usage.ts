import type { Engine, Response, UsageRequest } from '../infra/ports/engine.ts';
import { KeysToRead } from '../infra/ports/idempotency-store.ts';
import type { CommitOutcome, CommitWaiter, GroupCommit } from './embedded/group-commit.ts';

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
    // mutant: response-not-waited-for
    if (commit) groupCommit.commit(commit, new WaitingReply(reply, response, created));
    else reply.respond(response, created);
  }

  function begin(request: UsageRequest, reply: UsageReply, readsLeft: number): void {
    try {
      const reading = engine.read(request);
      if (!(reading instanceof Promise)) decideAndCommit(reading, reply);
      else decideLater(reading, request, reply).catch((error) => reply.fail(error));
    } catch (error) {
      if (error instanceof KeysToRead && readsLeft > 0) beginAgain(error, request, reply, readsLeft - 1);
      else reply.fail(error);
    }
  }

  /** Its body is read again, so it is copied in the turn in which it is still there. */
  function beginAgain(keys: KeysToRead, request: UsageRequest, reply: UsageReply, readsLeft: number): void {
    // mutant: lent-body-read-later
    const kept = { ...request, body: Buffer.from(request.body) };
    keys
      .read(request.environment)
      .then(() => begin(kept, reply, readsLeft))
      .catch((error) => reply.fail(error));
  }

  /** What took a while to read has memory of its own. */
  async function decideLater(
    reading: Promise<unknown>,
    { environment }: UsageRequest,
    reply: UsageReply,
  ): Promise<void> {
    const read = await reading;
    for (let readsLeft = KEY_READS_MAX; ; readsLeft--) {
      try {
        return decideAndCommit(read, reply);
      } catch (error) {
        if (!(error instanceof KeysToRead) || readsLeft === 0) throw error;
        await error.read(environment);
      }
    }
  }

  return (request, reply) => begin(request, reply, KEY_READS_MAX);
}

/** Between a read and its claim a merge may move the keys to another file, though not each time. */
const KEY_READS_MAX = 3;

/** A response until its events are durable. A class because one is made for every request. */
class WaitingReply implements CommitWaiter {
  private readonly reply: UsageReply;
  private readonly response: Response;
  private readonly created: number;

  constructor(reply: UsageReply, response: Response, created: number) {
    this.reply = reply;
    this.response = response;
    this.created = created;
  }

  resolve(outcome: CommitOutcome): void {
    if (outcome === 'durable') this.reply.respond(this.response, this.created);
    else this.reply.noSpace();
  }

  reject(error: unknown): void {
    this.reply.fail(error);
  }
}
