import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { testFolder } from '../tests/support/test-folder.ts';

/** A tree of sources as an operator unpacks it, with a program of one line and the means of the real one. */
export interface Tree {
  path(name: string): string;
  write(name: string, text: string): void;
  read(name: string): string;
  /** `npm start`, in a shell that may limit it first. */
  start(limit?: string): Promise<Outcome>;
}

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

export const PROGRAM = 'app/all-in-one.ts';
const LOCK = [
  'infra/platform/process-lock.ts',
  'infra/platform/process-identity.ts',
  'infra/platform/poll.ts',
];
const FAILURES = ['schemas/failures.ts', 'schemas/error-codes.ts'];
const MEANS = ['tsconfig.json', ...LOCK, ...FAILURES];
/** Real ones; their own imports are found next to them. */
const TOOLS = ['typescript', 'assemblyscript', 'esbuild', '@types', 'fs-native-extensions'];
const PACKAGES = { 'node_modules/koa': { version: '3.0.0', integrity: 'sha512-first' } };

/** In place of npm: it counts its calls, and leaves what npm leaves. */
const NPM = `
  const { appendFileSync, readFileSync, writeFileSync } = require('node:fs');
  appendFileSync('npm-calls', process.argv.slice(2).join(' ') + '\\n');
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  delete packages[''];
  writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages }));
`;

export function makeTree(): Tree {
  const root = testFolder();
  const path = (name: string) => join(root, name);
  const write = (name: string, text: string) => {
    mkdirSync(dirname(path(name)), { recursive: true });
    writeFileSync(path(name), text);
  };
  const tools = readdirSync('tools', { recursive: true, encoding: 'utf8' });
  const scripts = tools.filter((name) => name.endsWith('.mjs'));
  const copied = [...MEANS, 'app/start.mjs', ...scripts.map((script) => join('tools', script))];
  for (const name of copied) cpSync(name, path(name));
  write('package.json', '{ "type": "module" }');
  write('package-lock.json', lockOf({ '': {}, ...PACKAGES }));
  write('node_modules/.package-lock.json', lockOf(PACKAGES));
  for (const name of TOOLS) {
    symlinkSync(resolve('node_modules', name), path(join('node_modules', name)));
  }
  write('npm.cjs', NPM);
  write(PROGRAM, printing('first'));
  const start = (limit = 'true') => run(root, `${limit} && exec "$0" app/start.mjs`);
  return { path, write, read: (name) => readFileSync(path(name), 'utf8'), start };
}

export function lockOf(packages: object): string {
  return JSON.stringify({ lockfileVersion: 3, packages });
}

/** A program of one line. */
export function printing(word: string): string {
  return `console.log(${JSON.stringify(word)});\n`;
}

function run(cwd: string, command: string): Promise<Outcome> {
  const env = { ...process.env, NODE_OPTIONS: '', npm_execpath: join(cwd, 'npm.cjs'), DATA_DIR: 'data' };
  return new Promise((done) => {
    execFile('sh', ['-c', command, process.execPath], { cwd, env }, (error, stdout, stderr) => {
      done({ code: error ? Number(error.code) : 0, stdout, stderr });
    });
  });
}
