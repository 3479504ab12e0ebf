import { randomUUID } from 'node:crypto';
import type { OwnBatchResponse, SendBatch } from '../../infra/own-usage/usage-writer.ts';
import type { UsageRequest } from '../../infra/ports/engine.ts';
import { Transient } from '../../schemas/failures.ts';
import type { BeginUsage } from '../begin-usage.ts';

export interface OwnBatchesDeps {
  begin: BeginUsage;
  isDiskLow: () => boolean;
  /** Counts what was created. */
  created: (events: number) => void;
}

/** A MiB each. Others are rejected: their callers send them again. */
const UNDER_WAY_MAX = 16;

/** Batches that this process writes. */
export function createOwnBatches({ begin, isDiskLow, created: count }: OwnBatchesDeps): SendBatch {
  let underWay = 0;

  function write(request: UsageRequest): Promise<OwnBatchResponse> {
    return new Promise((resolve, reject) => {
      begin(request, {
        respond({ status, body, release }, created) {
          // A copy: its memory is used again for the response of another request.
          const response = { status, body: Buffer.from(body) };
          release?.();
          count(created);
          resolve(response);
        },
        noSpace: () => reject(NO_SPACE()),
        fail: reject,
      });
    });
  }

  return async ({ environment, change, body }) => {
    if (isDiskLow()) throw NO_SPACE();
    if (underWay >= UNDER_WAY_MAX) throw new Transient('overloaded', 'Too much usage of our own waits.');
    underWay++;
    try {
      return await write({
        environment,
        kind: 'batch',
        body,
        isBodyKept: true,
        includeEvents: true,
        isOwn: true,
        change,
        requestId: randomUUID(),
      });
    } finally {
      underWay--;
    }
  };
}

const NO_SPACE = () => new Transient('no_space', 'The disk is nearly full: no usage is written.');
