import { it } from 'vitest';
import { instanceOfThisFile } from '../support/instance-of-this-file.ts';
import { expectOutageMadeUp } from './client-outage.ts';
import { NODE_CLIENT } from './node-client.ts';

const instance = await instanceOfThisFile();

/** Red when what waits is in memory as well, or what a spool has is not sent by the next process. */
it('what was tracked in an outage with Node is sent by the next process, in bounded memory', () =>
  expectOutageMadeUp(NODE_CLIENT, instance));
