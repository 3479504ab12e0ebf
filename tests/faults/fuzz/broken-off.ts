import { setTimeout as delay } from 'node:timers/promises';
import { createRandom, type Random } from '../../support/random.ts';
import { openRawSocket, postHead } from '../raw-socket.ts';
import { type FuzzRequest, type SocketsOptions, soundRequest, TARGET_PATH } from './fuzz-request.ts';

/** A request whose client left. */
export interface BrokenOff {
  /** The same, to be sent again whole. */
  request: FuzzRequest;
  /** True: all of it had been sent, so that it may be stored. */
  wasWhole: boolean;
  /** True: the server had not closed before. */
  leftFirst: boolean;
}

const AT_ONCE = 100;
/** As long as a request is on its way, a frame gathers or is written. */
const STAY_MS_MAX = 3;

type Cut = 'head' | 'body' | 'chunk' | 'response';

/** Clients that leave in the middle: of the head, of the body, of a chunk, or between body and response. */
export async function breakOffRequests(options: SocketsOptions): Promise<BrokenOff[]> {
  const random = createRandom(options.seed);
  const all: BrokenOff[] = [];
  while (all.length < options.count) {
    const some = Array.from({ length: Math.min(AT_ONCE, options.count - all.length) }, (_, at) => {
      return breakOff(options, random, all.length + at);
    });
    all.push(...(await Promise.all(some)));
  }
  return all;
}

async function breakOff(options: SocketsOptions, random: Random, number: number): Promise<BrokenOff> {
  const { origin, keys } = options;
  const cut = random.pick<Cut>(['head', 'body', 'chunk', 'response', 'response']);
  const isUsage = random.chance(0.8);
  const name = `${options.run}-cut-${number}`;
  const request = isUsage ? usageOf(name, options.customer) : customerOf(name);
  const { body, target } = request;
  const framing = cut === 'chunk' ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`;
  const key = isUsage ? keys.usage : keys.control;
  const head = postHead(TARGET_PATH[target], key, ['Content-Type: application/json', framing]);
  const chunks = `${body.length.toString(16)}\r\n${body}`;
  const [stays, hard] = [random.below(STAY_MS_MAX), random.chance(0.5)];
  const sent: Record<Cut, string> = {
    head: head.slice(0, 1 + random.below(head.length - 3)),
    body: `${head}${body.subarray(0, random.below(body.length))}`,
    // Without the chunk that ends it.
    chunk: `${head}${chunks.slice(0, 1 + random.below(chunks.length))}`,
    response: `${head}${body}`,
  };
  const socket = await openRawSocket(origin);
  socket.send(sent[cut]);
  await delay(stays);
  const leftFirst = !(await socket.isClosedWithin(0));
  socket.leave(hard);
  return {
    request: { ...request, what: `broken off in the ${cut}` },
    wasWhole: cut === 'response',
    leftFirst,
  };
}

function usageOf(name: string, customer: string): FuzzRequest {
  const event = { idempotencyKey: name, customerId: customer, meterId: 'tokens', value: 1 };
  return soundRequest('batch', JSON.stringify({ events: [event] }), { keys: [name] });
}

function customerOf(name: string): FuzzRequest {
  const body = JSON.stringify({ name, email: `${name}@example.org`, externalId: name });
  // Sent with a key, so that a repetition requests the first response.
  const headers = { 'content-type': 'application/json', 'idempotency-key': name };
  return soundRequest('customers', body, { headers });
}
