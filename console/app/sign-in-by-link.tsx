/**
 * Anyone can write a link with a key, also with one of a workspace of their own: a reader who does not notice
 * would enter customers and prices there. A tab that has a key asks before it takes another one; in a tab
 * without a key the first screen says where the link led.
 */
import { useEffect, useState } from 'preact/hooks';
import { forgetReads } from '../api/reads.ts';
import { useOperation } from '../api/rest.ts';
import { useFocus } from '../design/focus.ts';
import { Skeleton } from '../design/loaded.tsx';
import { Facts, Notice } from '../design/pieces.tsx';
import { Entrance } from './entrance.tsx';
import { forgetKeys, keepKey, linkedKey, type Mode, useSession } from './session.ts';
import { type Tried, tryKey } from './try-key.ts';

interface LinkQuestionProps {
  /** The key of the link. */
  linked: string;
  /** A key that this tab has. */
  kept: string;
}

/** Until the reader has agreed, the key of the link is used for nothing but to name where it leads. */
export function LinkQuestion({ linked, kept }: LinkQuestionProps) {
  const [tried, setTried] = useState<{ from: Tried; to: Tried }>();
  useEffect(() => {
    void Promise.all([tryKey(kept), tryKey(linked)]).then(([from, to]) => setTried({ from, to }));
  }, []);
  const stay = () => linkedKey.set(undefined);
  if (!tried) {
    return (
      <Entrance title="Where does this link lead?">
        <Skeleton lines={3} />
      </Entrance>
    );
  }
  const { from, to } = tried;
  const isOwn = 'workspace' in from && 'workspace' in to && from.workspace.id === to.workspace.id;
  const follow = (mode: Mode) => {
    forgetReads();
    if (!isOwn) forgetKeys();
    stay();
    keepKey(mode, linked);
  };
  const name = 'workspace' in from ? `the workspace ${from.workspace.name}` : 'this workspace';
  return (
    <Entrance
      title={
        isOwn ? 'Sign in with the key of this link?' : `Leave ${name} and sign in with the key of this link?`
      }
    >
      <Facts
        facts={[
          ['Signed in to', <Place tried={from} />],
          ['The link leads to', <Place tried={to} />],
        ]}
      />
      {isOwn ? null : (
        <p class="muted small">
          Anyone can send such a link. What you enter after it belongs to the workspace that it leads to.
        </p>
      )}
      <StayButton onStay={stay} />
      {'workspace' in to ? (
        <button type="button" class="button" onClick={() => follow(to.workspace.mode)}>
          Sign in with the key of the link
        </button>
      ) : null}
    </Entrance>
  );
}

/** Has the focus: Enter must not follow the link by accident. */
function StayButton({ onStay }: { onStay: () => void }) {
  return (
    <button ref={useFocus<HTMLButtonElement>()} type="button" class="button" onClick={onStay}>
      Stay here
    </button>
  );
}

function Place({ tried }: { tried: Tried }) {
  if ('fault' in tried) return <>{tried.fault}</>;
  const { name, id, mode } = tried.workspace;
  return (
    <>
      {name}, {mode} mode
      <div>
        <code class="muted">{id}</code>
      </div>
    </>
  );
}

interface LinkNoticeProps {
  mode: Mode;
  onConfirm: () => void;
  onSignOut: () => void;
}

/** Until the reader has confirmed it, over every screen. */
export function LinkNotice({ mode, onConfirm, onSignOut }: LinkNoticeProps) {
  const { linked } = useSession();
  const { data } = useOperation<'workspace.retrieve'>('/api/v1/workspace');
  if (linked !== mode) return null;
  return (
    <section class="link-notice" aria-label="Sign-in by a link">
      <Notice tone="warn">
        <div class="row">
          <span>
            A link signed you in to <strong>{mode} mode</strong> of the workspace{' '}
            <strong>{data?.name ?? '…'}</strong> <code>{data?.id}</code>. If it is not yours, sign out: what
            you enter here belongs to it.
          </span>
          <button type="button" class="button" onClick={onConfirm}>
            It is mine
          </button>
          <button type="button" class="button" onClick={onSignOut}>
            Sign out
          </button>
        </div>
      </Notice>
    </section>
  );
}
