import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { Icon } from '../design/icons.tsx';

/** What is shown in place of a screen, until it is known which key to use. */
export function Entrance({ title, children }: { title: string; children: ComponentChildren }) {
  useEffect(() => {
    document.title = 'Sign in · Metergate';
  }, []);
  return (
    <main class="sign-in">
      <div class="sign-in-card">
        <div class="brand">
          <Icon name="brand" size={22} />
          Metergate
        </div>
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  );
}
