import { errorOfResponse } from '../client/api-error.ts';
import { backoffMs, RETRY_POLICY, retryAfterMs } from '../meter/retry-policy.ts';
import { unref } from '../meter/unref.ts';
import { EventStreamReader, type StreamedEvent } from './event-stream.ts';
import {
  type CustomerMessage,
  type FedCustomer,
  fedCustomer,
  timeMs,
  type UsageMessage,
  withUsage,
} from './fed-customer.ts';

export interface FeedConnectionOptions {
  /** Of the server, without `/api/v1`. */
  url: string;
  headers: Record<string, string>;
  /** Ids or external ids of the customers that it tells of. */
  names: readonly string[];
  /** Everything of all of them was sent, for the first time or after an interruption. */
  onReady(): void;
  /** Of this customer. */
  onCustomer(name: string): void;
  onCounted(): void;
  onProblem(code: string, message: string): void;
}

const HEARTBEAT_SECONDS = 1;
/** Without a word for as long the connection is dead. */
const SILENCE_MS = 10_000;
const RETRY = { firstMs: 200, lastMs: 10_000 };
const PART_CHARS_MAX = 64 * 1024;

/** One stream of the feed, which is opened again until it is closed. */
export class FeedConnection {
  readonly names: ReadonlySet<string>;
  /** When it last said something while all of its customers are known as they are. */
  freshAtMs = Number.NEGATIVE_INFINITY;
  /** Everything that the server acknowledged before is counted: as it wrote it, and in milliseconds. */
  asOf: string | undefined;
  asOfMs = Number.NEGATIVE_INFINITY;
  /** The server's clock, in milliseconds since 1970, is at most so far ahead of `performance.now()`. */
  aheadMs = Number.POSITIVE_INFINITY;
  private readonly options: FeedConnectionOptions;
  private readonly customers = new Map<string, FedCustomer>();
  private lastEventId: string | undefined;
  private isReady = false;
  private isClosed = false;
  private request: AbortController | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private failures = 0;
  private openedAtMs = 0;
  /** On the server's clock. */
  private saidAtMs: number | undefined;

  constructor(options: FeedConnectionOptions) {
    this.options = options;
    this.names = new Set(options.names);
    void this.run();
  }

  /** How long ago, at most, the server said what came last; 0 of one that does not tell its time. */
  ageMs(nowMs: number): number {
    if (this.saidAtMs === undefined) return 0;
    return nowMs - (this.saidAtMs - this.aheadMs);
  }

  find(name: string): FedCustomer | undefined {
    return this.customers.get(name);
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
    this.request?.abort(new Error('the feed was closed'));
  }

  /** Never rejects. */
  private async run(): Promise<void> {
    if (this.isClosed) return;
    let waitMs = 0;
    try {
      waitMs = await this.follow();
    } catch (error) {
      if (!this.isClosed) this.options.onProblem('feed_interrupted', `The feed ended: ${String(error)}`);
    }
    this.isReady = false;
    if (this.isClosed) return;
    this.failures += 1;
    const delayMs = Math.max(waitMs, backoffMs({ ...RETRY_POLICY, ...RETRY }, this.failures));
    this.timer = setTimeout(() => void this.run(), delayMs);
    unref(this.timer);
  }

  /** Resolves, when the stream has ended, with how long not to open it again. */
  private async follow(): Promise<number> {
    const request = new AbortController();
    this.request = request;
    const silence = silenceOf(request);
    try {
      const openedAtMs = performance.now();
      const response = await fetch(this.address(), {
        headers: this.headers(),
        redirect: 'manual',
        signal: request.signal,
      });
      const type = response.headers.get('content-type') ?? '';
      if (response.status !== 200 || !type.startsWith('text/event-stream'))
        return await this.denied(response);
      this.openedAtMs = openedAtMs;
      this.aheadMs = Number.POSITIVE_INFINITY;
      await this.read(response, silence.spoke);
      return 0;
    } finally {
      silence.end();
      request.abort();
    }
  }

  private async read({ body }: Response, spoke: () => void): Promise<void> {
    const reader = body?.getReader();
    const decoder = new TextDecoder();
    const events = new EventStreamReader();
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      if (done || !value) return;
      spoke();
      const text = decoder.decode(value, { stream: true });
      for (let at = 0; at < text.length; at += PART_CHARS_MAX) {
        for (const event of events.read(text.slice(at, at + PART_CHARS_MAX))) this.take(event);
      }
    }
  }

  private take({ event, id, data }: StreamedEvent): void {
    if (event === 'customer') this.learn(data as CustomerMessage);
    else if (event === 'usage') this.count(data as UsageMessage);
    else if (event === 'begin') this.opened((data as { now: string }).now);
    else if (event === 'time') this.tell(data as { asOf: string; now?: string });
    else if (event === 'ready') this.ready();
    if (id !== undefined) this.lastEventId = id;
    // mutant: unready-feed-decides
    if (this.isReady) this.freshAtMs = performance.now();
  }

  private learn(message: CustomerMessage): void {
    const { asked } = message;
    if (!this.names.has(asked)) return;
    const customer = readable(() => fedCustomer(message));
    if (customer) this.customers.set(asked, customer);
    else this.customers.delete(asked);
    this.options.onCustomer(asked);
  }

  private count(message: UsageMessage): void {
    const known = this.customers.get(message.asked);
    const customer = known && readable(() => withUsage(known, message));
    if (customer) this.customers.set(message.asked, customer);
    else this.customers.delete(message.asked);
  }

  /** The server read its clock after the request was sent. */
  private opened(now: string): void {
    this.saidAtMs = timeMs(now);
    this.aheadMs = (timeMs(now) ?? Number.POSITIVE_INFINITY) - this.openedAtMs;
  }

  private tell({ asOf, now }: { asOf: string; now?: string }): void {
    this.saidAtMs = timeMs(now);
    // Customers that are still to come are known as they were before an interruption.
    // mutant: unready-time-counts
    if (!this.isReady) return;
    this.asOf = asOf;
    this.asOfMs = timeMs(asOf) ?? Number.NEGATIVE_INFINITY;
    this.options.onCounted();
  }

  private ready(): void {
    this.failures = 0;
    this.isReady = true;
    this.freshAtMs = performance.now();
    this.options.onReady();
  }

  private address(): string {
    // Each name is encoded for the list, and the list for the address.
    const names = this.options.names.map((name) => encodeURIComponent(encodeURIComponent(name)));
    const query = `heartbeatSeconds=${HEARTBEAT_SECONDS}&customerIds=${names.join(',')}`;
    return `${this.options.url}/api/v1/entitlements/feed?${query}`;
  }

  private headers(): Record<string, string> {
    const resumed = this.lastEventId === undefined ? {} : { 'last-event-id': this.lastEventId };
    return { ...this.options.headers, accept: 'text/event-stream', ...resumed };
  }

  /** How long not to ask again. */
  private async denied(response: Response): Promise<number> {
    const { status } = response;
    const { code, message } = errorOfResponse(status, await beginningOf(response));
    this.options.onProblem(code, `Entitlements are asked for one by one, without the feed: ${message}`);
    const isTransient = status < 400 || status === 408 || status === 429 || status >= 500;
    const asked = retryAfterMs(RETRY_POLICY, response.headers.get('retry-after'), Date.now());
    return isTransient ? asked : RETRY_POLICY.unauthorisedMs;
  }
}

/** A page without an end is not read to it. */
async function beginningOf({ body }: Response): Promise<string> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  while (text.length < PART_CHARS_MAX) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done || !value) break;
    text += decoder.decode(value, { stream: true });
  }
  return text.slice(0, PART_CHARS_MAX);
}

/** Undefined for a customer that a later server tells of in another form: the server is asked about it. */
function readable(read: () => FedCustomer | undefined): FedCustomer | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Ends a request that is silent for too long. */
function silenceOf(request: AbortController): { spoke(): void; end(): void } {
  let spokeAtMs = performance.now();
  const look = (): void => {
    if (performance.now() - spokeAtMs > SILENCE_MS) request.abort(new Error(`silent for ${SILENCE_MS} ms`));
  };
  const timer = setInterval(look, SILENCE_MS / 10);
  unref(timer);
  return {
    spoke() {
      spokeAtMs = performance.now();
    },
    end: () => clearInterval(timer),
  };
}
