/** What the page adds to Swagger UI: its start, with one place for the key, and its style. */

/**
 * The key is kept for the session of the browser tab and sent to this origin alone. Without
 * `validatorUrl: null` Swagger UI would send the description to a validator on the net.
 */
export const DOCS_START = `const STORED_AS = 'metergate-api-key';
const SCHEME = 'bearer';
/** What a reader needs first; the other groups follow in the order of the description. */
const FIRST = ['usage', 'customers', 'meters', 'entitlements'];

const form = document.getElementById('key-form');
const input = document.getElementById('key');
const forget = document.getElementById('forget');
const state = document.getElementById('key-state');
let kept = read();

const ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#description',
  deepLinking: true,
  defaultModelsExpandDepth: -1,
  validatorUrl: null,
  tagsSorter: (one, other) => rank(one) - rank(other),
  onComplete: apply,
});

form.addEventListener('submit', (event) => {
  event.preventDefault();
  const key = input.value.trim();
  if (key === '') return;
  input.value = '';
  keep(key);
});
forget.addEventListener('click', () => keep(''));

function keep(key) {
  kept = key;
  try {
    if (key === '') sessionStorage.removeItem(STORED_AS);
    else sessionStorage.setItem(STORED_AS, key);
  } catch {
    // A browser without storage: the key is kept until the page is closed.
  }
  apply();
}

function read() {
  try {
    return sessionStorage.getItem(STORED_AS) || '';
  } catch {
    return '';
  }
}

function apply() {
  if (kept === '') ui.authActions.logout([SCHEME]);
  else ui.preauthorizeApiKey(SCHEME, kept);
  forget.hidden = kept === '';
  input.placeholder = kept === '' ? 'Secret or publishable key' : 'Another key';
  state.textContent =
    kept === ''
      ? 'Enter a key to try requests here. It is kept until you close this tab.'
      : 'Requests are sent with the key that ends in ' + kept.slice(-4) + '.';
}

function rank(tag) {
  const at = FIRST.indexOf(tag);
  return at < 0 ? FIRST.length : at;
}
`;

/** The key dialogs of Swagger UI are hidden. Up to 640 px nothing is wider than the page. */
export const DOCS_STYLE = `body { margin: 0; }
#key-form {
  position: sticky;
  top: 0;
  z-index: 2;
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
.swagger-ui .scheme-container, .swagger-ui .authorization__btn { display: none; }
.swagger-ui .info { margin: 24px 0; }
@media (max-width: 640px) {
  #key-form { position: static; padding: 10px 12px; }
  #key-form input { flex-basis: 100%; max-width: none; }
  .swagger-ui .wrapper { padding: 0 12px; }
  .swagger-ui .info .title { font-size: 26px; }
  .swagger-ui .opblock-tag { flex-wrap: wrap; }
  .swagger-ui .opblock .opblock-summary-control { min-width: 0; }
  .swagger-ui .opblock .opblock-summary-method { min-width: 64px; padding: 6px 4px; }
  .swagger-ui .opblock .opblock-summary-path-description-wrapper {
    display: block;
    flex: 1 1 0;
    min-width: 0;
    padding: 0 8px;
  }
  .swagger-ui .opblock .opblock-summary-path { max-width: 100%; padding: 0; overflow-wrap: anywhere; }
  .swagger-ui .opblock .opblock-summary-description { padding: 2px 0 4px; }
  .swagger-ui .opblock .opblock-section-header { flex-wrap: wrap; gap: 8px; padding: 8px 12px; }
  .swagger-ui .table-container { padding: 12px; overflow-x: auto; }
  .swagger-ui table.parameters, .swagger-ui table.parameters tbody, .swagger-ui table.parameters tr,
  .swagger-ui table.parameters td { display: block; width: auto; }
  .swagger-ui table.parameters thead { display: none; }
  .swagger-ui table.parameters td { max-width: 100%; padding: 4px 0; }
  .swagger-ui .parameters-col_description input, .swagger-ui .parameters-col_description select,
  .swagger-ui .parameters-col_description textarea { box-sizing: border-box; width: 100%; max-width: 100%; }
  .swagger-ui .responses-inner { padding: 12px; overflow-x: auto; }
  .swagger-ui .highlight-code pre, .swagger-ui pre.microlight { overflow-x: auto; }
}
`;
