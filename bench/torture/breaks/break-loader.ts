/** Given to Node as `--import`: what it loads after this runs with the break that METERGATE_BREAK names. */
import { register } from 'node:module';
import { BREAK_VARIABLE } from './broken-by.ts';

const name = process.env[BREAK_VARIABLE];
/** Who judges uses modules of the product too, and must not be broken with it. */
const isJudge = /[/\\]bench[/\\](load|torture[/\\]torture)\.js$/.test(process.argv[1] ?? '');
// A process of its own, a compiler perhaps, may have the option without the variable.
if (name && !isJudge) register(new URL('./break-hooks.js', import.meta.url), { data: { name } });
