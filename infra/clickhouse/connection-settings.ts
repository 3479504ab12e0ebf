import type { Statement } from '../ports/warehouse.ts';

export type ConnectionName = Statement['connection'];
export type Settings = Record<string, string | number>;

const MEBIBYTE = 1024 * 1024;

/** JSON that loses no digit, and no time zone of some machine. */
const EVERYWHERE: Settings = {
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
  session_timezone: 'UTC',
};

/** What an insert makes of one block of lines: one part per month, whatever its size. */
const ONE_BLOCK: Settings = {
  async_insert: 0,
  input_format_parallel_parsing: 0,
  max_insert_block_size: 2_000_000,
  min_insert_block_size_rows: 2_000_000,
  min_insert_block_size_bytes: 1024 * MEBIBYTE,
  max_insert_threads: 1,
  // A block or a repair may contain more months than the usual 100: all of the load would stop there.
  max_partitions_per_insert_block: 0,
  // Columns are found by their names: a name that the table does not have would be passed over.
  input_format_skip_unknown_fields: 0,
  insert_deduplicate: 1,
  deduplicate_blocks_in_dependent_materialized_views: 1,
  // Merging equal keys while inserting sorts twice: 2.5 of 6.6 µs CPU per row. FINAL and merges do it anyway.
  optimize_on_insert: 0,
};

/** The settings of each connection. A statement has the customers and times that it asks for in its text. */
export const SETTINGS_BY_CONNECTION: Record<ConnectionName, Settings> = {
  load: { ...EVERYWHERE, ...ONE_BLOCK, max_threads: 1 },
  counters: {
    ...EVERYWHERE,
    max_threads: 1,
    max_memory_usage: 1024 * MEBIBYTE,
    max_query_size: 2 * MEBIBYTE,
  },
  settlement: { ...EVERYWHERE, max_threads: 1, max_memory_usage: 1024 * MEBIBYTE },
  // One thread, and what does not fit goes to disk: a breakdown must not take the machine from the load.
  long: {
    ...EVERYWHERE,
    max_threads: 1,
    max_memory_usage: 2048 * MEBIBYTE,
    max_query_size: 16 * MEBIBYTE,
    max_bytes_before_external_group_by: 512 * MEBIBYTE,
    max_bytes_before_external_sort: 512 * MEBIBYTE,
  },
};

/**
 * For every connection, where several servers hold the data: a block counts as stored when most of them have
 * it, and a reader sees what was stored that way. Blocks are inserted one after the other; ClickHouse could
 * not guarantee the second otherwise.
 */
export const CLUSTER_SETTINGS: Settings = {
  insert_quorum: 'auto',
  insert_quorum_parallel: 0,
  select_sequential_consistency: 1,
};
