import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { testFolder } from '../../../tests/support/test-folder.ts';
import { SETTINGS_BY_CONNECTION } from '../connection-settings.ts';
import { nativeBlock, nativeColumn } from '../native/native-block.ts';
import { STRING, UINT64 } from '../native/native-types.ts';
import { openSession } from './chdb-connection.ts';
import { createRowFiles } from './row-files.ts';

const TEN = Array.from({ length: 10 }, (_, at) => BigInt(at));
const FOLDER = 'rows-to-insert';

async function opened(directory = testFolder()) {
  const session = await openSession(directory, SETTINGS_BY_CONNECTION.load);
  onTestFinished(() => session.client.close());
  const table = `CREATE TABLE t (a UInt64, b String) ENGINE = MergeTree ORDER BY a
    SETTINGS non_replicated_deduplication_window = 100`;
  await session.client.command({ query: table });
  const files = createRowFiles(directory);
  const insert = (block: { rows: number; bytes: Buffer }) =>
    files.insert(session, { into: 't', format: 'Native', block }, 'token');
  const stored = async () => {
    const query = 'SELECT count() AS rows FROM t';
    return await (await session.client.query({ query, format: 'JSONEachRow' })).json();
  };
  return { directory, insert, stored, session };
}

const block = () => nativeBlock([nativeColumn('a', UINT64, TEN), nativeColumn('b', STRING, TEN.map(String))]);

it('a block goes through a file, which is removed', async () => {
  const { directory, insert, stored } = await opened();
  await insert(block());
  expect(await stored()).toEqual([{ rows: '10' }]);
  expect(readdirSync(join(directory, FOLDER))).toEqual([]);
});

// Red when nothing compares them: of JSON lines the engine silently takes those before an empty line.
it('rows that the engine did not take are reported', async () => {
  const { insert } = await opened();
  await expect(insert({ ...block(), rows: 11 })).rejects.toMatchObject({
    name: 'Transient',
    code: 'rows_missing',
    message: 'ClickHouse took 10 of the 11 rows for t.',
  });
});

// Red with `input_format_skip_unknown_fields`: the table's column would have its default in all rows.
it('a column that the table does not have is rejected', async () => {
  const { directory, insert, stored } = await opened();
  const wrong = nativeBlock([nativeColumn('a', UINT64, TEN), nativeColumn('c', UINT64, TEN)]);
  await expect(insert(wrong)).rejects.toMatchObject({ code: '117' });
  expect(await stored()).toEqual([{ rows: '0' }]);
  expect(readdirSync(join(directory, FOLDER))).toEqual([]);
});

// Red when the token is a setting of the session: what a repair computes again would be taken for known.
it('a token is that of one insert', async () => {
  const { insert, stored, session } = await opened();
  for (let time = 0; time < 2; time++) await insert(block());
  expect(await stored()).toEqual([{ rows: '10' }]);
  const query = 'INSERT INTO t SELECT a, b FROM t';
  for (let time = 0; time < 2; time++) await session.client.command({ query });
  expect(await stored()).toEqual([{ rows: '40' }]);
});

it('what a crash left is removed', () => {
  const directory = testFolder();
  mkdirSync(join(directory, FOLDER));
  writeFileSync(join(directory, FOLDER, '1.rows'), 'left');
  createRowFiles(directory);
  expect(existsSync(join(directory, FOLDER, '1.rows'))).toBe(false);
});

// Red when the file is in it: the engine looks for files of that pattern, finds none and reports no error.
it('a folder whose name is a pattern is avoided', async () => {
  const directory = join(testFolder(), "it's {a} *");
  mkdirSync(directory);
  const { insert, stored } = await opened(directory);
  await insert(block());
  expect(await stored()).toEqual([{ rows: '10' }]);
});
