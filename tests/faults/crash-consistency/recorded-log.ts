import { MANIFEST } from '../../../infra/key-table/key-folder.ts';
import { decodeFrame, measureFrame } from '../../../schemas/stored/frame.ts';
import { eventIdsOf } from '../../../schemas/stored/record.ts';
import { bytesOf, descriptorOf, type SystemCall } from '../../support/system-calls.ts';
import type { DiskHistory, DiskNode, NameChange } from './disk-history.ts';

/**
 * What a recording shows of the log: what was written, since when it was durable, what was announced of it.
 */
export interface RecordedLog {
  frames: RecordedFrame[];
  /** When which end was announced to the readers. */
  published: Array<{ time: number; end: number }>;
  responses: RecordedResponse[];
  /** Names that segments were given or lost. */
  segments: NameChange[];
  /** Up to where the keys cover the log, and since when that is durable. */
  covered: Array<{ durable: number; position: number }>;
}

export interface RecordedResponse {
  /** At which it set out. */
  time: number;
  /** Of the events that it acknowledges. */
  ids: string[];
  requestId: string | undefined;
}

export interface RecordedFrame {
  position: number;
  /** Without what pads it. */
  bytes: Buffer;
  ids: string[];
  /** From when on no power cut takes it: its bytes, its segment's name and the names above are durable. */
  durable: number;
  /** When its segment began to be given up. */
  givenUp: number;
}

const NEVER = Number.POSITIVE_INFINITY;
const SEGMENT = /^(\d{20})\.seg$/;
/** Of a segment: a block of 4,096 bytes. */
const SEGMENT_HEADER_BYTES = 4096;
/** Where a manifest of the keys says how far they cover the log. */
const MANIFEST_POSITION_AT = 24;
const REQUEST_ID = /^HTTP\/1\.1 2.*?\r\nX-Request-Id: ([^\r]*)/s;
const EVENT_ID = /use_[a-z2-7]{26}/g;

export function readRecordedLog(history: DiskHistory, calls: SystemCall[]): RecordedLog {
  const log = named(history, 'log').find(({ folder }) => folder === history.root);
  const durableFolder = log?.durable ?? 0;
  const frames = named(history, SEGMENT).flatMap((naming) => {
    return framesOf(naming, durableFolder, givenUp(history, naming));
  });
  const segmentNames = history.renamings.filter(({ names }) => names.some(({ name }) => SEGMENT.test(name)));
  const responses = calls.flatMap(acknowledged);
  const published = publishedEnds(history);
  return { frames, published, responses, segments: segmentNames, covered: coveredPositions(history) };
}

interface Naming {
  folder: DiskNode;
  name: string;
  node: DiskNode | undefined;
  began: number;
  durable: number;
}

/** Every file that was given such a name, and when the name became durable. */
function named(history: DiskHistory, wanted: string | RegExp): Naming[] {
  const given = history.renamings.flatMap(({ names, began, durable }) =>
    names.map((one) => ({ ...one, began, durable })),
  );
  return [...given, ...namedBefore(history.root)].filter(({ name, node }) => {
    return node !== undefined && (typeof wanted === 'string' ? name === wanted : wanted.test(name));
  });
}

function namedBefore(folder: DiskNode): Naming[] {
  if (folder.kind !== 'folder') return [];
  return [...folder.before].flatMap(([name, node]) => [
    { folder, name, node, began: 0, durable: 0 },
    ...namedBefore(node),
  ]);
}

/** When this name was taken away again. */
function givenUp({ renamings }: DiskHistory, { name, began: given }: Naming): number {
  const taken = renamings.find(({ began, names }) => {
    return began > given && names.some((one) => one.name === name && one.node === undefined);
  });
  return taken?.began ?? NEVER;
}

function framesOf({ name, node, durable: named }: Naming, above: number, givenUp: number): RecordedFrame[] {
  if (node?.kind !== 'file') return [];
  const base = Number(SEGMENT.exec(name)?.[1]);
  return node.changes.flatMap(({ at, bytes, durable }) => {
    if (!bytes?.length || at < SEGMENT_HEADER_BYTES) return [];
    const position = base + at - SEGMENT_HEADER_BYTES;
    const frame = bytes.subarray(0, Number(measureFrame(bytes)));
    const since = Math.max(durable, named, above);
    return [{ position, bytes: frame, ids: eventIds(frame), durable: since, givenUp }];
  });
}

/** Ids of a frame's events, in its order. */
export function eventIds(frame: Buffer): string[] {
  return eventIdsOf(decodeFrame(frame).records);
}

function publishedEnds(history: DiskHistory): RecordedLog['published'] {
  return named(history, 'durable-end').flatMap(({ node }) => {
    if (node?.kind !== 'file') return [];
    return node.changes.flatMap(({ bytes, began }) => {
      return bytes ? [{ time: began, end: Number(bytes.readBigUInt64LE(16)) }] : [];
    });
  });
}

/** From the manifests; they are whole before they get their name. */
function coveredPositions(history: DiskHistory): RecordedLog['covered'] {
  return named(history, MANIFEST).flatMap(({ node, durable }) => {
    const bytes =
      node?.kind === 'file' ? node.changes.find(({ at, bytes }) => at === 0 && bytes)?.bytes : undefined;
    return bytes ? [{ durable, position: Number(bytes.readBigUInt64LE(MANIFEST_POSITION_AT)) }] : [];
  });
}

/** To a client, or on stdout. An id that is cut in two by the end of a packet is passed over. */
function acknowledged(call: SystemCall): RecordedResponse[] {
  if (call.name !== 'sendto' && !(call.name === 'write' && descriptorOf(call) === 1)) return [];
  const text = bytesOf(call).toString('latin1');
  const ids = text.match(EVENT_ID) ?? [];
  const requestId = REQUEST_ID.exec(text)?.[1];
  return ids.length === 0 && !requestId ? [] : [{ time: call.began, ids: [...ids], requestId }];
}

/** Every acknowledgement that set out before its event was durable, as a sentence. */
export function hastyResponses({ frames, responses, segments }: RecordedLog): string[] {
  const durable = new Map<string, number>();
  for (const frame of frames) for (const id of frame.ids) durable.set(id, frame.durable);
  const hasty = responses.flatMap(({ time, ids }) => {
    return ids.filter((id) => !((durable.get(id) ?? NEVER) <= time));
  });
  // A segment that a power cut brings back, or takes away, would contradict the ones that stay.
  const unsure = responses.filter(({ time }) => {
    return segments.some(({ ended, durable }) => ended < time && durable > time);
  });
  const [first] = hasty;
  return [
    ...(first
      ? [`${hasty.length} events were acknowledged before they were durable, ${first} the first`]
      : []),
    ...(unsure.length > 0 ? [`${unsure.length} responses came while a segment's name was not durable`] : []),
  ];
}

/** Every frame that was given up while a power cut could still take its keys, as a sentence. */
export function hastyTrims({ frames, covered }: RecordedLog): string[] {
  const hasty = frames.filter(({ position, givenUp }) => {
    return givenUp < NEVER && !covered.some((one) => one.durable <= givenUp && one.position > position);
  });
  const [first] = hasty;
  if (!first) return [];
  return [`${hasty.length} frames were given up before their keys were durable, ${first.position} the first`];
}

/** When Postgres was requested to mark a range as loaded: by then the warehouse must have it durably. */
export function loadedMarks(calls: SystemCall[]): number[] {
  return calls.filter((call) => notifies(call, "SET state = 'loaded'")).map(({ began }) => began);
}

function notifies(call: SystemCall, text: string): boolean {
  return (
    /^(write|writev|sendto)$/.test(call.name) && call.args.includes(text) && bytesOf(call).includes(text)
  );
}

/** An insert's part: of a month, and not merged yet. */
const PART = /^\d{6}_\d+_\d+_0$/;

/** Every requested mark while a power cut could still take a part that was inserted before. */
export function hastyMarks({ renamings }: DiskHistory, marks: number[]): string[] {
  const parts = renamings.flatMap((change) => {
    const [, to] = change.names;
    return to?.node?.kind === 'folder' && PART.test(to.name) ? [{ ...change, to: to.node }] : [];
  });
  if (marks.length === 0) return ['no range was marked as loaded'];
  return marks.flatMap((time, earlierMarks) => {
    const before = parts.filter(({ ended }) => ended < time);
    if (before.length <= earlierMarks) {
      return [`marked loaded at ${time} as number ${earlierMarks + 1}, with ${before.length} parts inserted`];
    }
    const hasty = before.filter((part) => Math.max(part.durable, durableAt(part.to)) > time);
    const part = hasty[0]?.names[1]?.name;
    return hasty.length > 0 ? [`marked loaded at ${time}, and ${hasty.length} parts were not: ${part}`] : [];
  });
}

/** From when on all that a part's folder holds is durable. */
function durableAt(node: DiskNode): number {
  if (node.kind === 'file') return Math.max(0, ...node.changes.map(({ durable }) => durable));
  return node.kind === 'folder' ? Math.max(0, ...[...node.now.values()].map(durableAt)) : 0;
}
