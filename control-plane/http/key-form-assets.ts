/**
 * The form for the API key, in front of a page's own script. The key is kept for the session of the browser
 * tab, under one name for all pages, and sent to this origin alone.
 */
export const KEY_FORM_START = `const STORED_AS = 'metergate-api-key';
const form = document.getElementById('key-form');
const input = document.getElementById('key');
const forget = document.getElementById('forget');
const state = document.getElementById('key-state');

/** Calls with the key that is entered, and with '' when it is to be forgotten. */
function onKey(keep) {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const key = input.value.trim();
    if (key === '') return;
    input.value = '';
    keep(key);
  });
  forget.addEventListener('click', () => keep(''));
}

/** What the form says of the key that is kept. */
function showKey(kept, { wanted, without, sent }) {
  forget.hidden = kept === '';
  input.placeholder = kept === '' ? wanted : 'Another key';
  state.textContent =
    kept === ''
      ? without + ' It is kept until you close this tab.'
      : sent + ' are sent with the key that ends in ' + kept.slice(-4) + '.';
}

/** False in a browser that stores nothing. */
function storeKey(key) {
  try {
    if (key === '') sessionStorage.removeItem(STORED_AS);
    else sessionStorage.setItem(STORED_AS, key);
    return true;
  } catch {
    return false;
  }
}

function storedKey() {
  try {
    return sessionStorage.getItem(STORED_AS) || '';
  } catch {
    return '';
  }
}

`;

export const KEY_FORM_STYLE = `body { margin: 0; }
#key-form {
  display: flex;
  flex-wrap: wrap;
  gap: 8px 12px;
  align-items: center;
  padding: 12px 20px;
  font: 16px/1.4 system-ui, sans-serif;
  color: #1b1b1b;
  background: #fff;
  border-bottom: 1px solid #d5d8dc;
}
#key-form label { font-weight: 600; }
#key-form input, #key-form button {
  box-sizing: border-box;
  min-height: 40px;
  padding: 6px 12px;
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
