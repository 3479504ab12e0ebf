import { parse } from 'node:path/posix';
import { runPython } from '../clients/python3.ts';
import { kindOf, type Mutant, type Proof } from './mutant.ts';
import { MUTANT_VARIABLE } from './mutated-by.ts';
import type { Verdict } from './prove-mutants.ts';

const TIMEOUT_MS = 60_000;

/** Runs the proofs in Python, each with its mutant. */
export function provePythonMutants(mutants: readonly Mutant[]): Verdict[] {
  return mutants.flatMap(({ name, provedBy }) =>
    provedBy.filter((proof) => kindOf(proof) === 'python').map((proof) => prove(name, proof)),
  );
}

/** An assertion has to fail in the test itself, in time: a module that cannot be loaded proves nothing. */
function prove(name: string, proof: Proof): Verdict {
  const test = `tests.${parse(proof.test).name}.${proof.title}`;
  const { status, error, stderr } = runPython({
    args: ['-m', 'unittest', test],
    timeoutMs: TIMEOUT_MS,
    environment: { [MUTANT_VARIABLE]: name },
  });
  const verdict = (outcome: Verdict['outcome'], because: string) => ({ name, proof, outcome, because });
  if (error) return verdict('not run', error.message);
  if (status === 0) return verdict('green', '');
  const [because] = /^AssertionError.*$/m.exec(stderr) ?? [];
  const isJudged = /^FAILED \(failures=1\)$/m.test(stderr) && because !== undefined;
  return isJudged ? verdict('red', because) : verdict('not run', `to its end: ${stderr}`);
}
