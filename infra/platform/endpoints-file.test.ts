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

/** Red when any content is trusted: a key is then revoked in the database of the original. */
test('a copied folder does not give the endpoints of the original', () => {
  const { root, data } = written();
  cpSync(data, join(root, 'copy'), { recursive: true });
  expect(readEndpoints(join(root, 'copy', 'run', 'endpoints.json'))).toBeUndefined();
  expect(readEndpoints(join(data, 'run', 'endpoints.json'))).toEqual(endpoints);
});

test('a renamed folder still gives them', () => {
  const { root, data } = written();
  renameSync(data, join(root, 'renamed'));
  expect(readEndpoints(join(root, 'renamed', 'run', 'endpoints.json'))).toEqual(endpoints);
});

/** Red when it ends the data plane with a stack trace: the control plane writes it again at each start. */
test.each(['', '{"folder":', 'null', '7'])('a file that contains %j gives nothing', (text) => {
  const { data } = written();
  writeFileSync(join(data, 'run', 'endpoints.json'), text);
  expect(readEndpoints(join(data, 'run', 'endpoints.json'))).toBeUndefined();
});
