import { ORDERED_AGGREGATIONS } from '../../../schemas/usage-limits.ts';
import { bodyMembers, meanEvent } from '../../support/planned-event.ts';
import { createRandom, type Random } from '../../support/random.ts';
import type { World } from '../../support/world.ts';
import { expectResponse } from './expected-response.ts';
import { type FuzzRequest, soundRequest, type Target } from './fuzz-request.ts';
import { nested, spoilBytes, spoilHead, spoilMembers } from './spoil.ts';

export interface FuzzOptions {
  seed: number;
  count: number;
  /** Distinguishes the keys of several runs against one store. */
  run: string;
  nowMs: number;
  world: World;
}

/** The same seed, run and time give the same requests. A tenth is valid: what is exact has to be known. */
export function* fuzzRequests({ seed, count, ...scope }: FuzzOptions): Generator<FuzzRequest> {
  const random = createRandom(seed);
  for (let number = 0; number < count; number++) {
    const request = fuzzRequest({ ...scope, random, name: `${scope.run}-${seed.toString(36)}-${number}` });
    yield {
      ...request,
      includeEvents: request.target === 'batch' && !isCommon(request, scope.world, random),
    };
  }
}

/**
 * Most batches do not request their events, and are read by another engine than the others. Not those of
 * which only the shown event gives the time when it occurred, or which of two is the latest.
 */
function isCommon(request: FuzzRequest, world: World, random: Random): boolean {
  const showsEvents = random.chance(0.2);
  const expected = expectResponse(request, world);
  if (showsEvents || !('items' in expected)) return !showsEvents;
  const ordered = world.meters.filter(({ aggregation }) => ORDERED_AGGREGATIONS.has(aggregation));
  return expected.items.every(({ meant }) => {
    if (!meant) return true;
    return (
      meant.occurredAtMs !== undefined && !ordered.some(({ id, key }) => [id, key].includes(meant.meter))
    );
  });
}

interface Source extends Omit<FuzzOptions, 'seed' | 'count'> {
  random: Random;
  /** Of this request. */
  name: string;
}

const TARGETS: Target[] = [...Array<Target>(11).fill('batch'), ...Array<Target>(4).fill('single')];
TARGETS.push('customers', 'customers', 'meters');

function fuzzRequest(source: Source): FuzzRequest {
  const { random } = source;
  const target = random.pick(TARGETS);
  const kind = random.below(100);
  if (kind < 10) return soundOf(target, source);
  if (kind < 48) return { ...soundOf(target, source, spoilMembers), what: 'a field spoiled' };
  if (kind < 80) return bytesSpoiled(soundOf(target, source), random);
  if (kind < 88) return shapeSpoiled(soundOf(target, source), random);
  if (kind < 98) return spoilHead(soundOf(target, source), random);
  return madeLarge(soundOf(target, source), random);
}

type Spoil = (members: string[], random: Random) => string[];

function soundOf(target: Target, source: Source, spoil: Spoil = (members) => members): FuzzRequest {
  if (target === 'customers')
    return soundRequest(target, object(spoil(customerMembers(source), source.random)));
  if (target === 'meters') return soundRequest(target, object(spoil(meterMembers(source), source.random)));
  return target === 'single' ? soundSingle(source, spoil) : soundBatch(source, spoil);
}

function soundSingle(source: Source, spoil: Spoil): FuzzRequest {
  const body = object(spoil(eventMembers(source), source.random));
  const headers = { 'content-type': 'application/json', 'idempotency-key': source.name };
  return soundRequest('single', body, { headers, keys: [source.name] });
}

const LINES = { 'content-type': 'application/x-ndjson' };

/** One of its items is spoiled; the others must be stored. */
function soundBatch(source: Source, spoil: Spoil): FuzzRequest {
  const { random, name } = source;
  const keys = Array.from({ length: 1 + random.below(4) }, (_, at) => `${name}-${at}`);
  const spoiled = random.below(keys.length);
  const items = keys.map((key, at) => {
    const members = [...eventMembers(source), `"idempotencyKey":"${key}"`];
    return object(at === spoiled ? spoil(members, random) : members);
  });
  if (random.chance(0.2)) return soundRequest('batch', items.join('\n'), { headers: LINES, keys });
  return soundRequest('batch', `{"events":[${items.join()}]}`, { keys });
}

function eventMembers({ random, name, nowMs, world }: Source): string[] {
  const scope = { random, world, nowMs, responsesShowEvents: true };
  return bodyMembers(meanEvent(name, scope), scope);
}

function customerMembers({ name, random }: Source): string[] {
  const metadata = random.pick(['{}', '{"a":"b","n":1,"on":true}', '{"n":123456789.000000000001}']);
  return [
    `"name":"${name}"`,
    `"email":"${name}@example.org"`,
    `"externalId":"${name}"`,
    `"metadata":${metadata}`,
  ];
}

function meterMembers({ name, random }: Source): string[] {
  const rate = random.pick(['0', '0.1', '123456789.000000000001', '1.50']);
  return [
    `"key":"${name}"`,
    `"name":"${name}"`,
    '"aggregation":"sum"',
    '"unit":"calls"',
    `"creditRate":${rate}`,
    `"creditRates":{"property":"size","rates":{"1":0.5}}`,
  ];
}

function object(members: string[]): string {
  return `{${members.join()}}`;
}

function bytesSpoiled(request: FuzzRequest, random: Random): FuzzRequest {
  return { ...request, what: 'bytes spoiled', body: spoilBytes(request.body, random) };
}

/** The whole body as something else: other braces, twice, in another place, not at all. */
function shapeSpoiled(request: FuzzRequest, random: Random): FuzzRequest {
  const text = request.body.toString();
  const body = random.pick([
    ...['', ' ', 'null', '[]', '{}', '"events"', '0', '{"events":null}', '{"events":{}}', '{"events":[]}'],
    ...[`[${text}]`, `${text}${text}`, `${text}\n${text}`, `\ufeff${text}`, `${text}\0`, ` \t\r\n${text}\n `],
    ...[`{"events":[],${text.slice(1)}`, `{"__proto__":${text}}`, `{"events":${text}}`, text.slice(1)],
    ...[`${text.slice(0, -1)},"events":[]}`, `${text},`, `// a\n${text}`, JSON.stringify(text)],
    `{"events":[${Array.from({ length: 501 }, () => '0').join()}]}`,
    `{"events":[${Array.from({ length: 500 }, () => 'null').join()}]}`,
    '0\n'.repeat(501),
  ]);
  return { ...request, what: 'another shape', body: Buffer.from(body) };
}

const BODY_BYTES_MAX = 1024 * 1024;

/** Up to the largest body there may be, and a byte beyond it. */
function madeLarge(request: FuzzRequest, random: Random): FuzzRequest {
  const text = request.body.toString();
  const depth = 1 + random.below(BODY_BYTES_MAX / 2 - text.length);
  const digits = `1${'0'.repeat(random.below(BODY_BYTES_MAX / 2))}`;
  const body = random.pick([
    () => nested(random, Math.min(depth, BODY_BYTES_MAX / 32)),
    () => '['.repeat(BODY_BYTES_MAX),
    () => `{"x":${'['.repeat(depth)}${']'.repeat(depth)},${text.slice(1)}`,
    () => text.padEnd(BODY_BYTES_MAX + random.below(2)),
    () => `{"${'k'.repeat(BODY_BYTES_MAX / 2)}":1,${text.slice(1)}`,
    () => text.replace(/"value":/, `"value":${digits}`),
    () => text.replace(/"value":/, `"value":${digits}e-${digits.length}0,"value":0.${digits}1e-`),
    () => text.replace('"user":"', `"user":"${'\\n'.repeat(depth / 4)}`),
    () => `{"x":"${'\\\\'.repeat(depth / 2)}","y":1e5,${text.slice(1)}`,
  ])();
  return { ...request, what: 'made large', body: Buffer.from(body) };
}
