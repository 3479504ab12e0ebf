/**
 * `npm run openapi`: writes what is generated from schemas/: schemas/openapi.json, docs/use/events.md, and
 * what sdk/node knows of the API.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { openApi } from '../control-plane/openapi/openapi.ts';
import { eventsPage } from './events-page.ts';
import { type Description, operationsModule, schemasModule } from './sdk-types.ts';

const description = openApi();
writeFileSync('schemas/openapi.json', `${JSON.stringify(description, null, 2)}\n`);
mkdirSync('docs/use', { recursive: true });
writeFileSync('docs/use/events.md', eventsPage());
mkdirSync('sdk/node/src/generated', { recursive: true });
writeFileSync('sdk/node/src/generated/schemas.ts', schemasModule(description as unknown as Description));
writeFileSync(
  'sdk/node/src/generated/operations.ts',
  operationsModule(description as unknown as Description),
);
