import { join } from 'node:path';
import { createVitest, type TestModule, type TestProject, type Vitest } from 'vitest/node';
import { kindOf, type Mutant, type Proof, type ProofKind } from './mutant.ts';
import { brokenModules, brokenProcesses } from './mutant-plugin.ts';
import { literal } from './proof-titles.ts';

/** The outcome of one proof of a mutant. `red` is the expected one. */
export interface Verdict {
  name: string;
  proof: Proof;
  outcome: 'red' | 'green' | 'not run';
  /** Why it was not run, or how it failed. */
  because: string;
}

/**
 * Runs the proofs of one kind, each with its mutant, in one vitest: a project per mutant. Proofs on stores
 * need TEST_POSTGRES_URL (tests/support/test-server.ts), those on processes an up-to-date dist/.
 */
export async function proveMutants(
  mutants: readonly Mutant[],
  kind: Exclude<ProofKind, 'python'>,
): Promise<Verdict[]> {
  const proved = mutants.flatMap((one) => {
    const provedBy = one.provedBy.filter((proof) => kindOf(proof) === kind);
    return provedBy.length > 0 ? [{ ...one, provedBy }] : [];
  });
  if (proved.length === 0) return [];
  const { workers, ...timeouts } = LIMITS[kind];
  const vitest = await createVitest('test', {
    config: false,
    watch: false,
    reporters: [{}],
    maxWorkers: workers,
    projects: proved.map(({ name }) => ({
      plugins: kind === 'modules' ? brokenModules(name) : brokenProcesses(name),
      test: { name, pool: 'forks' as const, setupFiles: END_OF_FILE, ...timeouts },
    })),
  });
  try {
    return await runProofs(vitest, proved, timeouts.testTimeout);
  } finally {
    await vitest.close();
  }
}

/** As vitest.config.ts has it for tests on stores. */
const END_OF_FILE = 'tests/support/close-kept-engine.ts';

/** What a broken part makes hang proves nothing: on a busy machine a sound one might take as long. */
const LIMITS = {
  modules: { workers: 3, testTimeout: 120_000, hookTimeout: 90_000 },
  processes: { workers: 1, testTimeout: 180_000, hookTimeout: 90_000 },
};

async function runProofs(vitest: Vitest, mutants: readonly Mutant[], timeoutMs: number): Promise<Verdict[]> {
  const specifications = mutants.flatMap(({ name, provedBy }) => {
    const project = projectNamed(vitest, name);
    return filesOf(provedBy).map((test) => {
      const titles = provedBy.filter((proof) => proof.test === test).map(({ title }) => literal(title));
      const testNamePattern = new RegExp(`(^|\\s)(${titles.join('|')})$`);
      return project.createSpecification(join(vitest.config.root, test), { testNamePattern });
    });
  });
  const { testModules } = await vitest.runTestSpecifications(specifications);
  return mutants.flatMap((one) =>
    one.provedBy.map((proof) => judge({ name: one.name, proof, timeoutMs }, testModules)),
  );
}

function projectNamed({ projects }: Vitest, name: string): TestProject {
  const project = projects.find((one) => one.name === name);
  if (!project) throw new Error(`vitest has no project for the mutant ${name}`);
  return project;
}

function filesOf(proofs: readonly Proof[]): string[] {
  return [...new Set(proofs.map(({ test }) => test))];
}

/** A file that does not even load proves nothing: the named test itself has to fail, and in time. */
function judge(
  { name, proof, timeoutMs }: { name: string; proof: Proof; timeoutMs: number },
  modules: readonly TestModule[],
): Verdict {
  const verdict = (outcome: Verdict['outcome'], because: string) => ({ name, proof, outcome, because });
  const module = modules.find((one) => one.project.name === name && one.moduleId.endsWith(`/${proof.test}`));
  if (!module) return verdict('not run', 'there is no such file');
  const tests = [...module.children.allTests()].filter((test) => test.name === proof.title);
  const failed = tests.find((test) => test.result().state === 'failed');
  if (failed && (failed.diagnostic()?.duration ?? 0) >= timeoutMs) return verdict('not run', 'it hung');
  if (failed) return verdict(...failureOf(proof, failed.result().errors ?? []));
  if (tests.some((test) => test.result().state === 'passed')) return verdict('green', '');
  return verdict('not run', module.errors()[0]?.message ?? 'there is no such test');
}

/** A thrown error may be anything, a type error in the mutant itself too, except an assertion. */
function failureOf(
  proof: Proof,
  errors: ReadonlyArray<{ name?: string; message: string; cause?: unknown }>,
): [outcome: Verdict['outcome'], because: string] {
  const because = errors[0]?.message ?? '';
  // A property that does not hold has the assertion that failed for its cause.
  const isJudged = errors.some((error) => isAssertion(error) || isAssertion(error.cause));
  if (isJudged || proof.stopsWith?.test(because)) return ['red', because];
  return ['not run', `to its end: ${because}`];
}

function isAssertion(error: unknown): boolean {
  return (error as { name?: string } | undefined)?.name === 'AssertionError';
}

export function inWords({ name, proof, outcome, because }: Verdict): string {
  return `${name}: "${proof.title}" is ${outcome} ${because}`.trimEnd();
}
