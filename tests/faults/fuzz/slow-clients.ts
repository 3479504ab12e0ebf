import { openRawSocket, postHead } from './raw-socket.ts';

export interface SlowClientsOptions {
  origin: string;
  key: string;
  path: string;
  /** Of each kind. */
  count: number;
}

/** The native front closes after 10 s of its own in steps of 4 s; on a busy machine a little later. */
const CLOSED_WITHIN_MS = 25_000;
const DRIBBLE_MS = 250;

export interface SlowReport {
  clients: number;
  problems: string[];
}

/** Clients who say a byte now and then, or nothing more: each is closed in time. */
export async function dribble(options: SlowClientsOptions): Promise<SlowReport> {
  const kinds = slowKinds(options);
  const closed = await Promise.all(
    kinds.flatMap((kind) => Array.from({ length: options.count }, () => isLeft(options.origin, kind))),
  );
  const stay = closed.filter((left) => !left).length;
  const fault = `${stay} of ${closed.length} slow clients are served after ${CLOSED_WITHIN_MS} ms`;
  return { clients: closed.length, problems: stay === 0 ? [] : [fault] };
}

interface SlowKind {
  begins: string;
  goesOn: string;
}

function slowKinds({ key, path }: SlowClientsOptions): SlowKind[] {
  const json = 'Content-Type: application/json';
  return [
    { begins: '', goesOn: '' },
    { begins: `POST ${path} HTTP/1.1\r\nX-A: `, goesOn: 'x' },
    { begins: postHead(path, key, [json, 'Content-Length: 1000000']), goesOn: '' },
    { begins: postHead(path, key, [json, 'Content-Length: 1000000']), goesOn: ' ' },
    { begins: postHead(path, key, [json, 'Transfer-Encoding: chunked']), goesOn: '1\r\n \r\n' },
  ];
}

async function isLeft(origin: string, { begins, goesOn }: SlowKind): Promise<boolean> {
  const socket = await openRawSocket(origin);
  socket.send(begins);
  const until = performance.now() + CLOSED_WITHIN_MS;
  let open = true;
  while (open && performance.now() < until) {
    if (goesOn !== '') open = socket.send(goesOn);
    open = open && !(await socket.isClosedWithin(DRIBBLE_MS));
  }
  socket.leave();
  return !open;
}
