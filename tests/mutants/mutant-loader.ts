/** Given to Node as `--import`: modules loaded after it run with the mutant that METERGATE_BREAK names. */
import { register } from 'node:module';
import { MUTANT_VARIABLE } from './mutated-by.ts';

const name = process.env[MUTANT_VARIABLE];
/**
 * Who judges uses modules of the product too, and must not be broken with it. A worker of vitest has its
 * modules changed by mutant-plugin.ts, and would only gain the thread for hooks, in which an import that is
 * begun while another one is running can wait forever (Node 20).
 */
const JUDGES = /[/\\](bench[/\\]load|tests[/\\]faults[/\\]fault-tests)\.js$|[/\\]vitest[/\\]dist[/\\]/;
const isJudge = JUDGES.test(process.argv[1] ?? '');
// A process of its own, a compiler perhaps, may have the option without the variable.
if (name && !isJudge) register(new URL('./mutant-hooks.js', import.meta.url), { data: { name } });
