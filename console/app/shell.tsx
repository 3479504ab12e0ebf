import { useEffect, useRef, useState } from 'preact/hooks';
import { ChangeDialog } from '../api/change.tsx';
import { forgetReads } from '../api/reads.ts';
import { useOperation } from '../api/rest.ts';
import { Choice } from '../design/fields.tsx';
import { Icon } from '../design/icons.tsx';
import { Empty } from '../design/pieces.tsx';
import { Toasts } from '../design/toasts.tsx';
import { leaveObject, linkTo, usePlace } from './place.ts';
import { Screen } from './screen.tsx';
import { SCREENS } from './screens.ts';
import { confirmLink, forgetKey, linkedKey, type Mode, showMode, useSession } from './session.ts';
import { SignIn } from './sign-in.tsx';
import { LinkNotice, LinkQuestion } from './sign-in-by-link.tsx';
import { useStore } from './store.ts';
import { chooseTheme, THEMES, useTheme } from './theme.ts';

/** The whole console: the sign-in, or the frame with one screen in it. */
export function Shell() {
  const { keys, mode } = useSession();
  const linked = useStore(linkedKey);
  const other: Mode = mode === 'live' ? 'test' : 'live';
  const kept = keys[mode] ?? keys[other];
  if (linked !== undefined && kept !== undefined) {
    return <LinkQuestion key={linked} linked={linked} kept={kept} />;
  }
  if (keys[mode] === undefined) {
    const back = keys[other] === undefined ? {} : { onBack: () => showMode(other) };
    return <SignIn wanted={keys[other] === undefined ? undefined : mode} {...back} />;
  }
  return <Frame key={mode} mode={mode} other={other} />;
}

function Frame({ mode, other }: { mode: Mode; other: Mode }) {
  const [isMenuOpen, setMenuOpen] = useState(false);
  const { path } = usePlace();
  const [name = 'overview', ...rest] = path;
  const screen = SCREENS.find((one) => one.name === name);
  const main = useRef<HTMLElement>(null);
  const shown = path.join('/');
  const first = useRef(shown);
  useEffect(() => {
    if (first.current === shown) return;
    first.current = shown;
    setMenuOpen(false);
    window.scrollTo(0, 0);
    main.current?.focus();
  }, [shown]);
  const confirm = () => {
    confirmLink();
    main.current?.focus();
  };
  return (
    <div class="frame">
      <button type="button" class="button skip" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <Band mode={mode} other={other} isMenuOpen={isMenuOpen} onMenu={() => setMenuOpen(!isMenuOpen)} />
      <Side current={name} isOpen={isMenuOpen} onClose={() => setMenuOpen(false)} />
      <main ref={main} tabIndex={-1}>
        <LinkNotice mode={mode} onConfirm={confirm} onSignOut={signOut} />
        {screen ? <screen.Show key={shown} path={rest} /> : <NoScreen />}
      </main>
      <ChangeDialog />
      <Toasts />
    </div>
  );
}

interface BandProps {
  mode: Mode;
  other: Mode;
  isMenuOpen: boolean;
  onMenu: () => void;
}

/** Live and test differ by colour and by word, on every screen. */
function Band({ mode, other, isMenuOpen, onMenu }: BandProps) {
  const { data } = useOperation<'workspace.retrieve'>('/api/v1/workspace');
  const goToOther = () => {
    leaveObject();
    showMode(other);
  };
  return (
    <section class={`band band-${mode}`} aria-label="Mode">
      <button type="button" class="menu-button" aria-expanded={isMenuOpen} onClick={onMenu}>
        Menu
      </button>
      <span class="band-workspace">
        <strong>{mode === 'live' ? 'Live mode' : 'Test mode'}</strong>
        {data ? ` · ${data.name}` : ''}
      </span>
      <button type="button" onClick={goToOther}>
        {`Go to ${other}`}
      </button>
    </section>
  );
}

interface SideProps {
  current: string;
  isOpen: boolean;
  onClose: () => void;
}

function Side({ current, isOpen, onClose }: SideProps) {
  const theme = useTheme();
  return (
    <nav
      class={isOpen ? 'side side-open' : 'side'}
      aria-label="Screens"
      onKeyDown={(event) => event.key === 'Escape' && onClose()}
    >
      <a class="brand" href={linkTo([])}>
        <Icon name="brand" size={20} />
        Metergate
      </a>
      <ul>
        {SCREENS.map(({ name, title }) => (
          <li key={name}>
            <a href={linkTo([name])} aria-current={name === current ? 'page' : undefined}>
              <Icon name={name} />
              {title}
            </a>
          </li>
        ))}
      </ul>
      <div class="side-end">
        <Choice
          label="Theme"
          value={theme}
          options={THEMES.map((one) => [one, one.charAt(0).toUpperCase() + one.slice(1)] as const)}
          onChoose={chooseTheme}
        />
        <a href="/docs">API reference</a>
        <button type="button" class="button" onClick={signOut}>
          Sign out
        </button>
      </div>
    </nav>
  );
}

/** Of the mode that is shown. */
function signOut(): void {
  forgetReads();
  forgetKey();
}

function NoScreen() {
  return (
    <Screen title="Not found">
      <Empty>
        The console has no such screen. <a href={linkTo([])}>Go to the overview</a>
      </Empty>
    </Screen>
  );
}
