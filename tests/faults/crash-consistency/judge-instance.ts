import { execFileSync } from 'node:child_process';
import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createApi } from '../../support/api.ts';
import { auditOf } from '../../support/audit-of.ts';
import { compareCounters, compareEvents, type Judged } from '../../support/compare.ts';
import { startInstance } from '../../support/instance.ts';
import { createLedger } from '../../support/ledger.ts';
import { sendAll } from '../../support/send.ts';
import { compareLog } from '../../support/stored-events.ts';
import { problemsOf } from '../judged-instance.ts';
import { cutPower, type PowerCut } from './power-cut.ts';
import { ENVIRONMENT, type RecordedInstance } from './record-instance.ts';

const CONNECTIONS = 6;
const PATIENCE_MS = 30_000;

/**
 * Starts a whole Metergate on what a power cut left. Its client knows the responses that were sent
 * before and sends everything else again. Then responses, counters, stored events, log and audit are judged.
 */
export async function judgeInstance(recorded: RecordedInstance, cut: PowerCut): Promise<string[]> {
  const prepare = async (dataDir: string): Promise<void> => {
    cutPower(recorded.history, cut, dataDir);
    giveRights(dataDir, recorded.before);
  };
  const instance = await startInstance(ENVIRONMENT, { prepare });
  const ledger = createLedger(recorded.world);
  const key = instance.keys().live.secret;
  const api = createApi({ origin: instance.origin, key, connections: CONNECTIONS });
  const judged: Judged = { api, ledger, world: recorded.world };
  try {
    const options = { api, ledger, connections: CONNECTIONS, patienceMs: PATIENCE_MS };
    await sendAll(open(recorded, cut, ledger), options);
    // Rows are not counted: a cut may take the token of a part and leave the part, which is then stored twice
    // until ClickHouse merges it. Readers of events read them merged, and hours are computed from such reads.
    const { dataDir } = instance;
    const stored = [() => auditOf(dataDir), () => compareLog(dataDir, ledger)];
    return await problemsOf(judged, compareCounters, compareEvents, ...stored);
  } finally {
    await api.close();
    await instance.remove();
  }
}

/** The requests that have to be sent again. */
function open({ sent }: RecordedInstance, { time }: PowerCut, ledger: Judged['ledger']) {
  const again = sent.filter((one) => one.time > time).map(({ request }) => request);
  for (const request of again) ledger.withoutResponse(request);
  for (const one of sent) if (one.time <= time) ledger.responded(one.request, one.response);
  return again;
}

/** The owners and rights that the programs insist on. */
function giveRights(dataDir: string, before: string): void {
  const { uid, gid } = statSync(join(before, 'postgres'));
  execFileSync('chown', ['-R', `${uid}:${gid}`, join(dataDir, 'postgres')]);
  chmodSync(dataDir, 0o711);
}
