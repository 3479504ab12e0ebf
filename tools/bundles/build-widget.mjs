/**
 * Makes the script of the widget, of its sources and their style sheets, and compresses it once, for all
 * requests. By build.mjs, as a program of its own: when that is loaded, the bundler may not be installed yet.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';
import { compressAsset } from './compress-asset.mjs';

const WIDGET = fileURLToPath(new URL('../../widget/', import.meta.url));
/** Of 2024: the first that know `light-dark()`. */
const TARGETS = ['chrome123', 'edge123', 'firefox120', 'safari17.5'];

/** A style sheet becomes text, which is smaller than what a `<style>` would need. */
const CSS_AS_TEXT = {
  name: 'css-as-text',
  setup({ onLoad }) {
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const options = { loader: 'css', minify: true, target: TARGETS };
      const { code } = await transform(readFileSync(path, 'utf8'), options);
      return { contents: `export const css = ${JSON.stringify(code.trim())};`, loader: 'js' };
    });
  },
};

const [given] = process.argv.slice(2);
if (given === undefined) throw new Error('name the folder that the widget is built into');
const script = join(resolve(given), 'v1.js');
await build({
  absWorkingDir: WIDGET,
  entryPoints: ['v1.ts'],
  bundle: true,
  charset: 'utf8',
  format: 'iife',
  legalComments: 'none',
  logLevel: 'warning',
  minify: true,
  outfile: script,
  plugins: [CSS_AS_TEXT],
  target: TARGETS,
});
compressAsset(script);
