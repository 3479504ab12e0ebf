import { Defect } from '../../schemas/failures.ts';

/** What a migration changes, and the place of the words that make every server of the cluster do it. */
const COMMENTS = String.raw`\s*(?:--[^\n]*\n\s*)*`;
const CREATES = 'CREATE (?:DATABASE|TABLE|MATERIALIZED VIEW)(?: IF NOT EXISTS)?';
const OTHERS = 'ALTER TABLE|DROP (?:TABLE|VIEW)(?: IF EXISTS)?';
const CHANGES = new RegExp(String.raw`^(${COMMENTS}(?:${CREATES}|${OTHERS}) [\w.]+)(?=\s|$)`);
/** Rows added or deleted are replicated by themselves. */
const ROWS = new RegExp(String.raw`^${COMMENTS}(?:INSERT INTO|OPTIMIZE TABLE)\b`);
const KEPT_ENGINE = /\bENGINE = (\w*MergeTree)(?:\(([^)]*)\))?/;
const WINDOW = /\bnon_replicated_deduplication_window = (\d+)/;
/** A token is forgotten after a week, whatever the number of parts: blocks are sent again within minutes. */
const WINDOW_SECONDS = 604_800;
/** The uuid is the table's own: one that is dropped and made again finds nothing of the old one. */
const REPLICA = "'/clickhouse/tables/{uuid}/{shard}', '{replica}'";

/**
 * A statement of a migration in the form for a cluster: every server runs it, and tables with rows keep them
 * on each server. The servers' macros `shard` and `replica` name the copy.
 */
export function onCluster(statement: string, cluster: string): string {
  if (ROWS.test(statement)) return statement;
  if (!CHANGES.test(statement)) throw new Defect(`a migration that cannot run on a cluster: ${statement}`);
  return statement
    .replace(CHANGES, (head) => `${head} ON CLUSTER \`${cluster}\``)
    .replace(KEPT_ENGINE, (_, engine: string, options?: string) => {
      return `ENGINE = Replicated${engine}(${options ? `${REPLICA}, ${options}` : REPLICA})`;
    })
    .replace(WINDOW, (_, parts: string) => {
      const seconds = `replicated_deduplication_window_seconds = ${WINDOW_SECONDS}`;
      return `replicated_deduplication_window = ${parts}, ${seconds}`;
    });
}
