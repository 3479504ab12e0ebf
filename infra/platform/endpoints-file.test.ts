import { cpSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { testFolder } from '../../tests/support/test-folder.ts';
import { readEndpoints, writeEndpoints } from './endpoints-file.ts';

const endpoints = { postgresUrl: 'postgres://one', controlUrl: 'http://one' };

function written(): { root: string; data: string } {
  const root = testFolder();
  const data = join(root, 'data');
  mkdirSync(join(data, 'run'), { recursive: true });
  writeEndpoints(join(data, 'run', 'endpoints.json'), endpoints);
  return { root, data };
}

/** Red when whatever stands there is believed: a key is then revoked in the database of the original. */
test('a copied folder does not tell where the original is', () => {
  const { root, data } = written();
  cpSync(data, join(root, 'copy'), { recursive: true });
  expect(readEndpoints(join(root, 'copy', 'run', 'endpoints.json'))).toBeUndefined();
  expect(readEndpoints(join(data, 'run', 'endpoints.json'))).toEqual(endpoints);
});

test('a folder that was renamed tells it still', () => {
  const { root, data } = written();
  renameSync(data, join(root, 'renamed'));
  expect(readEndpoints(join(root, 'renamed', 'run', 'endpoints.json'))).toEqual(endpoints);
});

/** Red when it ends the data plane with a stack: the control side writes it anew at each start. */
test.each(['', '{"folder":', 'null', '7'])('a file that holds %j tells nothing', (text) => {
  const { data } = written();
  writeFileSync(join(data, 'run', 'endpoints.json'), text);
  expect(readEndpoints(join(data, 'run', 'endpoints.json'))).toBeUndefined();
});
