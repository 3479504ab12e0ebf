/** `npm run openapi`: writes schemas/openapi.json from the route table. */
import { writeFileSync } from 'node:fs';
import { openApi } from '../control-plane/openapi/openapi.ts';

writeFileSync('schemas/openapi.json', `${JSON.stringify(openApi(), null, 2)}\n`);
