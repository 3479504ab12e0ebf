/**
 * `npm run bench:client`: what the client for Node.js costs its process: `track()` and `check()` by call, the
 * drain of a spool next to plain batches, in turns, and an application's own responses while the server is
 * there and when it was killed. Prints and stores figures; asserts nothing. `-- --part NAME` is one part
 * alone, as often as it is given: track, check, drain, application. `-- --events N` of each drain and
 * `-- --rounds N` of it; with `-- --gzip` both compress.
 */
import { callDone } from '../../tests/support/api.ts';
import type { Instance } from '../../tests/support/instance.ts';
import { measureInstance } from '../measure-instance.ts';
import { numberOption, OF_A_SCRIPT, readOptions, runScript, Unusable } from '../read-options.ts';
import { keepResult } from '../result-file.ts';
import { applicationLatency } from './application-latency.ts';
import { checkCost, trackCosts } from './call-cost.ts';
import { type DrainOptions, drainRate, plainRate } from './drain-rate.ts';

const PARTS = ['track', 'check', 'drain', 'application'];
const OPTIONS = {
  part: { type: 'string', multiple: true, default: PARTS },
  events: { type: 'string', default: '100000' },
  rounds: { type: 'string', default: '5' },
  gzip: { type: 'boolean', default: false },
} as const;

async function main(): Promise<void> {
  const { part: parts, gzip, ...values } = readOptions(OPTIONS);
  const unknown = parts.find((part) => !PARTS.includes(part));
  if (unknown !== undefined) throw new Unusable(`--part ${unknown} is none of ${PARTS.join(', ')}`);
  const events = numberOption('events', values.events, OF_A_SCRIPT.count);
  const rounds = numberOption('rounds', values.rounds, OF_A_SCRIPT.rounds);
  const figures: Record<string, object> = {};
  const keep = (name: string, figure: object): void => {
    figures[name] = figure;
    process.stdout.write(`${name} ${JSON.stringify(figure)}\n`);
  };
  if (parts.includes('track')) keep('trackMicros', await trackCosts());
  await measureInstance(1, async ({ instance, api }) => {
    await callDone(api, 'POST', '/customers', { name: 'Acme', email: 'a@b.example', externalId: 'acme' });
    const target = { origin: instance.origin, keys: instance.keys() };
    if (parts.includes('check')) keep('checkMicros', await checkCost(target));
    if (parts.includes('drain')) keep('drain', await compareRates(instance, { events, gzip }, rounds));
    // Last: it kills the server.
    if (parts.includes('application')) keep('application', await applicationLatency(instance));
  });
  process.stdout.write(`${keepResult('client', figures)}\n`);
}

/** In turns: the machine is the same for both. The first drain is of a process that has done nothing else. */
async function compareRates(instance: Instance, options: DrainOptions, rounds: number): Promise<object> {
  const target = { origin: instance.origin, keys: instance.keys() };
  const turns = [];
  for (let round = 0; round < rounds; round++) {
    const spooled = await drainRate(target, options);
    const plain = await plainRate(target, options);
    const share = Math.round((spooled.eventsPerSecond / plain.eventsPerSecond) * 100) / 100;
    turns.push({ share, spooled, plain });
    process.stdout.write(`${JSON.stringify(turns.at(-1))}\n`);
  }
  const shares = turns.map(({ share }) => share).sort((one, other) => one - other);
  return { ...options, share: shares[shares.length >> 1], turns };
}

await runScript('bench:client', main);
