/** What the page adds to GraphiQL: its start, with one place for the key, and its style. */

/**
 * The key is kept for the session of the browser tab, under the name that the page of the REST API has for
 * it, and sent to this origin alone. There is no editor of headers: GraphiQL would keep a key for the next
 * user of the browser.
 */
export function graphiqlStart(workers: Record<string, string>): string {
  return `const WORKERS = ${JSON.stringify(workers)};\n${START}`;
}

const START = `const STORED_AS = 'metergate-api-key';
const form = document.getElementById('key-form');
const input = document.getElementById('key');
const forget = document.getElementById('forget');
const state = document.getElementById('key-state');
const kept = read();

self.MonacoEnvironment = { globalAPI: false, getWorkerUrl: (id, label) => WORKERS[label] };

form.addEventListener('submit', (event) => {
  event.preventDefault();
  if (input.value.trim() !== '') keep(input.value.trim());
});
forget.addEventListener('click', () => keep(''));

forget.hidden = kept === '';
input.placeholder = kept === '' ? 'Secret key' : 'Another key';
state.textContent =
  kept === ''
    ? 'Enter a secret key to write queries here. It is kept until you close this tab.'
    : 'Queries are sent with the key that ends in ' + kept.slice(-4) + '.';
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

/** With another key there may be other data, and none of the old is to stay on the page. */
function keep(key) {
  try {
    if (key === '') sessionStorage.removeItem(STORED_AS);
    else sessionStorage.setItem(STORED_AS, key);
  } catch {
    state.textContent = 'This browser keeps no key: allow this site to store data.';
    return;
  }
  location.reload();
}

function read() {
  try {
    return sessionStorage.getItem(STORED_AS) || '';
  } catch {
    return '';
  }
}
`;

export const GRAPHIQL_STYLE = `html, body { height: 100%; margin: 0; }
body { display: flex; flex-direction: column; }
#editor { flex: 1 1 auto; min-height: 0; }
#key-form {
  display: flex;
  flex-wrap: wrap;
  gap: 8px 12px;
  align-items: center;
  padding: 10px 16px;
  font: 15px/1.4 system-ui, sans-serif;
  color: #1b1b1b;
  background: #fff;
  border-bottom: 1px solid #d5d8dc;
}
#key-form label { font-weight: 600; }
#key-form input, #key-form button {
  box-sizing: border-box;
  min-height: 36px;
  padding: 4px 12px;
  font: inherit;
  border: 1px solid #8a9099;
  border-radius: 4px;
}
#key-form input { flex: 1 1 220px; min-width: 0; max-width: 480px; }
#key-form button { color: #fff; background: #1f4f8f; border-color: #1f4f8f; cursor: pointer; }
#key-form #forget { color: #1b1b1b; background: #fff; border-color: #8a9099; }
#key-form [hidden] { display: none; }
#key-form p { flex: 1 1 240px; margin: 0; font-size: 14px; }
`;
