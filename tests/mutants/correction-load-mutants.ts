import { mutant } from './mutant-row.ts';

const FRAME = 'schemas/stored/frame.test.ts';
const ROW_LINES = 'schemas/stored/row-lines.test.ts';
const PIECES = 'aggregator/load/block-pieces.test.ts';
const SHOW = 'aggregator/changes/show-changes.store.test.ts';
const SETTLED = 'gives credits back to the last decimal, and thresholds are crossed again';
const KEY_EXPORT = 'aggregator/key-export/key-export.whole-store.test.ts';

/** Records of changes of usage, from the log into the warehouse. */
export const CORRECTION_LOAD_MUTANTS = [
  mutant('changes-in-ordinary-frames', [2, 19])
    .why('the release before counts the voids and the backfills that it reads as ordinary usage')
    .never('schemas/stored/frame')
    .red(FRAME, 'has version 4 with records of a change, and version 3 without'),
  mutant('void-with-its-own-id', [2])
    .why('a void takes away an event that is nowhere, and the one that it means stays')
    .never('schemas/stored/row-lines')
    .red(
      ROW_LINES,
      'rows of a change are as those of usage, and those of voids have the ids of the voided events',
    ),
  mutant('pieces-of-changes-share-a-token', [2])
    .why('ClickHouse drops all but the first change of a block as repeats')
    .is('aggregator/load/block-pieces', "pieces.add(isOne ? '' : nameOf(line), line, change);")
    .red(PIECES, 'has a piece for the events and for the voids of each, and one of ordinary usage'),
  mutant('keys-rebuilt-without-voids', [2])
    .why('a void that is written again after the keys were lost takes its event away twice')
    .never('aggregator/key-export/stored-records')
    .red(KEY_EXPORT, 'has the records of changes, of voids that were rejected too'),
  mutant('shown-before-all-is-loaded', [2])
    .why('readers count a part of a correction, and then more of it')
    .is('aggregator/changes/show-changes', 'const loaded = closing;')
    .red(SHOW, 'is visible once the load of every partition is past its records, and once'),
  mutant('change-never-settled', [2])
    .why('credits that voided usage has burned never come back')
    .drop('aggregator/changes/show-changes')
    .red(SHOW, SETTLED),
  mutant('late-records-never-settled', [2])
    .why('usage that was sent while its backfill closed counts, and burns nothing')
    .is('aggregator/settle/touched-customer-meters', 'if (customerMeter.change) continue;')
    .red(SHOW, 'has records that are loaded once it is visible, and they are settled with their range'),
  mutant('late-records-marked-by-none', [2])
    .why('usage that is loaded just when its backfill becomes visible counts, and burns nothing')
    .never('aggregator/changes/show-changes')
    .red(SHOW, 'has records that are loaded just before it is visible, and they are settled with it'),
  mutant('fallen-threshold-never-crossed-again', [2])
    .why('usage that was corrected reaches its limit, and no event reports it')
    .drop('aggregator/settle/settle-customer-meters')
    .red(SHOW, SETTLED),
  mutant('usage-into-a-closed-backfill', [2])
    .why('usage that is sent into a closed session counts at once, past its preview')
    .never('ingest/store/find-backfill')
    .red('ingest/registry.store.test.ts', 'a backfill is found while it is open, in its own environment'),
];
