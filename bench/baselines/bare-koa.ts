/** The baseline of goal G8: Koa that returns a constant. Prints its URL. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';

const constant = process.argv[2] ?? '{}';
const app = new Koa();
app.use((ctx) => {
  ctx.set('Content-Type', 'application/json');
  ctx.body = constant;
});
const server = createServer(app.callback());
server.keepAliveTimeout = 65_000;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
process.once('SIGTERM', () => process.exit());
