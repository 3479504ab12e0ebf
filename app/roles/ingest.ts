/**
 * The data plane's process: takes usage events, acknowledges them once they are durable, forwards all else.
 * Runs under the supervisor of `npm start`, or as a process of its own, one of any number: `npm run ingest`.
 */

import { type DerivedSecrets, deriveSecrets, readServerSecret } from '../../domain/secrets.ts';
import { chooseFront } from '../../infra/http/choose-front.ts';
import { FRONT_LIMITS } from '../../infra/http/front-limits.ts';
import { createNodeFront } from '../../infra/http/node-front.ts';
import { type DataDir, dataDirAt, prepareDataDir } from '../../infra/platform/data-dir.ts';
import { createMetrics } from '../../infra/platform/metrics.ts';
import { createOperatorAccess } from '../../infra/platform/operator-access.ts';
import { poll } from '../../infra/platform/poll.ts';
import { identityOf } from '../../infra/platform/process-identity.ts';
import { acquireLock } from '../../infra/platform/process-lock.ts';
import { createRejectionLog, type RejectionLog } from '../../infra/platform/rejection-log.ts';
import { systemClock } from '../../infra/ports/clock.ts';
import type { Exchange, HttpFront } from '../../infra/ports/http-front.ts';
import { createPool } from '../../infra/postgres/pool.ts';
import { traceExchanges } from '../../infra/tracing/traced-exchange.ts';
import { createEndpointDiscovery, type EndpointDiscovery } from '../../ingest/endpoint-discovery.ts';
import { createForwarder } from '../../ingest/forward/forward.ts';
import { createSenderOf } from '../../ingest/forward/sender-of.ts';
import { createOperations } from '../../ingest/http/operations.ts';
import { rejectedRequest, sendRejection } from '../../ingest/http/send-rejection.ts';
import { usageOperation } from '../../ingest/http/usage-operation.ts';
import { createForwardMetrics } from '../../ingest/metrics.ts';
import { Fatal } from '../../schemas/failures.ts';
import type { Config } from '../config/config.ts';
import { checkRoleNeeds } from '../config/role-needs.ts';
import type { Accept, DataPlane, UsagePath } from './data-plane.ts';
import { type EmbeddedDataPlane, openEmbeddedUsage } from './ingest-embedded.ts';
import { openTracing } from './open-tracing.ts';
import { openOwnUsagePort } from './own-usage.ts';
import { runRole } from './role-process.ts';

const POOL_CONNECTIONS_MAX = 4;
const LISTEN_PATIENCE = { timeoutMs: 3_000, everyMs: 100 };
/** Well under what the supervisor grants. */
const DRAIN_MS = 3_000;

/** With a supervisor there is a control side on this machine, which reports where it and Postgres are. */
const isSupervised = process.send !== undefined;

await runRole('ingest', async (context) => {
  const { config } = context;
  if (!isSupervised) checkRoleNeeds('ingest', config);
  const paths = isSupervised ? prepareDataDir(config.dataDir) : dataDirAt(config.dataDir);
  // For as long as this process is there: a step of the stop that takes too long may still write.
  if (isSupervised) await acquireLock(paths.lock('ingest'), identityOf(process.ppid));
  const endpointDiscovery = isSupervised
    ? createEndpointDiscovery(paths.endpoints, systemClock, config.databaseUrl)
    : ownEndpointDiscovery(config);
  const url = () => endpointDiscovery.postgresUrl() ?? '';
  const pool = createPool({ url, name: 'ingest', log: context.log, max: POOL_CONNECTIONS_MAX });
  context.closer.add('pool', { close: () => pool.end() });
  const opening = { why: 'the log and the keys are being opened' };
  const metrics = createMetrics('ingest');
  const secrets = secretsOf(config, paths);
  const rejections = createRejectionLog(context.log);
  const dataPlane = { ...context, paths, metrics, endpointDiscovery, pool, secrets, rejections, opening };
  return await serve(dataPlane, () => openUsage(dataPlane));
});

/** The clients of the distributed stores, loaded only in distributed mode. */
async function openUsage(dataPlane: EmbeddedDataPlane): Promise<UsagePath> {
  if (!dataPlane.config.distributed) return await openEmbeddedUsage(dataPlane);
  const { openDistributedUsage } = await import('./ingest-distributed.ts');
  return await openDistributedUsage(dataPlane, dataPlane.config.distributed);
}

function ownEndpointDiscovery({ databaseUrl, controlPlaneUrl }: Config): EndpointDiscovery {
  return { postgresUrl: () => databaseUrl, controlUrl: () => controlPlaneUrl };
}

function secretsOf({ serverSecret: given }: Config, { root: dataDir }: DataDir): () => DerivedSecrets {
  let secrets: DerivedSecrets | undefined;
  return () => {
    secrets ??= deriveSecrets(readServerSecret({ given, dataDir }));
    return secrets;
  };
}

/** Listens at once; usage gets 503 until the log and the keys are open. Resolves when they are. */
async function serve(
  dataPlane: EmbeddedDataPlane,
  open: () => Promise<UsagePath>,
): Promise<{ port: number }> {
  const { config, paths, closer, log, metrics, endpointDiscovery, rejections, opening } = dataPlane;
  let accept: Accept = (exchange) => rejectWhileOpening(exchange, rejections);
  let blockers: UsagePath['blockers'] = () => ({ opening: opening.why });

  let keys: UsagePath['keys'] | undefined;
  const forwarder = createForwarder({
    target: endpointDiscovery.controlUrl,
    log,
    rejections,
    senderOf: createSenderOf(() => keys),
    metrics: createForwardMetrics(metrics),
  });
  closer.add('forwarder', { close: () => forwarder.close() });
  const access = createOperatorAccess(config);
  const operations = createOperations({
    metrics,
    controlUrl: endpointDiscovery.controlUrl,
    isAlone: !isSupervised,
    access,
    rejections,
    blockers: () => blockers(),
    ownPort: config.metricsPort,
    controlToken: () => dataPlane.secrets().internalToken.toString('base64url'),
  });
  await openOperatorFront(dataPlane, operations.onOwnPort);
  const handle = (exchange: Exchange) => {
    const operation = usageOperation(exchange);
    if (operation) accept(exchange, operation);
    else if (!operations(exchange)) forwarder.forward(exchange);
  };
  const spans = openTracing(dataPlane);
  const front = await chooseFront(
    spans ? traceExchanges(handle, spans) : handle,
    { ...FRONT_LIMITS, connectionsMax: config.ingest.connectionsMax },
    log,
  );
  const port = await listen(front, { ...config, variables: 'HOST and PORT' });
  log.info({ port }, 'the data plane listens');

  const path = await open();
  if (isSupervised) await openOwnUsagePort(dataPlane, paths, path.sendOwn);
  // Last opened, first drained: no request may come when the log is closed.
  closer.add('front', { drain: () => front.close(DRAIN_MS) });
  ({ accept, keys } = path);
  blockers = path.blockers;
  return { port };
}

/** METRICS_PORT, where it is set. */
async function openOperatorFront(
  { config, closer, log }: DataPlane,
  serve: (exchange: Exchange) => void,
): Promise<void> {
  const { metricsHost: host, metricsPort: port } = config;
  if (port === undefined) return;
  const front = createNodeFront(serve, FRONT_LIMITS, log);
  await listen(front, { host, port, variables: 'METRICS_HOST and METRICS_PORT' });
  closer.add('operator port', { drain: () => front.close(DRAIN_MS) });
}

interface Address {
  host: string;
  port: number;
  /** What to set where it is taken. */
  variables: string;
}

/** A port that an ended process still holds becomes free soon; one that another process holds does not. */
async function listen(front: HttpFront, { host, port, variables }: Address): Promise<number> {
  let cause: unknown;
  const attempt = () =>
    front.listen(host, port).catch((error: unknown) => {
      cause = error;
      return undefined;
    });
  const listening = await poll(attempt, LISTEN_PATIENCE);
  if (listening !== undefined) return listening;
  const privileged = port > 0 && port < 1024 ? ' Ports below 1024 are for root on most machines.' : '';
  const message = `${host}:${port} is taken or not ours: set ${variables} to a free address.${privileged}`;
  throw new Fatal('listen_failed', message, { cause });
}

function rejectWhileOpening(exchange: Exchange, rejections: RejectionLog): void {
  const rejection = { code: 'unavailable', message: 'Metergate is starting; send it again.' } as const;
  const status = sendRejection(exchange, rejection);
  rejections.rejected(status, () => rejectedRequest(exchange, rejection.code));
}
