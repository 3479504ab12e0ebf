import { mutant } from './mutant-row.ts';

const TRIM_LOG = 'ingest/embedded/trim-log.test.ts';
const POWER_CUT = 'tests/faults/crash-consistency/power-cut.sys.test.ts';
const RAISE_KEPT_FROM = 'ingest/store/raise-kept-from.store.test.ts';
const RETENTION = 'infra/segment-log/retention.test.ts';
const EARLIER_KEYS = 'infra/key-table/earlier-keys.test.ts';
const KEY_EXPORT = 'aggregator/key-export/key-export.whole-store.test.ts';
const EARLIER_KEYS_UNIT = 'ingest/embedded/earlier-keys.test.ts';
const AUDIT_RETENTION = 'aggregator/audit/audit-retention.whole-store.test.ts';

/** What may be given up, and what has to be put together again from the rest. */
export const RETENTION_MUTANTS = [
  mutant('log-trimmed-beyond-the-keys', [2])
    .why('the log goes before its keys are in their file: after a kill they are forgotten and counted again')
    .is('ingest/embedded/trim-log', 'const before = old;')
    .red(TRIM_LOG, 'as far as the record file covers it')
    .red(POWER_CUT, 'opens with all that it announced, once, after a power cut at any time'),
  mutant('manifest-trusted-before-it-is-durable', [2, 6])
    .why('a power cut after a kill brings older keys back, of which the log has given up the rest')
    .never('infra/key-table/open-stored-keys')
    .red(POWER_CUT, 'gives up no frame whose keys a power cut can still take'),
  mutant('log-trimmed-before-it-is-settled', [1])
    .why('what is acknowledged and not loaded goes with its segment')
    .swap('ingest/store/raise-kept-from#raiseKeptFrom', 'least($2::bigint, settled.position)', '$2::bigint')
    .red(RAISE_KEPT_FROM, 'where it is settled without a gap, and from no position beyond the requested one'),
  mutant('written-segment-trimmed', [1])
    .why('the next frame is acknowledged and written to a file that has no name any more')
    .swap('infra/segment-log/retention', 'base <= current().base', 'true')
    .red(RETENTION, 'that is written stays, also while the next one is being made and finds no room'),
  mutant('keys-of-what-is-left-of-the-log', [2])
    .why('a start without keys takes those of the trimmed log for all: older replays are counted again')
    .is('infra/key-table/open-key-table', 'return start;')
    .red(EARLIER_KEYS, 'come from elsewhere when the files are missing, and those behind from the log'),
  mutant('keys-rebuilt-without-the-warehouse', [2])
    .why('replays of what the log gave up are counted again')
    .drop('aggregator/key-export/export-keys')
    .red(KEY_EXPORT, 'has a record of every event on the log, as the log has it, of rejected ones too'),
  mutant('keys-rebuilt-without-the-quarantine', [2])
    .why('a replay of a line that ClickHouse rejected, and that was acknowledged, is another event')
    .drop('aggregator/key-export/export-keys')
    .red(KEY_EXPORT, 'has a record of every event on the log, as the log has it, of rejected ones too'),
  mutant('keys-of-a-lost-warehouse-believed', [2])
    .why('a warehouse that was restored from an old copy gives some of the keys, and they are taken for all')
    .never('schemas/stored/key-export')
    .red(KEY_EXPORT, 'detects a warehouse that lost what the log deleted, however many newer events it holds')
    .red(EARLIER_KEYS_UNIT, 'a stream of a warehouse that lost events is keys_incomplete'),
  mutant('log-not-held-for-a-repair', [1])
    .why('a repair that is cut off has deleted events, and the segments that still have them go')
    .drop('aggregator/audit/auditor')
    .red(AUDIT_RETENTION, 'holds the log until every event of it was found'),
];
