import { Defect } from '../../../schemas/failures.ts';
import { EVENT_COLUMNS } from '../../../schemas/stored/event-row.ts';
import type { RowBlock } from '../../ports/warehouse.ts';

/**
 * A block of `events` as both column writers make it (infra/clickhouse/columns): rows are in the order of the
 * table's key, numbers are copied to where they are aligned, and texts are places in the bytes.
 */
export interface EventRows {
  rows: number;
  bytes: Buffer;
  environments: Words;
  customers: Places;
  meters: Words;
  ids: Places;
  /** Four words of 32 bits each, lowest first: an Int128 of units of 10^-12. */
  values: Int32Array;
  uniqueValues: Places;
  /** Behind the last property of each row, counted over all rows. */
  propertyEnds: Uint32Array;
  propertyNames: Places;
  propertyValues: Places;
  /** Milliseconds since 1970. */
  occurredAt: Float64Array;
  createdAt: Float64Array;
}

/** Texts of which many are alike: by row the number of its text. */
export interface Words {
  texts: string[];
  indexes: Uint8Array | Uint16Array | Uint32Array;
}

/** By row where its text begins and how many bytes it has. */
export interface Places {
  starts: Uint32Array;
  lengths: Uint32Array;
}

type Column = (typeof EVENT_COLUMNS)[number];

export function readEventRows({ rows, bytes }: RowBlock): EventRows {
  const source = createSource(bytes, rows);
  if (source.varUint() !== EVENT_COLUMNS.length || source.varUint() !== rows) throw otherBlock('its head');
  const column = <T>(name: Column, read: () => T): T => {
    const found = source.text();
    if (found !== name) throw otherBlock(found);
    source.text();
    return read();
  };
  const texts = () => source.places(rows);
  return {
    rows,
    bytes,
    environments: column('environment', source.words),
    customers: column('customer_id', texts),
    meters: column('meter_key', source.words),
    ids: column('id', texts),
    values: column('fingerprint', source.int32s(2)) && column('value', source.int32s(4)),
    uniqueValues: column('unique_value', texts),
    ...column('properties', source.properties),
    occurredAt: timesOf(column('occurred_at', source.int32s(2))),
    createdAt: timesOf(column('created_at', source.int32s(2))),
  };
}

function otherBlock(found: string): Defect {
  return new Defect(`not the block of events that the columns are read of: ${found}`);
}

function timesOf(words: Int32Array): Float64Array {
  const times = new Float64Array(words.length / 2);
  for (let row = 0; row < times.length; row++) {
    times[row] = ((words[row * 2] as number) >>> 0) + (words[row * 2 + 1] as number) * 2 ** 32;
  }
  return times;
}

/** Reads one part after the other. */
function createSource(bytes: Buffer, rows: number) {
  let at = 0;

  function varUint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++] as number;
      if (byte < 128) return value + byte * factor;
      value += (byte - 128) * factor;
    }
  }

  function text(): string {
    const length = varUint();
    at += length;
    return bytes.toString('utf8', at - length, at);
  }

  function places(count: number): Places {
    const starts = new Uint32Array(count);
    const lengths = new Uint32Array(count);
    for (let number = 0; number < count; number++) {
      const length = varUint();
      starts[number] = at;
      lengths[number] = length;
      at += length;
    }
    return { starts, lengths };
  }

  /** Fills the array with what comes next. */
  function take<T extends Uint8Array | Uint16Array | Uint32Array | Int32Array>(array: T): T {
    const { byteLength } = array;
    new Uint8Array(array.buffer).set(bytes.subarray(at, at + byteLength));
    at += byteLength;
    return array;
  }

  return {
    varUint,
    text,
    places,
    int32s: (words: number) => () => take(new Int32Array(rows * words)),
    /** Version, flags with the width of an index, the texts, and how many indexes follow. */
    words(): Words {
      const [, , width = 0, , count = 0] = take(new Uint32Array(6));
      const texts = Array.from({ length: count }, text);
      at += 8;
      const Indexes = [Uint8Array, Uint16Array, Uint32Array][width & 255] ?? Uint32Array;
      return { texts, indexes: take(new Indexes(rows)) };
    },
    properties() {
      const ends = take(new Uint32Array(rows * 2));
      const propertyEnds = Uint32Array.from({ length: rows }, (_, row) => ends[row * 2] as number);
      const count = propertyEnds[rows - 1] ?? 0;
      return { propertyEnds, propertyNames: places(count), propertyValues: places(count) };
    },
  };
}
