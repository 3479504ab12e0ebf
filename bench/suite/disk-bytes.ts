import { dataDirAt } from '../../infra/platform/data-dir.ts';
import type { OpenedInstance } from '../../tests/support/open-instance.ts';
import { waitUntilRead } from '../../tests/support/wait-until-counted.ts';
import { unlessAborted } from '../interruption.ts';
import { measureInstance } from '../measure-instance.ts';
import type { Measured } from './goals.ts';
import { createShape, type Shape, sendShape } from './shape-events.ts';
import { allOf, bytesByTable, whenMergesRest } from './warehouse-parts.ts';

export interface DiskFigures {
  events: number;
  /** By table, once merges rest. */
  bytesPerEvent: Record<string, number>;
}

const HOUR_MS = 3_600_000;
export const SHAPES = {
  mid: { customers: 300, meters: 10, spreadMs: 3 * HOUR_MS },
  wide: { customers: 1_000, meters: 20, spreadMs: 40 * 24 * HOUR_MS },
} as const satisfies Record<string, Shape>;
export type ShapeName = keyof typeof SHAPES;

/** Of fewer there are more hours and parts for each event. */
const GOAL_EVENTS: Record<ShapeName, number> = { mid: 2_560_000, wide: 800_000 };
const COUNTED_PATIENCE_MS = 400_000;

/** G14: what so many events of each shape take in the warehouse, each in an installation of its own. */
export async function diskBytes(
  events: Record<ShapeName, number>,
  interrupted: AbortSignal,
): Promise<{ measured: Measured[]; shapes: Record<ShapeName, DiskFigures> }> {
  const shapes = {
    mid: await bytesOf(SHAPES.mid, events.mid, interrupted),
    wide: await bytesOf(SHAPES.wide, events.wide, interrupted),
  };
  const measured = Object.entries(shapes).map(([name, figures]) => judgedDisk(name as ShapeName, figures));
  return { measured, shapes };
}

export function judgedDisk(shape: ShapeName, { events, bytesPerEvent }: DiskFigures): Measured {
  const each = Object.entries(bytesPerEvent).map(([table, bytes]) => `${table} ${bytes}`);
  const isSmaller = events < GOAL_EVENTS[shape];
  return {
    id: `G14/${shape}`,
    value: allOf(bytesPerEvent),
    isSmaller,
    note: `${events} events: ${each.join(', ')}`,
  };
}

/** An interruption ends it, and its installation with it. */
function bytesOf(shape: Shape, events: number, interrupted: AbortSignal): Promise<DiskFigures> {
  return measureInstance(4, (opened) => unlessAborted(store(opened, shape, events), interrupted));
}

async function store({ instance, api }: OpenedInstance, shape: Shape, events: number): Promise<DiskFigures> {
  const { customers, meters } = await createShape(api, shape);
  await sendShape({
    origin: instance.origin,
    key: instance.keys().live.secret,
    customers,
    meters,
    spreadMs: shape.spreadMs,
    events,
    nowMs: Date.now(),
    keyPrefix: 'shape',
  });
  await waitUntilRead(api, `/usage/${customers[0]}/${meters[0]}`, COUNTED_PATIENCE_MS);
  const { warehouse } = dataDirAt(instance.dataDir);
  await whenMergesRest(warehouse, () => undefined);
  return { events, bytesPerEvent: await bytesByTable(warehouse, events) };
}
