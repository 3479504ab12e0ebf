import { KEY_FORM_START } from './key-form-assets.ts';

/** What the page adds to Swagger UI: its start, with one place for the key, and its style. */

/** Without `validatorUrl: null` Swagger UI would send the description to a validator on the net. */
export const DOCS_START = `${KEY_FORM_START}const SCHEME = 'bearer';
/** What a reader needs first; the other groups follow in the order of the description. */
const FIRST = ['usage', 'customers', 'meters', 'entitlements'];
let kept = storedKey();

const ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#description',
  deepLinking: true,
  defaultModelsExpandDepth: -1,
  validatorUrl: null,
  tagsSorter: (one, other) => rank(one) - rank(other),
  onComplete: apply,
});

onKey((key) => {
  kept = key;
  // In a browser without storage the key is kept until the page is closed.
  storeKey(key);
  apply();
});

function apply() {
  if (kept === '') ui.authActions.logout([SCHEME]);
  else ui.preauthorizeApiKey(SCHEME, kept);
  showKey(kept, {
    wanted: 'Secret or publishable key',
    without: 'Enter a key to try requests here.',
    sent: 'Requests',
  });
}

function rank(tag) {
  const at = FIRST.indexOf(tag);
  return at < 0 ? FIRST.length : at;
}
`;

/** The key dialogs of Swagger UI are hidden. Up to 640 px nothing is wider than the page. */
export const DOCS_STYLE = `#key-form { position: sticky; top: 0; z-index: 2; }
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
