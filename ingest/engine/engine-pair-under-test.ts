import type { EngineHarness } from '../../infra/ports/conformance/engine-harness.ts';
import {
  CUSTOMER,
  ENVIRONMENT,
  NOW_MS,
  REQUEST_ID,
  rowsOf,
} from '../../infra/ports/conformance/engine-session.ts';
import type { UsageRequest } from '../../infra/ports/engine.ts';
import { onceKeysAreRead } from '../../tests/support/once-keys-are-read.ts';
import { createEngineHarness } from './engine-under-test.ts';
import { createJsEngine } from './js/js-engine.ts';
import type { Sent } from './random-requests-under-test.ts';
import { createWasmEngine } from './wasm/wasm-engine.ts';

/** The js engine and the wasm engine in front of it, each over stores of its own, in the same world. */
export interface EnginePair {
  plain: EngineHarness;
  fast: EngineHarness;
  close(): Promise<void>;
}

export async function openEnginePair(): Promise<EnginePair> {
  const plain = await createEngineHarness(createJsEngine);
  const fast = await createEngineHarness(createWasmEngine);
  for (const engine of [plain, fast]) fill(engine);
  return {
    plain,
    fast,
    async close() {
      await plain.close();
      await fast.close();
    },
  };
}

/** The names that random-requests-under-test.ts uses. */
function fill(engine: EngineHarness): void {
  engine.setNow(NOW_MS);
  engine.putCustomer({ id: CUSTOMER, externalId: 'acme' });
  engine.putCustomer({ id: 'cus_oooooooooooooooooooooooooo', externalId: 'other' });
  engine.putCustomer({ id: 'cus_gggggggggggggggggggggggggg', externalId: 'gone', archived: true });
  engine.putMeter({ key: 'api_calls' });
  engine.putMeter({ key: 'users', property: 'user' });
  engine.putMeter({ key: 'seats', isLatest: true });
  engine.putMeter({ key: 'old_calls', archived: true });
}

export function requestOf(request: Sent): UsageRequest {
  return { environment: ENVIRONMENT, includeEvents: false, requestId: REQUEST_ID, ...request };
}

/** What a request makes of itself, as text where bytes would be hard to read. */
export async function respondTo(harness: EngineHarness, request: Sent): Promise<object> {
  const { engine } = harness;
  const decide = async () => engine.decide(await engine.read(requestOf(request)));
  const { response, commit } = await onceKeysAreRead(decide);
  const made = {
    status: response.status,
    replayed: response.replayed,
    ignored: response.ignored ?? [],
    itemErrors: response.itemErrors ?? 0,
    body: response.body.toString(),
    eventCount: commit?.eventCount,
    records: commit && Buffer.from(commit.records).toString('hex'),
    rows: commit && rowsOf(commit),
    touched: commit?.touched.map((span) => JSON.stringify(span)).sort(),
    waits: commit?.claim.waits,
  };
  if (commit) await harness.commit(commit);
  return made;
}
