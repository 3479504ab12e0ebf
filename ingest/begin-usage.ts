import type { Engine, Response, UsageRequest } from '../infra/ports/engine.ts';
import type { CommitOutcome, GroupCommit } from './embedded/group-commit.ts';

/** From a request's body to the response, which is sent once the events are durable. */
export type BeginUsage = (request: UsageRequest) => Begun | Promise<Begun>;

/** A request that was decided; `durable` is present when the response has to wait for it. */
export interface Begun {
  response: Response;
  created: number;
  durable: Promise<CommitOutcome> | undefined;
}

/**
 * Over a log and keys of this process alone. What was read is released here: kept until the flush, its
 * objects outlive the young heap and double the GC.
 */
export function createBeginUsage(engine: Engine, groupCommit: GroupCommit): BeginUsage {
  /** No await between the claim and the commit: frames carry events in the order of their claims. */
  function decideAndCommit(reading: unknown): Begun {
    const { response, commit } = engine.decide(reading);
    return { response, created: commit?.eventCount ?? 0, durable: commit && groupCommit.commit(commit) };
  }

  return (request) => {
    const reading = engine.read(request);
    return reading instanceof Promise ? reading.then(decideAndCommit) : decideAndCommit(reading);
  };
}
