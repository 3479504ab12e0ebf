/**
 * `npm run clients:check`: three generators make clients from schemas/openapi.json. Each must end without a
 * warning, and its client must compile. Installs them into .cache first, which needs python3. Leaves
 * counts for .ci/run, one for each generator; exit 1 when one of them fails.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, delimiter, join, resolve } from 'node:path';

/** The newest that run on Node.js 20. */
const NPM_PACKAGES = ['@hey-api/openapi-ts@0.95.0', 'openapi-typescript@7.13.0', 'typescript@5.9.3'];
/** It formats what it made with ruff, and warns where that is missing. */
const PYTHON_PACKAGES = ['openapi-python-client==0.29.1', 'ruff==0.17.6'];
const PYTHON_CONFIG = join('docs', 'samples', 'openapi-python-client.yaml');

const DESCRIPTION = resolve('schemas', 'openapi.json');
const CACHE = resolve('.cache');
const SUMMARY = join(CACHE, 'clients-summary.json');
const GENERATORS = join(CACHE, 'client-generators');
/** Named by its contents: another version is installed again. */
const NPM_FOLDER = join(GENERATORS, nameOf(NPM_PACKAGES));
const PYTHON_FOLDER = join(GENERATORS, nameOf(PYTHON_PACKAGES));
const CLIENTS = join(CACHE, 'clients');
const INSTALL_TIMEOUT_MS = 300_000;
const RUN_TIMEOUT_MS = 120_000;

/** Colours of a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what starts such a sequence
const STYLE = /\u001b\[[0-9;]*m/g;
/** The words of their warnings; none of them is in what they print otherwise. */
const WARNING = /warn|error|skipp|unsupported|deprecat|missing|not be generated|fail/i;

/** Strict, as a caller may be, and without the types of packages that happen to be around. */
const COMPILER_OPTIONS = {
  strict: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  noEmit: true,
  types: [],
  target: 'es2022',
  module: 'esnext',
  moduleResolution: 'bundler',
  lib: ['es2022', 'dom', 'dom.iterable'],
};

interface Step {
  command: string;
  args: string[];
}

rmSync(SUMMARY, { force: true });
rmSync(CLIENTS, { recursive: true, force: true });
mkdirSync(CLIENTS, { recursive: true });
installNpmPackages();
installPythonPackages();

const counts = { passed: 0, failed: 0 };
for (const [name, steps] of Object.entries(generators())) {
  const fault = steps.map(run).find((found) => found !== undefined);
  console.log(fault === undefined ? `passed: ${name}` : `FAILED ${name}\n${fault}`);
  counts[fault === undefined ? 'passed' : 'failed'] += 1;
}
writeFileSync(SUMMARY, `${JSON.stringify(counts)}\n`);
process.exitCode = counts.failed === 0 ? 0 : 1;

function generators(): Record<string, Step[]> {
  const hey = join(CLIENTS, 'hey-api');
  const types = join(CLIENTS, 'openapi-typescript.ts');
  const python = join(CLIENTS, 'python');
  return {
    '@hey-api/openapi-ts': [
      npmStep('openapi-ts', ['-i', DESCRIPTION, '-o', hey, '-c', '@hey-api/client-fetch']),
      compileStep(join(hey, 'index.ts')),
    ],
    'openapi-typescript': [npmStep('openapi-typescript', [DESCRIPTION, '-o', types]), compileStep(types)],
    'openapi-python-client': [
      pythonStep('openapi-python-client', [
        ...['generate', '--path', DESCRIPTION, '--config', PYTHON_CONFIG],
        ...['--output-path', python, '--fail-on-warning'],
      ]),
      pythonStep('python', ['-W', 'error', '-m', 'compileall', '-q', python]),
    ],
  };
}

function compileStep(file: string): Step {
  const project = join(CLIENTS, `${basename(file, '.ts')}.json`);
  writeFileSync(project, JSON.stringify({ compilerOptions: COMPILER_OPTIONS, files: [file] }));
  return npmStep('tsc', ['--project', project]);
}

function npmStep(program: string, args: string[]): Step {
  return { command: join(NPM_FOLDER, 'node_modules', '.bin', program), args };
}

function pythonStep(program: string, args: string[]): Step {
  return { command: join(PYTHON_FOLDER, 'bin', program), args };
}

/** What is wrong with the run of a program, and all that it printed; undefined where nothing is. */
function run({ command, args }: Step): string | undefined {
  const env = { ...process.env, PATH: `${join(PYTHON_FOLDER, 'bin')}${delimiter}${process.env.PATH}` };
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    env,
    timeout: RUN_TIMEOUT_MS,
  });
  const printed = `${stdout}${stderr}`.replace(STYLE, '').trim();
  if (status !== 0) return `${command} ended with ${error?.message ?? status}\n${printed}`;
  return WARNING.test(printed) ? `${command} warned\n${printed}` : undefined;
}

function installNpmPackages(): void {
  install(NPM_FOLDER, (folder) => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
    const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error', '--save-exact'];
    mustRun('npm', ['install', '--prefix', folder, ...options, ...NPM_PACKAGES]);
  });
}

function installPythonPackages(): void {
  install(PYTHON_FOLDER, (folder) => {
    mustRun('python3', ['-m', 'venv', folder]);
    mustRun(join(folder, 'bin', 'pip'), ['install', '--quiet', ...PYTHON_PACKAGES]);
  });
}

/** An installation that was interrupted has no mark, and is made again. */
function install(folder: string, fill: (folder: string) => void): void {
  const mark = join(folder, 'installed');
  if (existsSync(mark)) return;
  rmSync(folder, { recursive: true, force: true });
  fill(folder);
  writeFileSync(mark, '');
}

function mustRun(command: string, args: string[]): void {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit', timeout: INSTALL_TIMEOUT_MS });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${error?.message ?? status}`);
}

function nameOf(packages: readonly string[]): string {
  return packages.join('+').replace(/[^\w.+-]/g, '-');
}
