export interface Chart {
  title: string;
  unit: string;
  points: Array<{ label: string; value: number }>;
}

const WIDTH = 720;
const BAR = 24;
const LABEL = 240;
const PLOT_HEIGHT = 220;

/** SVG, one bar for each point, in their order. Labels are the suite's own words: nothing is escaped. */
export function barChart({ title, unit, points }: Chart): string {
  const most = Math.max(...points.map(({ value }) => value), Number.MIN_VALUE);
  const bars = points.map(({ label, value }, at) => {
    const y = 40 + at * (BAR + 6);
    const width = Math.max(1, (Math.max(0, value) / most) * (WIDTH - LABEL - 120));
    return `<text x="${LABEL - 8}" y="${y + 16}" text-anchor="end">${label}</text>
<rect x="${LABEL}" y="${y}" width="${width.toFixed(1)}" height="${BAR}" fill="#3b6ea5"/>
<text x="${LABEL + width + 6}" y="${y + 16}">${value} ${unit}</text>`;
  });
  return svg(title, 50 + points.length * (BAR + 6), bars.join('\n'));
}

/** SVG, points at even distances, from zero. */
export function lineChart({ title, unit, points }: Chart): string {
  const most = Math.max(...points.map(({ value }) => value), Number.MIN_VALUE);
  const step = (WIDTH - 120) / Math.max(1, points.length - 1);
  const places = points.map(({ label, value }, at) => {
    return { label, value, x: 60 + at * step, y: 50 + PLOT_HEIGHT * (1 - value / most) };
  });
  const path = places.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ');
  const marks = places.map(({ label, value, x, y }) => {
    return `<circle cx="${x}" cy="${y}" r="4" fill="#3b6ea5"/>
<text x="${x}" y="${y - 10}" text-anchor="middle">${value} ${unit}</text>
<text x="${x}" y="${PLOT_HEIGHT + 75}" text-anchor="middle">${label}</text>`;
  });
  const line = `<polyline points="${path}" fill="none" stroke="#3b6ea5" stroke-width="2"/>`;
  const bottom = PLOT_HEIGHT + 50;
  const floor = `<line x1="40" y1="${bottom}" x2="${WIDTH - 20}" y2="${bottom}" stroke="#999"/>`;
  return svg(title, PLOT_HEIGHT + 90, [floor, line, ...marks].join('\n'));
}

function svg(title: string, height: number, content: string): string {
  return `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${title}" font-size="12"
 font-family="system-ui,sans-serif"><text x="10" y="22" font-size="16">${title}</text>
${content}</svg>`;
}
