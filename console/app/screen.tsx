import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { curlOf } from '../api/curl.ts';
import { shownRequests } from '../api/reads.ts';
import { Dialog } from '../design/dialog.tsx';
import { Icon } from '../design/icons.tsx';
import { Code, CopyButton } from '../design/pieces.tsx';
import { useStore } from './store.ts';

interface ScreenProps {
  title: string;
  /** The screen above this one. */
  above?: { text: string; link: string };
  /** Next to the title. */
  badges?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}

export function Screen({ title, above, badges, actions, children }: ScreenProps) {
  useEffect(() => {
    document.title = `${title} · Metergate`;
  }, [title]);
  return (
    <div class="screen fades">
      <header class="screen-head">
        <div class="screen-title">
          {above ? (
            <a class="crumb" href={above.link}>
              {above.text}
            </a>
          ) : null}
          <div class="row">
            <h1>{title}</h1>
            {badges}
          </div>
        </div>
        <div class="row">
          {actions}
          <RequestsButton />
        </div>
      </header>
      {children}
    </div>
  );
}

/** Everything that the screen shows can be had without it. */
function RequestsButton() {
  const [isOpen, setOpen] = useState(false);
  const requests = useStore(shownRequests);
  const commands = [...new Set(requests.map((request) => curlOf(request, location.origin)))];
  return (
    <>
      <button type="button" class="button" onClick={() => setOpen(true)}>
        <Icon name="request" size={16} />
        Requests
      </button>
      {isOpen ? (
        <Dialog title="The requests of this screen" isWide onClose={() => setOpen(false)}>
          <p class="muted">
            Set METERGATE_KEY to your secret key, and your shell gets what you see here. The{' '}
            <a href="/docs">API reference</a> has every operation.
          </p>
          {commands.map((command) => (
            <div key={command} class="stack">
              <Code text={command} />
              <div>
                <CopyButton text={command} />
              </div>
            </div>
          ))}
          <div class="row row-end">
            <button type="button" class="button" onClick={() => setOpen(false)}>
              Close
            </button>
          </div>
        </Dialog>
      ) : null}
    </>
  );
}
