import { parseArgs } from 'node:util';
import type { KeyKind } from '../../domain/rules/api-key.ts';
import type { Mode } from '../../schemas/primitives/environment.ts';
import { timestampMs } from '../../schemas/primitives/timestamp.ts';
import { timestampFault } from '../../schemas/primitives/timestamp-fault.ts';
import { EVERY_SCOPE, SCOPES } from '../../schemas/scopes.ts';

/** What the operator wants done. `json`: for a script, one line. */
export type AdminCommand = { json: boolean } & (
  | { act: 'workspace create'; name: string }
  | { act: 'workspace list' }
  | { act: 'key create'; workspace: string; mode: Mode; kind: KeyKind; scopes: string[]; more: KeyExtras }
  | { act: 'key list'; workspace: string }
  | { act: 'key revoke'; key: string }
);

export interface KeyExtras {
  name: string | null;
  expiresAt: Date | null;
}

/** How a command is written, and what its options mean. */
const COMMANDS: Record<AdminCommand['act'], string> = {
  'workspace create': 'workspace create --name NAME',
  'workspace list': 'workspace list',
  'key create': `key create --workspace WORKSPACE --mode live|test --kind secret|publishable
             --scopes SCOPE,SCOPE (secret keys; * is everything) [--name NAME] [--expires-at TIMESTAMP]`,
  'key list': 'key list   --workspace WORKSPACE',
  'key revoke': 'key revoke --key KEY (its id, or its text where that leaked)',
};

const ABOUT = `
For the Metergate that runs on DATA_DIR or DATABASE_URL. --json prints one line for a script.
Exit codes: 0 done, 1 it cannot be done, 2 bad arguments or settings.`;

/** Of the commands that begin with these words; of all, where none does. */
export function adminUsage(words = ''): string {
  const all = Object.entries(COMMANDS);
  const meant = all.filter(([act]) => act === words || act.startsWith(`${words} `));
  const lines = (meant.length === 0 ? all : meant).map(([, usage]) => `  ${usage}`);
  return ['Usage: npm run admin -- <command> [--json]', ...lines, ABOUT].join('\n');
}

const OPTIONS = {
  name: { type: 'string' },
  workspace: { type: 'string' },
  mode: { type: 'string' },
  kind: { type: 'string' },
  scopes: { type: 'string' },
  key: { type: 'string' },
  'expires-at': { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

type Given = Partial<Record<Exclude<keyof typeof OPTIONS, 'json' | 'help'>, string>>;

const TAKEN: Record<AdminCommand['act'], ReadonlyArray<keyof Given>> = {
  'workspace create': ['name'],
  'workspace list': [],
  'key create': ['workspace', 'mode', 'kind', 'scopes', 'name', 'expires-at'],
  'key list': ['workspace'],
  'key revoke': ['key'],
};

/** Bad arguments: exit 2. */
export class UsageFault extends Error {}

/** The usage is requested: exit 0. */
export interface HelpRequested {
  act: 'help';
  /** The command whose usage is requested; empty: all commands. */
  words: string;
}

/** Throws UsageFault. */
export function readArguments(args: string[], nowMs: number): AdminCommand | HelpRequested {
  const { positionals, values } = parsed(args);
  const { json, help, ...given } = values;
  if (help || positionals[0] === 'help') {
    return { act: 'help', words: positionals.filter((word) => word !== 'help').join(' ') };
  }
  const act = positionals.join(' ');
  if (!isAct(act)) throw new UsageFault(act === '' ? 'Name a command.' : `There is no command \`${act}\`.`);
  const stray = Object.keys(given).find((name) => !TAKEN[act].some((taken) => taken === name));
  if (stray !== undefined) throw new UsageFault(`\`${act}\` takes no --${stray}.`);
  return { json, ...commandOf(act, given, nowMs) };
}

function commandOf(act: AdminCommand['act'], given: Given, nowMs: number) {
  if (act === 'workspace create') return { act, name: nameIn(required(given, 'name')) };
  if (act === 'workspace list') return { act };
  if (act === 'key list') return { act, workspace: required(given, 'workspace') };
  if (act === 'key revoke') return { act, key: required(given, 'key') };
  const kind = oneOf(given, 'kind', ['secret', 'publishable'] as const);
  return {
    act,
    workspace: required(given, 'workspace'),
    mode: oneOf(given, 'mode', ['live', 'test'] as const),
    kind,
    scopes: scopesIn(given, kind),
    more: {
      name: given.name === undefined ? null : nameIn(given.name),
      expiresAt: given['expires-at'] === undefined ? null : timeIn(given['expires-at'], nowMs),
    },
  };
}

function parsed(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageFault(error instanceof Error ? error.message : String(error));
  }
}

function isAct(text: string): text is AdminCommand['act'] {
  return Object.hasOwn(TAKEN, text);
}

function required(given: Given, name: keyof Given): string {
  const text = given[name];
  if (text === undefined || text === '') throw new UsageFault(`--${name} is missing.`);
  return text;
}

function oneOf<Value extends string>(given: Given, name: keyof Given, values: readonly Value[]): Value {
  const text = required(given, name);
  const value = values.find((one) => one === text);
  if (value === undefined) throw new UsageFault(`--${name} is ${values.join(' or ')}.`);
  return value;
}

const NAME_CHARS_MAX = 200;

function nameIn(text: string): string {
  const chars = [...text].length;
  if (chars <= NAME_CHARS_MAX && text.trim() !== '') return text;
  throw new UsageFault(`--name has 1 to ${NAME_CHARS_MAX} characters, not only white space.`);
}

function scopesIn(given: Given, kind: KeyKind): string[] {
  if (kind === 'publishable' && given.scopes === undefined) return [];
  if (kind === 'publishable') throw new UsageFault('A publishable key has no --scopes.');
  const known: readonly string[] = [...SCOPES, EVERY_SCOPE];
  const scopes = [
    ...new Set(
      required(given, 'scopes')
        .split(',')
        .map((scope) => scope.trim()),
    ),
  ];
  const unknown = scopes.filter((scope) => !known.includes(scope));
  if (unknown.length === 0) return scopes;
  throw new UsageFault(`--scopes knows no \`${unknown.join(', ')}\`. There are: ${known.join(', ')}.`);
}

function timeIn(text: string, nowMs: number): Date {
  const ms = timestampMs(text);
  if (ms !== undefined && ms > nowMs) return new Date(ms);
  throw new UsageFault(`--expires-at ${timestampFault(text) ?? 'must lie in the future'}.`);
}
