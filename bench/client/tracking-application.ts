/**
 * An application whose responses each track one event, or none. Sends its port to the process that started
 * it.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMeter } from '../../sdk/node/src/meter/meter.ts';
import { openSpool } from '../../sdk/node/src/spool/spool.ts';
import { EVENT } from './drain-rate.ts';

const { METERGATE_URL: url = '', METERGATE_KEY: apiKey = '', SPOOL: folder = '', TRACKS = '' } = process.env;
const spool = folder === '' ? {} : { spool: openSpool({ folder }) };
const meter = TRACKS === '' ? undefined : createMeter({ url, apiKey, ...spool, onError: () => undefined });

const server = createServer((_, response) => {
  meter?.track(EVENT);
  response.end('{"done":true}');
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
