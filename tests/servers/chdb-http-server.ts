import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { ChdbResult } from 'chdb';
import { type ChdbConnection, createChdbConnection } from 'chdb/connection';
import { inlineParameters } from '../../infra/clickhouse/inline-parameters.ts';
import { poll } from '../../infra/platform/poll.ts';
import { listen } from '../support/listen.ts';

export interface ChdbHttpServer {
  url: string;
  close(): Promise<void>;
}

export interface ChdbHttpOptions {
  /** PEM: https in place of http. */
  tls?: { certificate: string; key: string };
  /** Without it everyone may come. */
  login?: { username: string; password: string };
}

const KEEPS_ENGINE = 'SELECT 1';
const ENDED = { timeoutMs: 60_000, everyMs: 5 };
/** What belongs to the interface and is no setting of the engine. */
const NO_SETTING =
  /^(query|query_id|database|session_.*|param_.*|default_format|wait_end_of_query|enable_http_.*)$/;
/** `INSERT INTO table (columns) FORMAT name`, with the rows in the body. */
const INSERT_BODY = /^(INSERT INTO .+) (FORMAT \w+)\s*$/;

/**
 * ClickHouse's HTTP interface, as far as its client uses it, in front of the real engine: no server binary
 * can be had from the package registries that tests may use. Each request gets a connection of its own, so
 * settings and parameters end with it, as in a server.
 */
export async function startChdbHttpServer(
  directory: string,
  { tls, login }: ChdbHttpOptions = {},
): Promise<ChdbHttpServer> {
  const keeper = createChdbConnection({ path: directory });
  let running = 0;
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    if (login && !isLogin(request, login)) return reject(response);
    running++;
    void respond(request, response, directory).finally(() => running--);
  };
  const server = tls
    ? createTlsServer({ cert: tls.certificate, key: tls.key }, listener)
    : createServer(listener);

  async function close(): Promise<void> {
    server.closeAllConnections();
    server.close();
    // A statement whose client went away runs on, and the engine must not be closed under it.
    const ended = await poll(() => running === 0 || undefined, ENDED);
    if (!ended) throw new Error(`${running} statements still run after ${ENDED.timeoutMs} ms`);
    await keeper.close();
  }

  try {
    await keeper.chdb.queryAsync(KEEPS_ENGINE);
    const { port } = await listen(server);
    return { url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function isLogin({ headers }: IncomingMessage, login: { username: string; password: string }): boolean {
  const basic = Buffer.from(`${login.username}:${login.password}`).toString('base64');
  return headers.authorization === `Basic ${basic}`;
}

/** In a server's words. */
function reject(response: ServerResponse): void {
  const said =
    'Code: 516. DB::Exception: Authentication failed: password is incorrect. (AUTHENTICATION_FAILED)';
  response.writeHead(401, { 'x-clickhouse-exception-code': '516' }).end(said);
}

/** Never rejects: where the client is gone, its response can be dropped. */
async function respond(request: IncomingMessage, response: ServerResponse, directory: string): Promise<void> {
  try {
    const result = await resultOf(request, directory);
    const rows = String(result.rowsRead);
    response
      .setHeader('x-clickhouse-summary', JSON.stringify({ read_rows: rows, written_rows: rows }))
      .writeHead(200, { 'content-type': 'application/octet-stream' })
      .end(result.bytes());
  } catch (error) {
    // The client reads code and kind out of this text, as out of a server's.
    response.writeHead(500, { 'content-type': 'text/plain' }).end((error as Error).message);
  }
}

async function resultOf(request: IncomingMessage, directory: string): Promise<ChdbResult> {
  const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const body = await buffer(request);
  const connection = createChdbConnection({ path: directory });
  try {
    const settings = [...searchParams].filter(([name]) => !NO_SETTING.test(name) && !isClientName(name));
    for (const [name, value] of settings) await connection.chdb.queryAsync(`SET ${name} = '${value}'`);
    const query = searchParams.get('query');
    if (query !== null) return await insertBody(connection, query, body);
    const form = await readForm(request, body);
    const sql = inlineParameters(form?.get('query') ?? body.toString(), textParameters(form ?? searchParams));
    return await connection.chdb.queryAsync(sql);
  } finally {
    await connection.close();
  }
}

function isClientName(name: string): boolean {
  return name === 'role' || name === 'compress' || name === 'decompress';
}

/** In a file: what comes with the statement the engine cuts at the first empty line. */
async function insertBody(connection: ChdbConnection, query: string, body: Buffer): Promise<ChdbResult> {
  const [, insert = '', format = ''] = INSERT_BODY.exec(query) ?? [];
  const folder = await mkdtemp(join(tmpdir(), 'metergate-body-'));
  try {
    const file = join(folder, 'body');
    await writeFile(file, body);
    return await connection.chdb.queryAsync(`${insert} FROM INFILE '${file}' ${format}`);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const ESCAPES: Record<string, string> = { t: '\t', n: '\n', r: '\r', b: '\b', f: '\f', '0': '\0' };

/** Where the client sent the statement and its parameters as a form, since they are long. */
async function readForm(request: IncomingMessage, body: Buffer): Promise<URLSearchParams | undefined> {
  const type = request.headers['content-type'];
  if (!type?.startsWith('multipart/form-data')) return undefined;
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
  return new URLSearchParams([...form].map(([name, value]) => [name, String(value)] as [string, string]));
}

/** Parameters travel as tab-separated text does; what is in an array is read by the engine's own CAST. */
function textParameters(searchParams: URLSearchParams): Record<string, string> {
  const given = [...searchParams].filter(([name]) => name.startsWith('param_'));
  return Object.fromEntries(
    given.map(([name, value]) => {
      const text = value.startsWith('[')
        ? value
        : value.replace(/\\(.)/gs, (_, character: string) => ESCAPES[character] ?? character);
      return [name.slice('param_'.length), text];
    }),
  );
}
