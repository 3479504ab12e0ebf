import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { GOALS, type Measured, verdict } from './goals.ts';
import type { KeptSuite, SuiteResult } from './suite-result.ts';

const README = 'bench/README.md';
const BEGIN = '<!-- last run: begin -->';
const END = '<!-- last run: end -->';

/** Markdown, one row for each goal, those that were not measured among them. */
export function goalTable({ measured }: Pick<SuiteResult, 'measured'>): string {
  const rows = GOALS.map((goal) => {
    const found = measured.find(({ id }) => id === goal.id) ?? { id: goal.id };
    const unit = goal.unit === undefined ? '' : ` ${goal.unit}`;
    const { floor, target, stretch = '–' } = goal.steps;
    return [
      goal.id,
      goal.what,
      found.value === undefined ? '–' : `**${found.value}**${unit}`,
      verdict(goal, found),
      `${goal.better === 'higher' ? '≥' : '≤'} ${floor} / ${target} / ${stretch}`,
      controlText(found),
    ];
  });
  const head = ['', 'compared', 'value', 'reaches', 'floor / target / stretch', 'A/A'];
  return aligned([head, ...rows]).join('\n');
}

/** What is to be known of each; in the table they would make all rows as long as the longest. */
export function goalNotes({ measured }: Pick<SuiteResult, 'measured'>): string {
  const noted = measured.filter(({ note }) => note !== undefined);
  return noted.map(({ id, note }) => `- ${id}: ${note}`).join('\n');
}

/** A Markdown table as our formatter would have it. */
function aligned([head = [], ...rows]: string[][]): string[] {
  const widths = head.map((_, at) => Math.max(3, ...[head, ...rows].map((row) => row[at]?.length ?? 0)));
  const padded = (cells: string[]) => cells.map((cell, at) => cell.padEnd(widths[at] ?? 0));
  const line = (cells: string[]) => `| ${padded(cells).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)];
}

function controlText({ control, noise }: Measured): string {
  if (control === undefined) return 'none';
  return noise === undefined ? String(control) : `${control} ± ${noise}`;
}

/** Puts the table of a kept run between the marks; all else of the page is written by people. */
export function renewReadme(resultPath: string, readme = README): void {
  const kept = JSON.parse(readFileSync(resultPath, 'utf8')) as KeptSuite;
  const page = readFileSync(readme, 'utf8');
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`${readme} has lost the marks of the last run`);
  const lastSection = `${BEGIN}\n\n${lastRun(kept, relative(dirname(readme), resultPath))}\n\n`;
  writeFileSync(readme, `${page.slice(0, from)}${lastSection}${page.slice(to)}`);
}

/** The result is cited as a link: a test fails when a page links to what is not kept. */
function lastRun(kept: KeptSuite, result: string): string {
  const { cpu, cores, memoryGib, system } = kept.machine;
  const versions = Object.entries(kept.versions).map(([name, version]) => `${name} ${version}`);
  const lines = [
    `Form \`${kept.form}\`, ${kept.at}, commit \`${kept.commit}\`,`,
    `${cpu} × ${cores}, ${memoryGib} GiB, ${system},`,
    `Node ${kept.node}, ${versions.join(', ')}.`,
    `All figures: [${result}](${result}).`,
    '',
    goalTable(kept),
    '',
    goalNotes(kept),
    ...Object.entries(kept.failed).map(([name, why]) => `\nThe part \`${name}\` failed: ${why}`),
    ...section('Cores that other work took meanwhile, by part', otherWork(kept)),
    ...section('CPU-µs per event, in turns', kept.ingest?.cpuMicrosPerEvent),
    ...section('CPU-µs per event from request to count, by process', kept.whole?.cpuMicrosPerEvent),
    ...section('The control side of it, by thread', kept.whole?.controlSideMicrosByThread),
    ...section('CPU-µs per event of a batch of 500, by stage', kept.stages?.cpuMicrosPerEvent),
    ...section('Bytes on disk per event', kept.whole?.diskBytesPerEvent),
    ...diskSection(kept),
    ...section('Peak resident memory, MiB', kept.whole?.rssPeakMib),
    ...section('The same, sustained', kept.sustained?.rssPeakMib),
    ...latencySection(kept),
    ...growthSection(kept),
    ...soakSection(kept),
  ];
  return lines.join('\n');
}

/** Of the parts that took a second: the others are not of this form. */
function otherWork({ otherWorkCores, seconds }: SuiteResult): Record<string, number> {
  const took = Object.entries(otherWorkCores).filter(([name]) => (seconds[name] ?? 0) > 0);
  return Object.fromEntries(took);
}

function latencySection({ latency = [] }: SuiteResult): string[] {
  return latency.flatMap(({ offeredPerSecond, responseMs, bareFlushMs }) => [
    ...section(`Response at ${offeredPerSecond} events/s, ms`, responseMs),
    ...section('The bare flush in turns with it, ms', bareFlushMs),
  ]);
}

function diskSection({ disk }: SuiteResult): string[] {
  return Object.entries(disk ?? {}).flatMap(([shape, { bytesPerEvent }]) => {
    return section(`Bytes of the warehouse per event, shape ${shape}`, bytesPerEvent);
  });
}

function growthSection({ growth = [] }: SuiteResult): string[] {
  if (growth.length === 0) return [];
  const head = ['events', 'ingest CPU-µs', 'counter p50 ms', 'p99', 'breakdown p50 ms', 'p99'];
  const rows = growth.map(({ events, ingestCpuMicros, counterMs, breakdownMs }) =>
    [events, ingestCpuMicros, counterMs.p50, counterMs.p99, breakdownMs.p50, breakdownMs.p99].map(String),
  );
  return ['', 'With so many events stored:', '', ...aligned([head, ...rows])];
}

function soakSection({ soak }: SuiteResult): string[] {
  if (!soak) return [];
  const { offeredPerSecond, seconds, counts, problems, latencyMs } = soak;
  const { created, duplicate } = counts;
  const sums = problems.length === 0 ? 'every response and counter right' : problems.join('; ');
  const said = `${created} created, ${duplicate} duplicates, ${sums}`;
  return [
    '',
    `${offeredPerSecond} events/s for ${seconds} s: ${said}.`,
    ...section('Responses meanwhile, ms', latencyMs),
  ];
}

function section(title: string, figures: Record<string, number> | undefined): string[] {
  if (!figures) return [];
  return ['', `${title}:`, '', ...aligned([Object.keys(figures), Object.values(figures).map(String)])];
}
