/**
 * The end of a whole check: every failed test by name with the beginning of its reason, so that the last
 * lines of a run say what is wrong, and then the plain line "N passed, N failed".
 *
 * @example node .ci/summary.mjs STATUS, with the exit code of `npm test`
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const CACHE = '.cache';
const REASON_LINES_MAX = 12;
const REASON_CHARS_MAX = 1_500;

const [, , status] = process.argv;
const summary = read('test-summary.json', { passed: 0, failed: 1, skipped: [], failedGates: [] });
const { failedGates } = summary;
const counted = ['contract', 'clients', 'openmeter', 'python'].map((name) =>
  read(`${name}-summary.json`, { passed: 0, failed: 1 }),
);
const others = ['whole', 'distributed', 'breaks'].map((name) => read(`${name}-report.json`, {}));
const skipped = [...summary.skipped, ...others.flatMap(skippedOf)];

for (const report of [...testReports(), ...others]) printFailures(report);
if (failedGates.length > 0) console.log(`failed: ${failedGates.join(', ')}`);

// A run that could not begin reports no failed test.
const othersFailed = others.map((run) => (run.success ? 0 : Math.max(run.numFailedTests ?? 0, 1)));
// A failed build or lint counts as one failure, so that the last line never looks better than the run was.
let failed = summary.failed + failedGates.length;
if (failed === 0 && status !== '0') failed = 1;
failed += othersFailed.reduce((sum, count) => sum + count, 0);
failed += counted.reduce((sum, run) => sum + run.failed, 0);
const othersPassed = others.reduce((sum, run) => sum + (run.numPassedTests ?? 0), 0);
const passed = counted.reduce((sum, run) => sum + run.passed, summary.passed + othersPassed);
const skips = skipped.length > 0 ? `, ${skipped.length} skipped` : '';
for (const name of skipped) console.log(`skipped: ${name}`);
console.log(`${passed} passed, ${failed} failed${skips}`);
process.exitCode = failed === 0 && skipped.length === 0 ? 0 : 1;

function read(name, otherwise) {
  const file = join(CACHE, name);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : otherwise;
}

function testReports() {
  const folder = join(CACHE, 'test-reports');
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return names.map((name) => read(join('test-reports', name), {}));
}

function skippedOf({ testResults = [] }) {
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const isSkipped = ({ status: outcome }) => outcome !== 'passed' && outcome !== 'failed';
  return tests.filter(isSkipped).map(({ fullName }) => fullName);
}

function printFailures({ testResults = [] }) {
  for (const { name, status: outcome, message, assertionResults } of testResults) {
    const failures = assertionResults.filter((test) => test.status === 'failed');
    const file = relative(process.cwd(), name);
    for (const test of failures) {
      console.log(`\nFAILED ${file} > ${test.fullName}\n${reason(test.failureMessages.join('\n'))}`);
    }
    if (outcome === 'failed' && failures.length === 0) console.log(`\nFAILED ${file}\n${reason(message)}`);
  }
}

function reason(text) {
  return (text ?? '').slice(0, REASON_CHARS_MAX).split('\n').slice(0, REASON_LINES_MAX).join('\n');
}
