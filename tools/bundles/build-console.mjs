/**
 * Makes the files of the console: one script and one style sheet whose names carry a hash of their content,
 * the page that names them, and each of them compressed once, for all requests. By build.mjs, as a program of
 * its own: when that is loaded, the bundler may not be installed yet.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { compressAsset } from './compress-asset.mjs';

const CONSOLE = fileURLToPath(new URL('../../console/', import.meta.url));
/** As console/tsconfig.json says. Browsers of 2023 and later. */
const TARGETS = ['chrome111', 'edge111', 'firefox111', 'safari16.4'];

const LICENSES = '/*! Preact (c) Jason Miller, uPlot (c) Leon Sorokin, both MIT: see THIRD_PARTY.md. */';

const [given] = process.argv.slice(2);
if (given === undefined) throw new Error('name the folder that the console is built into');
const folder = resolve(given);
const names = await bundle(folder);
const page = readFileSync(join(CONSOLE, 'page.html'), 'utf8')
  .replace('{style}', `/console/${names.style}`)
  .replace('{script}', `/console/${names.script}`);
writeFileSync(join(folder, 'page.html'), page);
for (const name of Object.values(names)) compressAsset(join(folder, name));

async function bundle(outdir) {
  const { metafile } = await build({
    absWorkingDir: CONSOLE,
    banner: { js: LICENSES },
    entryPoints: { console: 'app/main.tsx' },
    entryNames: '[name]-[hash]',
    bundle: true,
    define: { EVENT_TYPES: JSON.stringify(await eventTypes()) },
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    minify: true,
    outdir,
    target: TARGETS,
  });
  const made = Object.keys(metafile.outputs).map((path) => basename(path));
  const find = (ending) => made.find((name) => name.endsWith(ending));
  return { script: find('.js'), style: find('.css') };
}

/** Their names alone: the page would be half as large again with the schemas of their data. */
async function eventTypes() {
  const { outputFiles } = await build({
    absWorkingDir: CONSOLE,
    entryPoints: ['../schemas/events.ts'],
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
  });
  const module = `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`;
  return (await import(module)).EVENT_TYPES;
}
