/** What the demo page adds to the widget: its style, and what it shows in place of a checkout. */

export const DEMO_STYLE = `
:root { color-scheme: light dark; }
body {
  max-width: 72rem;
  margin: 0 auto;
  padding: clamp(1.5rem, 5vw, 4rem) clamp(1rem, 4vw, 2.5rem);
  font: 1rem/1.55 system-ui, sans-serif;
  color: light-dark(#14151a, #f1f1f5);
  background: light-dark(#f6f7fa, #101218);
}
header { max-width: 40rem; margin: 0 auto 2.5rem; text-align: center; }
h1 { margin: 0.5rem 0; font-size: clamp(1.8rem, 5vw, 2.6rem); line-height: 1.15; letter-spacing: -0.02em; }
h2 { font-size: 1.05rem; }
header p { margin: 0.5rem 0; color: light-dark(#585d6b, #a9adba); }
header .mode {
  display: inline-block;
  margin: 0;
  padding: 0.15rem 0.75rem;
  border-radius: 99px;
  font-size: 0.875rem;
  font-weight: 600;
  color: light-dark(#92400e, #fcd34d);
  background: light-dark(#fef3c7, #3b2f13);
}
metergate-pricing { --metergate-plan-height: 33rem; }
metergate-pricing:not(:defined) { display: block; min-height: 37.375rem; }
section { margin-top: 3rem; }
pre, output, .empty {
  display: block;
  margin: 1.25rem 0 0;
  padding: 1rem 1.25rem;
  border: 1px solid light-dark(#dfe1e8, #343845);
  border-radius: 14px;
  background: light-dark(#fff, #191b22);
}
pre, output { overflow-x: auto; white-space: pre; font: 0.875rem/1.6 ui-monospace, monospace; }
output[hidden] { display: none; }
.empty { text-align: center; }
a { color: light-dark(#4338ca, #a5b4fc); }
`;

/** In place of a checkout: what the page that sells the plan would do with the event. */
export const DEMO_SCRIPT = `
addEventListener('metergate:select', (event) => {
  event.preventDefault();
  const { planKey, planId, interval, currency, sessionId } = event.detail;
  const body = { customerId: 'YOUR_CUSTOMER', planId, interval, metadata: { sessionId } };
  const chosen = document.getElementById('chosen');
  chosen.hidden = false;
  chosen.textContent =
    'You chose ' + planKey + (currency ? ' (' + interval + ', ' + currency + ')' : '') + '.\\n' +
    'Your checkout creates the subscription, and GET /api/v1/funnel counts the session as activated:\\n\\n' +
    'POST /api/v1/subscriptions\\n' + JSON.stringify(body, null, 2);
  chosen.scrollIntoView({ block: 'nearest' });
});
`;
