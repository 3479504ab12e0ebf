import { useEffect, useRef } from 'preact/hooks';

interface TabsProps {
  label: string;
  tabs: ReadonlyArray<{ name: string; title: string; link: string }>;
  current: string | undefined;
}

/** On phones the row is wider than the screen: the one that is shown is scrolled into it. */
export function Tabs({ label, tabs, current }: TabsProps) {
  const row = useRef<HTMLElement>(null);
  useEffect(() => {
    const shown = row.current?.querySelector('[aria-current]');
    shown?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [current]);
  return (
    <nav ref={row} class="tabs" aria-label={label}>
      {tabs.map(({ name, title, link }) => (
        <a key={name} href={link} aria-current={name === current ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}
