import axe from 'axe-core';
import type { Page } from 'playwright-core';

interface Violation {
  id: string;
  nodes: Array<{ target: unknown[]; failureSummary?: string }>;
}

/** What axe finds wrong on a page, each as `rule: element: why`. */
export async function violations(page: Page): Promise<string[]> {
  // As a debugger does it: a policy against foreign scripts stays in force for the page.
  await page.evaluate(axe.source);
  const found = await page.evaluate<Violation[]>(
    'axe.run({ resultTypes: ["violations"] }).then(({ violations }) => violations)',
  );
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
  );
}
