import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { percent } from './figures.ts';

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'accent';

export function Badge({ tone = 'plain', children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge badge-${tone}`}>{children}</span>;
}

interface CardProps {
  title: string;
  /** At the right of the title. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

export function Card({ title, actions, children }: CardProps) {
  return (
    <section class="card" aria-label={title}>
      <div class="card-head">
        <h2>{title}</h2>
        {actions ? <div class="row">{actions}</div> : null}
      </div>
      {children}
    </section>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

type NoticeTone = 'plain' | 'good' | 'warn' | 'bad';

export function Notice({ tone = 'plain', children }: { tone?: NoticeTone; children: ComponentChildren }) {
  return (
    <div class={`notice notice-${tone}`} role={tone === 'bad' ? 'alert' : undefined}>
      {children}
    </div>
  );
}

/** Names and values. */
export function Facts({ facts }: { facts: ReadonlyArray<readonly [string, ComponentChildren]> }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
  );
}

/** One number with its name; figures are next to each other in a `dl`. */
export function Figure({ name, value, note }: { name: string; value: string; note?: ComponentChildren }) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd>
        {value}
        {note ? <div class="figure-note">{note}</div> : null}
      </dd>
    </div>
  );
}

/** From here on a limit is near. */
export const NEAR = 0.8;

/** How much of something is used: 1 is all of it. Parts of a sum have no limit that could be near. */
export function Share({ share, of, isPart = false }: { share: number; of: string; isPart?: boolean }) {
  const tone = isPart ? 'plain' : share >= 1 ? 'bad' : share >= NEAR ? 'warn' : 'plain';
  const width = { width: `${Math.min(100, Math.max(0, share * 100))}%` };
  return (
    <div class={`share share-${tone}`}>
      {/* biome-ignore lint/a11y/useSemanticElements: browsers draw a meter element in their own colours */}
      <div
        class="share-track"
        role="meter"
        aria-label={of}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(Math.min(1, share) * 100)}
      >
        <div class="share-fill" style={width} />
      </div>
      <span class="number small">{percent(share)}</span>
    </div>
  );
}

/** Text of a program. The keyboard scrolls what is wider than its place. */
export function Code({ text }: { text: string }) {
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls
  return <pre tabIndex={0}>{text}</pre>;
}

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  // Without the permission, or outside of a secure context, the text can still be selected.
  const tryCopy = () => copy().catch(() => undefined);
  return (
    <button type="button" class="button" onClick={tryCopy} aria-live="polite">
      {isCopied ? 'Copied' : label}
    </button>
  );
}

interface SegmentsProps<T extends string> {
  label: string;
  options: ReadonlyArray<readonly [value: T, text: string]>;
  chosen: T;
  onChoose: (value: T) => void;
}

/** One of a few. */
export function Segments<T extends string>({ label, options, chosen, onChoose }: SegmentsProps<T>) {
  return (
    <fieldset class="segments" aria-label={label}>
      {options.map(([value, text]) => (
        <button type="button" aria-pressed={value === chosen} onClick={() => onChoose(value)}>
          {text}
        </button>
      ))}
    </fieldset>
  );
}
