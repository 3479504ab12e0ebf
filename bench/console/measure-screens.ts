import type { Browser, BrowserContext, Page } from 'playwright-core';
import {
  firstContentfulPaint,
  largestContentfulPaint,
  launchBrowser,
  settled,
} from '../../tests/support/console-page.ts';
import { instanceCosts, microsSince } from '../measure-instance.ts';
import { spreadOf } from '../samples.ts';
import { METERS } from './catalogue.ts';
import type { LargeInstallation } from './large-installation.ts';
import { loadNow } from './load-now.ts';

const ROUNDS = 7;
/** Of a screen: longer than any that a reader would wait for. */
const TIMEOUT_MS = 30_000;

/** Where each is, behind `#`. The customer has more usage than any other. */
function screensOf(customerId: string): Record<string, string> {
  const customer = `/customers/${customerId}`;
  return {
    overview: '/',
    customers: '/customers',
    customersFound: '/customers?q=0077',
    customer,
    customerUsage: `${customer}?tab=usage`,
    customerCost: `${customer}?tab=cost`,
    customerChanges: `${customer}?tab=audit`,
    meter: `/meters/${METERS.limited}`,
    meterByCustomer: `/meters/${METERS.limited}?group=customerId`,
    plans: '/catalogue',
    webhooks: '/webhooks',
    health: '/health',
  };
}

/** Each cold, in a browser that was never there, signed in to live mode. One after the other, in turns. */
export async function measureScreens(installation: LargeInstallation): Promise<Record<string, object>> {
  const screens = Object.entries(screensOf(installation.customers[0] ?? ''));
  const visits = new Map<string, Visit[]>();
  const browser = await launchBrowser();
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [name, place] of screens) {
        const visit = await visitScreen(browser, installation, place);
        visits.set(name, [...(visits.get(name) ?? []), visit]);
      }
    }
  } finally {
    await browser.close();
  }
  return Object.fromEntries([...visits].map(([name, all]) => [name, figuresOf(all)]));
}

interface Visit {
  /** Since the navigation began. `settled`: nothing of it loads any more. */
  firstPaintMs: number;
  largestPaintMs: number;
  settledMs: number;
  /** Of control side and Postgres together. */
  cpuMs: number;
  requests: number;
  load: number;
}

async function visitScreen(browser: Browser, { instance }: LargeInstallation, place: string): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 1000 } });
  try {
    const page = await signedInPage(context, instance.keys().live.secret);
    let requests = 0;
    page.on('request', () => {
      requests += 1;
    });
    const before = instanceCosts(instance);
    await page.goto(`${instance.origin}/console#${place}`);
    await settled(page);
    const settledMs = await page.evaluate<number>('performance.now()');
    const { controlSide, postgres } = microsSince(
      before,
      instanceCosts(instance),
      (micros) => micros / 1_000,
    );
    return {
      firstPaintMs: await firstContentfulPaint(page),
      largestPaintMs: await largestContentfulPaint(page),
      settledMs,
      cpuMs: controlSide + postgres,
      requests,
      load: loadNow(),
    };
  } finally {
    await context.close();
  }
}

/** As a tab that is duplicated: its key is there when the page begins. */
async function signedInPage(context: BrowserContext, key: string): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  const session = JSON.stringify(JSON.stringify({ keys: { live: key }, mode: 'live' }));
  await page.addInitScript(`sessionStorage.setItem('metergate-console-keys', ${session})`);
  return page;
}

function figuresOf(visits: readonly Visit[]): object {
  const spread = (name: keyof Visit) => {
    const { p50, max } = spreadOf(
      visits.map((visit) => visit[name]),
      Math.round,
    );
    return { p50, max };
  };
  return {
    firstPaintMs: spread('firstPaintMs'),
    largestPaintMs: spread('largestPaintMs'),
    settledMs: spread('settledMs'),
    cpuMs: spread('cpuMs').p50,
    requests: spread('requests').max,
    load: spreadOf(
      visits.map(({ load }) => load),
      (load) => load,
    ).p50,
  };
}
