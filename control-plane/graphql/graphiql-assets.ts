import { KEY_FORM_START } from '../http/key-form-assets.ts';

/** What the page adds to GraphiQL: its start, with one place for the key, and its style. */

/** There is no editor of headers: GraphiQL would keep a key for the next user of the browser. */
export function graphiqlStart(workers: Record<string, string>): string {
  return `${KEY_FORM_START}const WORKERS = ${JSON.stringify(workers)};\n${START}`;
}

const START = `const kept = storedKey();

self.MonacoEnvironment = { globalAPI: false, getWorkerUrl: (id, label) => WORKERS[label] };

/** With another key there may be other data, and none of the old is to stay on the page. */
onKey((key) => {
  if (storeKey(key)) location.reload();
  else state.textContent = 'This browser keeps no key: allow this site to store data.';
});
showKey(kept, {
  wanted: 'Secret key',
  without: 'Enter a secret key to write queries here.',
  sent: 'Queries',
});
if (kept !== '') {
  YogaGraphiQL.renderYogaGraphiQL(document.getElementById('editor'), {
    title: 'Metergate GraphQL',
    logo: '',
    fetcher: send,
    defaultQuery: '{\\n  customers(first: 10) {\\n    nodes {\\n      id\\n      name\\n    }\\n  }\\n}\\n',
    isHeadersEditorEnabled: false,
    shouldPersistHeaders: false,
  });
}

/** Errors of the API come in its own form: the editor shows those of GraphQL. */
async function send(body) {
  const headers = { 'Content-Type': 'application/json', Authorization: 'Bearer ' + kept };
  const response = await fetch('/graphql', { method: 'POST', headers, body: JSON.stringify(body) });
  const { error, ...result } = await response.json();
  return error ? { errors: [{ message: error.message, extensions: { code: error.code } }] } : result;
}
`;

export const GRAPHIQL_STYLE = `html, body { height: 100%; }
body { display: flex; flex-direction: column; }
#editor { flex: 1 1 auto; min-height: 0; }
#key-form { padding: 8px 16px; font-size: 15px; }
`;
