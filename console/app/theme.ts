/** Light or dark: as the system is, or as the reader chose. The page has the result as an attribute. */
import { createStore, useStore } from './store.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const STORED_AS = 'metergate-console-theme';
const system = matchMedia('(prefers-color-scheme: dark)');
const theme = createStore<Theme>(stored());
/** The one that is shown. Charts are drawn with its colours. */
export const shownTheme = createStore<'light' | 'dark'>('light');

export function useTheme(): Theme {
  return useStore(theme);
}

export function chooseTheme(chosen: Theme): void {
  theme.set(chosen);
  try {
    localStorage.setItem(STORED_AS, chosen);
  } catch {
    // A browser without storage: the choice holds until the page is closed.
  }
  show();
}

export function startTheme(): void {
  system.addEventListener('change', show);
  show();
}

function show(): void {
  const chosen = theme.get();
  const shown = chosen === 'system' ? (system.matches ? 'dark' : 'light') : chosen;
  document.documentElement.dataset.theme = shown;
  shownTheme.set(shown);
}

function stored(): Theme {
  try {
    return THEMES.find((one) => one === localStorage.getItem(STORED_AS)) ?? 'system';
  } catch {
    return 'system';
  }
}
