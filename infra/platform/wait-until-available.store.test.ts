import { createServer } from 'node:net';
import { TLSSocket } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { CERTIFICATE, CERTIFICATE_KEY } from '../../app/roles/certificate-under-test.ts';
import { Fatal, Transient } from '../../schemas/failures.ts';
import { listenUntil } from '../../tests/support/listen.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { migratePostgres } from '../postgres/migrate.ts';
import { addressOf, waitUntilAvailable } from './wait-until-available.ts';

const STORE = { variable: 'DATABASE_URL', address: 'postgres://h' };

function reach(act: () => Promise<unknown>, waitMs = 0): Promise<unknown> {
  return waitUntilAvailable(STORE, act, { waitMs, log: SILENT }).catch((error: unknown) => error);
}

function serverUrl(change: (url: URL) => void): string {
  const url = new URL(process.env.TEST_POSTGRES_URL ?? '');
  change(url);
  return url.href;
}

/** As far as TLS: it agrees to it, and shows a certificate that it signed itself. */
async function postgresOfAStranger(): Promise<string> {
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write('S');
      new TLSSocket(socket, { isServer: true, cert: CERTIFICATE, key: CERTIFICATE_KEY }).on(
        'error',
        () => undefined,
      );
    });
  });
  return `postgres://127.0.0.1:${(await listenUntil(onTestFinished, server)).port}/x?sslmode=verify-full`;
}

it.each([
  ['no-such-user', 'rejects the user or the password'],
  ['no-such-database', 'has no such database'],
])('a Postgres that rejects us ends the start: %s', async (what, expected) => {
  const url = serverUrl((one) => {
    if (what === 'no-such-user') one.username = what;
    else one.pathname = what;
  });
  const failure = await reach(() => migratePostgres(url), 60_000);
  expect(failure).toBeInstanceOf(Fatal);
  expect(String(failure)).toContain(`Bad configuration: DATABASE_URL: postgres://h ${expected}`);
});

it('a Postgres that has no TLS where the URL requires it ends the start', async () => {
  const url = serverUrl((one) => one.searchParams.set('sslmode', 'verify-full'));
  expect(String(await reach(() => migratePostgres(url), 60_000))).toContain('does not speak TLS');
});

it('a certificate that is not trusted ends the start, and states what to do', async () => {
  const url = await postgresOfAStranger();
  const message = String(await reach(() => migratePostgres(url), 60_000));
  expect(message).toContain('shows a certificate that is not trusted');
  expect(message).toContain('NODE_EXTRA_CA_CERTS');
});

it('a login that ClickHouse rejects is found behind the error that it is unavailable', async () => {
  const rejected = Object.assign(new Error('no'), { code: '516' });
  const unavailable = new Transient('warehouse_unavailable', 'ClickHouse is unavailable.', {
    cause: rejected,
  });
  expect(String(await reach(() => Promise.reject(unavailable), 60_000))).toContain(
    'rejects the user or the password',
  );
});

it('what comes in time is waited for, and what is a mistake of ours is thrown as it is', async () => {
  let requested = 0;
  const late = async () => {
    requested++;
    if (requested < 2) throw new Transient('unavailable', 'unavailable');
    return 'there';
  };
  expect(await reach(late, 10_000)).toBe('there');
  const mistake = new TypeError('x');
  expect(await reach(() => Promise.reject(mistake))).toBe(mistake);
});

it('an address shows neither user nor password', () => {
  expect(addressOf('postgres://me:secret@db.internal:5433/x')).toBe('postgres://db.internal:5433');
});
