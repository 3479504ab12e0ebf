import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { type Description, operationsModule, schemasModule } from './sdk-types.ts';

const description = JSON.parse(readFileSync('schemas/openapi.json', 'utf8')) as Description;

it.each([
  ['schemas', schemasModule],
  ['operations', operationsModule],
])(
  '%s of sdk/node are those of schemas/openapi.json: after a change `npm run openapi` renews them',
  (name, make) => {
    const path = `sdk/node/src/generated/${name}.ts`;
    expect(readFileSync(path, 'utf8') === make(description), `${path} is out of date: npm run openapi`).toBe(
      true,
    );
  },
);
