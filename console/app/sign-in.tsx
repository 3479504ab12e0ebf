import { useEffect, useState } from 'preact/hooks';
import { forgetReads } from '../api/reads.ts';
import { Field, Form } from '../design/fields.tsx';
import { Entrance } from './entrance.tsx';
import { keepKey, keepLinkedKey, linkedKey, type Mode } from './session.ts';
import { useStore } from './store.ts';
import { tryKey } from './try-key.ts';

interface SignInProps {
  /** The mode whose key is missing, when the reader is signed in to the other. */
  wanted: Mode | undefined;
  onBack?: () => void;
}

export function SignIn({ wanted, onBack }: SignInProps) {
  const [text, setText] = useState('');
  const [fault, setFault] = useState<string>();
  const [isTrying, setTrying] = useState(false);
  const linked = useStore(linkedKey);
  const attempt = async (key: string, keep: (mode: Mode, key: string) => void) => {
    setTrying(true);
    const tried = await tryKey(key);
    setTrying(false);
    if ('fault' in tried) return setFault(tried.fault);
    forgetReads();
    keep(tried.workspace.mode, key);
  };
  useEffect(() => {
    if (linked === undefined) return;
    linkedKey.set(undefined);
    void attempt(linked, keepLinkedKey);
  }, [linked]);
  return (
    <Entrance title={wanted ? `Sign in to ${wanted} mode` : 'Sign in to the console'}>
      <Form onSubmit={() => void attempt(text.trim(), keepKey)}>
        <Field
          label="Secret key"
          type="password"
          value={text}
          placeholder={wanted === 'live' ? 'sk_live_…' : 'sk_test_…'}
          error={fault}
          isFocused
          onInput={setText}
        />
        <button type="submit" class="button button-primary" disabled={isTrying}>
          {isTrying ? 'Checking…' : 'Sign in'}
        </button>
        {onBack ? (
          <button type="button" class="button" onClick={onBack}>
            Back
          </button>
        ) : null}
      </Form>
      <p class="muted small">
        The key stays in this browser tab until you close it, and is sent to this server alone. The keys of
        the demo workspace are in <code>data/demo-keys.json</code>; the first start prints a link that signs
        you in.
      </p>
    </Entrance>
  );
}
