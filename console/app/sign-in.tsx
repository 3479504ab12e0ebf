import { useEffect, useState } from 'preact/hooks';
import { forgetReads } from '../api/reads.ts';
import { fetchOperation } from '../api/rest.ts';
import { ApiError } from '../api/send.ts';
import { Field, Form } from '../design/fields.tsx';
import { Icon } from '../design/icons.tsx';
import { keepKey, linkedKey, type Mode } from './session.ts';

const NEEDED = 'It needs a secret key: one that begins with sk_live_ or sk_test_.';

/** Why a text cannot be the key of the console; undefined when it may be one. */
function faultOfKey(text: string): string | undefined {
  if (text === '') return `Enter a key. ${NEEDED}`;
  if (/^pk_/.test(text)) {
    return `This is a publishable key, which pages of your customers use; the console cannot. ${NEEDED}`;
  }
  if (/^ct_/.test(text)) return `This is the token of one customer. ${NEEDED}`;
  if (!/^sk_(live|test)_\w+$/.test(text)) return `This is no key of Metergate. ${NEEDED}`;
  return undefined;
}

/** Signs in, or says why not. */
async function signIn(text: string): Promise<string | undefined> {
  const fault = faultOfKey(text);
  if (fault !== undefined) return fault;
  try {
    const headers = { Authorization: `Bearer ${text}` };
    const { mode } = await fetchOperation<'workspace.retrieve'>({ path: '/api/v1/workspace', headers });
    forgetReads();
    keepKey(mode, text);
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.status === 401 ? `${error.message} ${NEEDED}` : error.message;
  }
}

interface SignInProps {
  /** The mode whose key is missing, when the reader is signed in to the other. */
  wanted: Mode | undefined;
  onBack?: () => void;
}

export function SignIn({ wanted, onBack }: SignInProps) {
  const [text, setText] = useState('');
  const [fault, setFault] = useState<string>();
  const [isTrying, setTrying] = useState(false);
  const attempt = async (key: string) => {
    setTrying(true);
    setFault(await signIn(key.trim()));
    setTrying(false);
  };
  useEffect(() => {
    document.title = 'Sign in · Metergate';
    const linked = linkedKey.get();
    if (linked !== undefined) void attempt(linked).finally(() => linkedKey.set(undefined));
  }, []);
  return (
    <main class="sign-in">
      <div class="sign-in-card">
        <div class="brand">
          <Icon name="brand" size={22} />
          Metergate
        </div>
        <h1>{wanted ? `Sign in to ${wanted} mode` : 'Sign in to the console'}</h1>
        <Form onSubmit={() => void attempt(text)}>
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
      </div>
    </main>
  );
}
