/**
 * The test tree's ClickHouse server as a process of its own, to be killed and stopped: `node … DIRECTORY`.
 * It sends its parent the port it listens on, and ends with it.
 */
import { startChdbHttpServer } from './chdb-http-server.ts';

const [directory = ''] = process.argv.slice(2);
const server = await startChdbHttpServer(directory);
process.on('disconnect', () => process.exit());
process.send?.({ url: server.url });
