import { existsSync } from 'node:fs';
import { seenInTime } from '../../tests/support/in-time.ts';
import { type OpenedInstance, openInstance } from '../../tests/support/open-instance.ts';
import { waitUntilRead } from '../../tests/support/wait-until-counted.ts';
import { queryOnce, withClient } from '../../tests/support/with-client.ts';
import { instanceCosts, microsSince, rssPeaksMib } from '../measure-instance.ts';
import { timed } from '../samples.ts';
import { createCatalogue, METERS } from './catalogue.ts';
import { createCustomers } from './create-customers.ts';
import { sendUsage } from './send-usage.ts';

export interface LargeInstallation extends OpenedInstance {
  /** Ids, those with most usage first. */
  customers: string[];
  /** Seconds of each part of the preparation; CPU-seconds and memory of each process after it. */
  preparation: Record<string, object>;
}

export interface InstallationSize {
  customers: number;
  events: number;
  /** Left there, and measured as it is when there is one already. */
  dataDir: string | undefined;
}

const COUNTED_MS = 400_000;
const SETTLED = { timeoutMs: 400_000, everyMs: 250 };
const PROGRESS_EVERY_MS = 5_000;

/** Prints how far it is. */
export async function openLargeInstallation(size: InstallationSize): Promise<LargeInstallation> {
  const { dataDir } = size;
  const isThere = dataDir !== undefined && existsSync(dataDir);
  const options = { connections: 8, ...(dataDir === undefined ? {} : { dataDir }) };
  const opened = await openInstance({ LOG_LEVEL: 'warn' }, options);
  try {
    const preparation = isThere ? {} : await prepare(opened, size);
    return { ...opened, customers: await customersOf(opened), preparation };
  } catch (error) {
    process.stderr.write(`${opened.instance.log()}\n`);
    await opened.close();
    throw error;
  }
}

async function prepare(opened: OpenedInstance, size: InstallationSize): Promise<Record<string, object>> {
  const { instance, api } = opened;
  const preparation: Record<string, object> = {};
  const step = async (name: string, act: () => Promise<void>) => {
    const before = instanceCosts(instance);
    const seconds = Math.round((await timed(act)) / 1_000);
    const after = instanceCosts(instance);
    const cpuSeconds = microsSince(before, after, (micros) => Math.round(micros / 1_000_000));
    preparation[name] = { seconds, cpuSeconds, rssPeakMib: rssPeaksMib(after) };
    process.stdout.write(`${name} ${JSON.stringify(preparation[name])}\n`);
  };
  await step('customers', () =>
    withClient(instance.postgresUrl(), async (client) => {
      await createCustomers(api, client, { planIds: await createCatalogue(api), count: size.customers });
    }),
  );
  const customers = await customersOf(opened);
  await step('acknowledged', () => send(opened, { ...size, customers }));
  await step('counted', () => waitUntilRead(api, `/usage/${customers[0]}/${METERS.limited}`, COUNTED_MS));
  await step('settled', () => untilSettled(opened));
  return preparation;
}

async function customersOf({ instance }: OpenedInstance): Promise<string[]> {
  const rows = await queryOnce<{ id: string }>(
    instance.postgresUrl(),
    'SELECT id FROM customers WHERE environment = $1 ORDER BY md5(id)',
    [`${instance.keys().workspaceId}:live`],
  );
  return rows.map(({ id }) => id);
}

async function send(
  { instance }: OpenedInstance,
  { customers, events }: { customers: readonly string[]; events: number },
): Promise<void> {
  let acknowledged = 0;
  const timer = setInterval(() => {
    process.stdout.write(`${acknowledged} of ${events} events acknowledged\n`);
  }, PROGRESS_EVERY_MS);
  const to = { origin: instance.origin, key: instance.keys().live.secret };
  const onAcknowledged = (more: number) => {
    acknowledged += more;
  };
  await sendUsage({ ...to, customers, events, nowMs: Date.now(), onAcknowledged }).finally(() =>
    clearInterval(timer),
  );
}

/** Levels are as the usage is from then on. */
async function untilSettled({ instance }: OpenedInstance): Promise<void> {
  let lastShown = 0;
  await withClient(instance.postgresUrl(), (client) =>
    seenInTime(
      async () => {
        const { rows } = await client.query<{ left: string }>(
          `SELECT count(*) AS left FROM log_ranges WHERE state <> 'settled'`,
        );
        const left = Number(rows[0]?.left);
        if (performance.now() - lastShown > PROGRESS_EVERY_MS) {
          process.stdout.write(`${left} ranges to be settled\n`);
          lastShown = performance.now();
        }
        return left === 0 || undefined;
      },
      SETTLED,
      'the settlement',
    ),
  );
}
