import { readFileSync } from 'node:fs';
import { barChart, lineChart } from './charts.ts';
import { GOALS, verdict } from './goals.ts';
import type { GrowthPoint } from './scale.ts';
import type { KeptSuite } from './suite-result.ts';

/** A page of one kept run that needs nothing else: the goals, and what the figures look like. */
export function reportPage(resultPath: string): string {
  const kept = JSON.parse(readFileSync(resultPath, 'utf8')) as KeptSuite;
  const { at, commit, form, machine, node } = kept;
  const facts = `${form} · ${at} · ${commit} · ${machine.cpu} × ${machine.cores} · Node ${node}`;
  const body = [
    `<h1>Metergate: one run of the suite</h1><p>${escaped(facts)}</p>`,
    goals(kept),
    ...charts(kept).map((chart) => `<figure>${chart}</figure>`),
  ];
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">
<title>Bench ${escaped(at)}</title>
<style>${STYLE}</style></head><body>${body.join('\n')}</body></html>\n`;
}

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%}
td,th{border-bottom:1px solid #ddd;padding:.3rem .5rem;text-align:left}
svg{width:100%;height:auto}figure{margin:2rem 0}.stretch,.target{color:#176b2c}.floor{color:#7a5c00}
.void,.below{color:#a11}`;

function goals({ measured }: KeptSuite): string {
  const rows = GOALS.map((goal) => {
    const found = measured.find(({ id }) => id === goal.id) ?? { id: goal.id };
    const reached = verdict(goal, found);
    const cells = [goal.id, goal.what, found.value ?? '–', reached, found.control ?? '–', found.note ?? ''];
    const text = cells.map((cell) => `<td>${escaped(String(cell))}</td>`).join('');
    return `<tr class="${reached.split(' ')[0]}">${text}</tr>`;
  });
  const head = ['', 'compared', 'value', 'reaches', 'A/A', 'note'].map((name) => `<th>${name}</th>`).join('');
  return `<table><tr>${head}</tr>${rows.join('')}</table>`;
}

function charts(kept: KeptSuite): string[] {
  const { latency = [], stages, ingest, whole, disk, keyCurve } = kept;
  const found: string[] = [];
  for (const { offeredPerSecond, responseMs } of latency) {
    const percentiles = Object.entries(responseMs).filter(([name]) => /^p/.test(name));
    const points = percentiles.map(([name, ms]) => ({ label: name, value: ms }));
    found.push(lineChart({ title: `Response at ${offeredPerSecond} events/s`, unit: 'ms', points }));
  }
  const bars: Array<[title: string, unit: string, figures: Record<string, number> | undefined]> = [
    ['CPU per event by stage, batches of 500', 'µs', stages?.cpuMicrosPerEvent],
    ['CPU per event, in turns', 'µs', ingest?.cpuMicrosPerEvent],
    ['CPU per event from request to count', 'µs', whole?.cpuMicrosPerEvent],
    ['CPU of the control side per event, by thread', 'µs', whole?.controlSideMicrosByThread],
    ['Bytes on disk per event', 'B', whole?.diskBytesPerEvent],
    ['Bytes of the warehouse per event, 300 customers', 'B', disk?.mid.bytesPerEvent],
    ['Bytes of the warehouse per event, 1,000 customers over 40 days', 'B', disk?.wide.bytesPerEvent],
    ['Peak resident memory', 'MiB', whole?.rssPeakMib],
  ];
  for (const [title, unit, figures] of bars) {
    if (!figures) continue;
    const points = Object.entries(figures).map(([label, value]) => ({ label, value }));
    found.push(barChart({ title, unit, points }));
  }
  if (keyCurve) {
    const points = keyCurve.map(({ keys, microsPerKey }) => ({
      label: millions(keys),
      value: microsPerKey,
    }));
    found.push(lineChart({ title: 'CPU per new key by keys known', unit: 'µs', points }));
  }
  return [...found, ...growthCharts(kept)];
}

function growthCharts({ growth, soak }: KeptSuite): string[] {
  const found: string[] = [];
  const curves: Array<[title: string, unit: string, figure: (one: GrowthPoint) => number | undefined]> = [
    ['CPU of the data plane per event, by events stored', 'µs', ({ ingestCpuMicros }) => ingestCpuMicros],
    ['Counter, p99 by events stored', 'ms', ({ counterMs }) => counterMs.p99],
    ['Breakdown, p99 by events stored', 'ms', ({ breakdownMs }) => breakdownMs.p99],
  ];
  for (const [title, unit, figure] of curves) {
    const points = growth?.map((one) => ({ label: millions(one.events), value: figure(one) ?? 0 }));
    if (points && points.length > 1) found.push(lineChart({ title, unit, points }));
  }
  for (const [role, sizes] of Object.entries(soak?.rssMib ?? {})) {
    const every = Math.max(1, Math.ceil(sizes.length / 12));
    const shown = sizes.map((value, at) => ({ value, at })).filter(({ at }) => at % every === 0);
    const second = (at: number) => Math.round(((at + 1) * (soak?.seconds ?? 0)) / sizes.length);
    const points = shown.map(({ value, at }) => ({ label: `${second(at)} s`, value }));
    found.push(lineChart({ title: `Resident memory of the ${role} under load`, unit: 'MiB', points }));
  }
  return found;
}

function millions(count: number): string {
  return `${Number((count / 1e6).toFixed(1))} M`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
