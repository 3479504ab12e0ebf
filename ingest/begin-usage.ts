import type { Engine, Response, UsageRequest } from '../infra/ports/engine.ts';
import { KeysToRead } from '../infra/ports/idempotency-store.ts';
import type { CommitOutcome, CommitWaiter, GroupCommit } from './embedded/group-commit.ts';

/**
 * From a request's body to its reply, in this turn or later. A lent body is not read after the call.
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
      else decideLater(reading, withKeptBody(request), reply, readsLeft);
    } catch (error) {
      beginAgainOrFail(error, request, reply, readsLeft);
    }
  }

  function decideLater(
    reading: Promise<unknown>,
    request: UsageRequest,
    reply: UsageReply,
    readsLeft: number,
  ): void {
    reading
      .then((read) => decideAndCommit(read, reply))
      .catch((error) => beginAgainOrFail(error, request, reply, readsLeft));
  }

  /** From its body, whatever had been read of it: while keys are read, a body is all that is in memory. */
  function beginAgainOrFail(
    error: unknown,
    request: UsageRequest,
    reply: UsageReply,
    readsLeft: number,
  ): void {
    if (!(error instanceof KeysToRead) || readsLeft === 0) {
      reply.fail(error);
      return;
    }
    const kept = withKeptBody(request);
    error
      .read(request.environment)
      .then(() => begin(kept, reply, readsLeft - 1))
      .catch((error) => reply.fail(error));
  }

  return (request, reply) => begin(request, reply, KEY_READS_MAX);
}

/** Between a read and its claim a merge may move the keys to another file, though not each time. */
const KEY_READS_MAX = 3;

/** In the turn in which a lent body is still there: it is copied, once. */
function withKeptBody(request: UsageRequest): UsageRequest {
  if (request.isBodyKept) return request;
  // mutant: lent-body-read-later
  return { ...request, body: Buffer.from(request.body), isBodyKept: true };
}

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
