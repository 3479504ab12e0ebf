import { randomBytes } from 'node:crypto';
import { type Api, type ApiResponse, createApi } from '../../tests/support/api.ts';
import { Unusable } from '../read-options.ts';

/** A running instance, looked at before anything is measured, with customers of the run's own. */
export interface TestedInstance {
  api: Api;
  customers: string[];
  meterKey: string;
  /** The server's clock less ours, at most this far off either way. */
  clockSkewMs: number;
}

const CUSTOMERS = 10;
const METER_KEY = 'bench_load';
/** The server's times are of its own clock; beyond this they cannot be compared with ours. */
const SKEW_MS_MAX = 30_000;
const PATIENCE_MS = 10_000;

/** Throws Unusable, with one line of what is wrong, before a single event is sent. */
export async function lookAtInstance(url: URL, key: string): Promise<TestedInstance> {
  const api = createApi({ origin: url.origin, key, connections: 4 });
  try {
    expectMetergate(url, await requested(api, url, '/workspace'));
    await haveMeter(api, url);
    const customers: string[] = [];
    let clockSkewMs = 0;
    for (let number = 1; number <= CUSTOMERS; number++) {
      const requestedAtMs = Date.now();
      const made = await requested(api, url, '/customers', customerBody(number));
      const { id, createdAt } = bodyOf(made, 201, 'POST /customers');
      customers.push(String(id));
      if (number === 1) clockSkewMs = skewOf(String(createdAt), requestedAtMs, Date.now());
    }
    expectAllowed(await requested(api, url, '/usage/events/batch', { events: [] }), 'to send usage');
    const path = `/usage/${customers[0]}/${METER_KEY}?consistency=eventual`;
    expectAllowed(await requested(api, url, path), 'to read usage');
    return { api, customers, meterKey: METER_KEY, clockSkewMs };
  } catch (error) {
    await api.close();
    throw error;
  }
}

/** Made by this run, or by one before it. A key that may not look learns it from the first event. */
async function haveMeter(api: Api, url: URL): Promise<void> {
  const wanted = { key: METER_KEY, name: 'Load test', aggregation: 'sum' };
  if ((await requested(api, url, '/meters', wanted)).status === 201) return;
  const { status, body } = await requested(api, url, `/meters/${METER_KEY}`);
  if (status !== 200) return;
  const { aggregation = 'sum', status: state = 'active' } = body as { aggregation?: string; status?: string };
  const inTheWay = [aggregation, state].filter((word) => word !== 'sum' && word !== 'active');
  if (inTheWay.length === 0) return;
  const what = `its meter ${METER_KEY} is there already and is ${inTheWay.join(' and ')}`;
  throw new Unusable(`${what}: give a key of a workspace where it is a sum or is not there`);
}

function customerBody(number: number): object {
  const run = randomBytes(4).toString('hex');
  return { name: `Load test ${number}`, email: `load-${run}@example.com` };
}

/** With a body it is a POST. */
async function requested(api: Api, url: URL, path: string, body?: object): Promise<ApiResponse> {
  const options = { timeoutMs: PATIENCE_MS, ...(body ? { body: JSON.stringify(body) } : {}) };
  try {
    return await api.call(body ? 'POST' : 'GET', path, options);
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    throw new Unusable(`nothing responds at ${url.origin}: ${code ?? message}`);
  }
}

function expectMetergate(url: URL, { status, headers }: ApiResponse): void {
  if (headers['x-api-version'] !== 'v1') {
    throw new Unusable(`the server at ${url.origin} is not Metergate: ${status} without X-API-Version`);
  }
  if (status === 401) throw new Unusable(`the key is not accepted at ${url.origin}`);
  if (status === 403)
    throw new Unusable('the key is of a kind that cannot do this: give a secret key (sk_…)');
  if (status !== 200) throw new Unusable(`${url.origin} is not ready: GET /workspace returned ${status}`);
}

function expectAllowed({ status }: ApiResponse, what: string): void {
  if (status === 403) throw new Unusable(`the key is not allowed ${what}`);
}

function bodyOf({ status, body }: ApiResponse, expected: number, what: string): Record<string, unknown> {
  if (status === 403) throw new Unusable(`the key is not allowed ${what}`);
  if (status !== expected) throw new Unusable(`${what} returned ${status}`);
  return body as Record<string, unknown>;
}

/** 0 while the server's time lies between request and response. */
function skewOf(createdAt: string, requestedAtMs: number, receivedAtMs: number): number {
  const at = Date.parse(createdAt);
  const skewMs = at > receivedAtMs ? at - receivedAtMs : Math.min(0, at - requestedAtMs);
  if (Math.abs(skewMs) <= SKEW_MS_MAX) return skewMs;
  const seconds = Math.round(Math.abs(skewMs) / 1_000);
  const way = skewMs > 0 ? 'ahead of' : 'behind';
  throw new Unusable(`the server's clock is ${seconds} s ${way} this machine's: set the clocks first`);
}
