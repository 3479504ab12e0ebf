/** How usage events of the installation itself come to the log, from wherever the control plane runs. */
import { Registry } from 'prom-client';
import type { DerivedSecrets } from '../../domain/secrets.ts';
import { createHttpBatches } from '../../infra/own-usage/http-batches.ts';
import { createUsageWriter, type SendBatch } from '../../infra/own-usage/usage-writer.ts';
import type { DataDir } from '../../infra/platform/data-dir.ts';
import { readOwnUsageUrl, writeOwnUsageUrl } from '../../infra/platform/endpoints-file.ts';
import { createRejectionLog } from '../../infra/platform/rejection-log.ts';
import type { UsageWriter } from '../../infra/ports/usage-writer.ts';
import { serveOwnUsage } from '../../ingest/own-usage/serve-own-usage.ts';
import { Transient } from '../../schemas/failures.ts';
import type { DistributedConfig } from '../config/role-needs.ts';
import { createControlServer } from './control-server.ts';
import type { DataPlane } from './data-plane.ts';
import type { Relational } from './relational.ts';
import type { RoleContext } from './role-process.ts';

/** For the control side of this machine, which finds it by a file. Drained before the log is closed. */
export async function openOwnUsagePort(
  { closer, log, fail, secrets }: DataPlane,
  paths: DataDir,
  send: SendBatch,
): Promise<void> {
  const server = await createControlServer({ log });
  closer.add('own usage', { drain: server.drain, close: server.close });
  server.serve(serveOwnUsage({ send, token: () => secrets().internalToken, log, fail }));
  writeOwnUsageUrl(paths.ownUsage, server.url);
}

/** Has the data plane of this machine write. */
export function ownUsageOfThisMachine(paths: DataDir, { internalToken: token }: DerivedSecrets): UsageWriter {
  return createUsageWriter(createHttpBatches({ url: () => readOwnUsageUrl(paths.ownUsage), token }));
}

/**
 * Writes in this process, onto the log and keys that all share. Returns at once: until they are available, a
 * write is Transient, and everything else is served.
 */
export function ownUsageOfThisProcess(
  context: RoleContext & { config: DistributedConfig },
  { pool, url }: Relational,
  secrets: DerivedSecrets,
): UsageWriter {
  const { config: given, log, fail } = context;
  const config = { ...given, storesWaitMs: Number.POSITIVE_INFINITY };
  const dataPlane: DataPlane = {
    ...context,
    config,
    pool,
    // Not shown anywhere: these count what the data planes count.
    metrics: new Registry(),
    endpointDiscovery: { postgresUrl: url, controlUrl: () => undefined },
    secrets: () => secrets,
    rejections: createRejectionLog(log),
    opening: { why: '' },
  };
  let send: SendBatch | undefined;
  open(dataPlane, config).then((opened) => {
    send = opened;
  }, fail);
  return createUsageWriter(async (batch) => {
    if (send) return await send(batch);
    throw new Transient('usage_not_written', `Usage cannot be written yet: ${dataPlane.opening.why}.`);
  });
}

/** The clients of the distributed stores, loaded only in distributed mode. */
async function open(dataPlane: DataPlane, { distributed }: DistributedConfig): Promise<SendBatch> {
  const { openDistributedUsage } = await import('./ingest-distributed.ts');
  return (await openDistributedUsage(dataPlane, distributed)).sendOwn;
}
