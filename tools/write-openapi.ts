/** `npm run openapi`: writes what is generated from schemas/: schemas/openapi.json and docs/use/events.md. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { openApi } from '../control-plane/openapi/openapi.ts';
import { eventsPage } from './events-page.ts';

writeFileSync('schemas/openapi.json', `${JSON.stringify(openApi(), null, 2)}\n`);
mkdirSync('docs/use', { recursive: true });
writeFileSync('docs/use/events.md', eventsPage());
