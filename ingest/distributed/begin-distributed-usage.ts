import type { Logger } from 'pino';
import type { Clock } from '../../infra/ports/clock.ts';
import type { DistributedEngine, Identified, Response, UsageRequest } from '../../infra/ports/engine.ts';
import type { PartitionWriter } from '../../infra/ports/event-log.ts';
import { type DistributedIdempotencyStore, OUTCOME } from '../../infra/ports/idempotency-store.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { Transient } from '../../schemas/failures.ts';
import type { BeginUsage } from '../begin-usage.ts';
import { createBufferPool } from '../buffer-pool.ts';
import { decideCold } from './cold-keys.ts';
import { createPartitionCommit, type WaitingPart } from './partition-commit.ts';
import { createProduceBatcher } from './produce-batcher.ts';
import { splitRequest } from './split-request.ts';

export interface DistributedUsageDeps {
  engine: DistributedEngine;
  keys: DistributedIdempotencyStore;
  partitions: number;
  writer(partition: number): PartitionWriter;
  /** Where the events are that are older than what the keys still know. */
  warehouse: Pick<Warehouse, 'query'>;
  clock: Clock;
  log: Logger;
  /** Seconds of one append, events in the frame. */
  onFrame?: (seconds: number, eventCount: number) => void;
}

export interface DistributedUsage {
  begin: BeginUsage;
  /** Waits for what is in flight. No request may come any more. */
  drain(): Promise<void>;
}

/** A request whose events are durable. */
interface Decided {
  response: Response;
  created: number;
}

/** The limit under any load. Work that has begun continues. */
const RESPONDED_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 100;
const POOL_BYTES_MAX = 16 * 1024 * 1024;
const NONE: ReadonlySet<number> = new Set();

/**
 * Over a log and keys that several processes share: a request is split by partition, and each part decided.
 */
export function createDistributedUsage(deps: DistributedUsageDeps): DistributedUsage {
  const { engine, partitions, clock, keys, log, onFrame } = deps;
  const pool = createBufferPool(POOL_BYTES_MAX);
  const setOut = createProduceBatcher();
  const commits = Array.from({ length: partitions }, (_, partition) => {
    const own = { keys, writer: deps.writer(partition), partition, pool, setOut, clock, log };
    return createPartitionCommit(onFrame ? { ...own, onFrame } : own);
  });
  const waiting = new Set<WaitingPart>();
  const timer = setInterval(giveUp, LOOK_EVERY_MS);

  /** In the order of arrival: behind the first that is recent all are. */
  function giveUp(): void {
    for (const commit of commits) commit.giveUpStuck();
    const oldest = clock.monotonicMs() - RESPONDED_WITHIN_MS;
    for (const part of waiting) {
      if (part.enteredAtMs > oldest) return;
      part.failed(new Transient('overloaded', 'Too much waits for log and keys.'));
    }
  }

  async function decide(request: UsageRequest): Promise<Decided> {
    const reading = engine.read(request);
    const identified = engine.identify(reading instanceof Promise ? await reading : reading);
    return 'count' in identified ? await commit(identified) : { ...identified, created: 0 };
  }

  async function commit(identified: Identified): Promise<Decided> {
    const outcomes = new Uint8Array(identified.count);
    const isCold = identified.cold.length > 0;
    const decided = isCold ? await decideCold(deps.warehouse, identified, outcomes) : NONE;
    const enteredAtMs = clock.monotonicMs();
    const parts = splitRequest(identified, partitions, (item) => decided.has(item));
    const given = { identified, outcomes, enteredAtMs };
    await Promise.all(
      parts.map(({ partition, ...part }) =>
        whenDecided({ ...given, ...part }, waiting, (one) => commits[partition]?.add(one)),
      ),
    );
    const response: Response = identified.response(outcomes);
    const created = outcomes.reduce((sum, one) => sum + (one === OUTCOME.created ? 1 : 0), 0);
    // Not where a part has failed: its round may still be running.
    identified.release();
    return { response, created };
  }

  return {
    begin: (request, reply) =>
      void decide(request).then(
        ({ response, created }) => reply.respond(response, created),
        (error) => reply.fail(error),
      ),
    async drain() {
      await Promise.all(commits.map((one) => one.drain()));
      clearInterval(timer);
    },
  };
}

/** `waiting` knows the part until then: what is not in it any more need not be begun. */
function whenDecided(
  given: Omit<WaitingPart, 'isOver' | 'done' | 'failed'>,
  waiting: Set<WaitingPart>,
  add: (part: WaitingPart) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const part: WaitingPart = {
      ...given,
      isOver: () => !waiting.has(part),
      done() {
        waiting.delete(part);
        resolve();
      },
      failed(error) {
        waiting.delete(part);
        reject(error);
      },
    };
    waiting.add(part);
    add(part);
  });
}
