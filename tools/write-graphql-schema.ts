/** `npm run graphql`: writes schemas/schema.graphql, which clients and tools read in place of a server. */
import { writeFileSync } from 'node:fs';
import { printedSchema } from '../control-plane/graphql/graphql-schema.ts';

writeFileSync('schemas/schema.graphql', printedSchema());
