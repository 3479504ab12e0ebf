/**
 * `npm run bench:console`: how the console and what it reads behave on a large installation: 100,000
 * customers with a plan each and five million usage events. How long screens take, cold, in a real browser;
 * how long single reads take; what the processes hold in memory, and how long a start takes. Prints and
 * stores figures; asserts nothing. `-- --customers N`, `-- --events N`; `-- --data-dir FOLDER` leaves the
 * data there and measures them again.
 */
import { instanceCosts } from '../measure-instance.ts';
import { numberOption, OF_A_SCRIPT, readOptions, runScript } from '../read-options.ts';
import { keepResult } from '../result-file.ts';
import { timed } from '../samples.ts';
import { type LargeInstallation, openLargeInstallation } from './large-installation.ts';
import { measureReads } from './measure-reads.ts';
import { measureScreens } from './measure-screens.ts';

const OPTIONS = {
  customers: { type: 'string', default: '100000' },
  events: { type: 'string', default: '5000000' },
  'data-dir': { type: 'string' },
} as const;

async function main(): Promise<void> {
  const values = readOptions(OPTIONS);
  const customers = numberOption('customers', values.customers, OF_A_SCRIPT.count);
  const events = numberOption('events', values.events, OF_A_SCRIPT.count);
  const opened = await openLargeInstallation({ customers, events, dataDir: values['data-dir'] });
  try {
    const { preparation } = opened;
    const stored = { customers: opened.customers.length, events };
    const startSeconds = await startAgain(opened);
    const screens = await measureScreens(opened);
    process.stdout.write(`${JSON.stringify(screens, undefined, 2)}\n`);
    const reads = await measureReads(opened);
    const figures = { stored, preparation, startSeconds, reads, screens, memoryMib: memoryMib(opened) };
    process.stdout.write(`${keepResult('console', figures)}\n`);
  } finally {
    await opened.close();
  }
}

/** Until it is ready: figures afterwards are of processes that have not loaded anything. */
async function startAgain({ instance }: LargeInstallation): Promise<number> {
  await instance.stop();
  return Math.round((await timed(() => instance.start())) / 100) / 10;
}

function memoryMib({ instance }: LargeInstallation): Record<string, number> {
  const costs = Object.entries(instanceCosts(instance));
  return Object.fromEntries(costs.map(([name, { rssBytes }]) => [name, Math.round(rssBytes / 2 ** 20)]));
}

await runScript('bench:console', main);
