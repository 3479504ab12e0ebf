import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { useStore } from '../app/store.ts';
import { shownTheme } from '../app/theme.ts';
import { short } from './figures.ts';

export interface Series {
  name: string;
  /** One for each time; null where there is none. */
  values: ReadonlyArray<number | null>;
}

interface ChartProps {
  /** What it shows, for screen readers; the same data are in a table next to it. */
  label: string;
  /** Ascending, in milliseconds. */
  timesMs: readonly number[];
  series: readonly Series[];
  /** Drawn as lines from top to bottom, such as the bounds of a billing period. */
  boundsMs?: readonly number[];
  isLine?: boolean;
}

const HEIGHT = 240;
/** As many as tokens.css has. */
const COLOURS = 6;

export function Chart({ label, timesMs, series, boundsMs = [], isLine = false }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const theme = useStore(shownTheme);
  // Below it stands for what is drawn: the arrays are others at each rendering.
  const drawn = JSON.stringify([timesMs, series, boundsMs, isLine, theme]);
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const data = [timesMs.map((ms) => ms / 1_000), ...series.map(({ values }) => [...values])];
    const options = optionsFor(element, { series, boundsMs, isLine });
    const chart = new uPlot(options, data as uPlot.AlignedData, element);
    const sizes = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    sizes.observe(element);
    return () => {
      sizes.disconnect();
      chart.destroy();
    };
  }, [drawn]);
  return <div ref={place} class="chart" role="img" aria-label={label} />;
}

/** The names of the series, each with its colour. */
export function Legend({ series }: { series: readonly Series[] }) {
  return (
    <div class="legend">
      {series.map(({ name }, at) => (
        <span key={name}>
          <span class="legend-line" style={{ background: `var(${colourName(at)})` }} />
          {name}
        </span>
      ))}
    </div>
  );
}

type Drawn = Required<Pick<ChartProps, 'series' | 'boundsMs' | 'isLine'>>;

function optionsFor(element: HTMLElement, { series, boundsMs, isLine }: Drawn): uPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour('--muted'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
    font: `12px ${style.fontFamily}`,
  };
  const paths = isLine ? undefined : uPlot.paths.bars?.({ size: [0.7, 48] });
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { setScale: false } },
    // Days, weeks and months of usage are those of UTC.
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
    scales: {
      x: { range: (chart, least, most) => withRoom(chart.data[0], least, most) },
      y: { range: (_, __, most) => [0, most > 0 ? most * 1.08 : 1] },
    },
    axes: [
      { ...axis, size: 32, values: (_, splits) => splits.map(dateText) },
      { ...axis, size: 56, values: (_, values) => values.map(short) },
    ],
    series: [
      {},
      ...series.map(({ name }, at) => ({
        label: name,
        stroke: colour(colourName(at)),
        ...(paths ? { paths, fill: colour(colourName(at)) } : { width: 2 }),
        points: { show: false },
      })),
    ],
    hooks: { draw: [(chart) => drawBounds(chart, boundsMs, colour('--line-strong'))] },
  };
}

/** Half a bar more at each end. */
function withRoom(times: ArrayLike<number>, least: number, most: number): [number, number] {
  const step = times.length > 1 ? (most - least) / (times.length - 1) : 86_400;
  return [least - step / 2, most + step / 2];
}

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const HOUR = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' });

function dateText(seconds: number): string {
  const time = new Date(seconds * 1_000);
  return (time.getUTCHours() === 0 && time.getUTCMinutes() === 0 ? DAY : HOUR).format(time);
}

function drawBounds(chart: uPlot, boundsMs: readonly number[], colour: string): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.setLineDash([4, 4]);
  for (const ms of boundsMs) {
    const x = Math.round(chart.valToPos(ms / 1_000, 'x', true));
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

function colourName(at: number): string {
  return `--series-${(at % COLOURS) + 1}`;
}
