/** Drawn on a grid of 24, in the colour of the text. */
const PATHS = {
  overview: 'M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-4H4zM14 8h6V4h-6z',
  customers:
    'M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM2 21v-1a6 6 0 0 1 6-6h2a6 6 0 0 1 6 6v1' +
    'M17 4a4 4 0 0 1 0 7M22 21v-1a6 6 0 0 0-4-5.6',
  meters: 'M12 14l4-4M5 19a9 9 0 1 1 14 0',
  catalogue: 'M12 3l9 5-9 5-9-5zM3 13l9 5 9-5',
  events: 'M3 12h4l3 8 4-16 3 8h4',
  webhooks: 'M4 12a8 8 0 0 1 8-8M20 12a8 8 0 0 1-8 8M15 1l-3 3 3 3M9 23l3-3-3-3',
  health: 'M12 21s-8-4.6-8-11a4.5 4.5 0 0 1 8-2.8A4.5 4.5 0 0 1 20 10c0 6.4-8 11-8 11z',
  request: 'M8 7l-5 5 5 5M16 7l5 5-5 5',
  menu: 'M4 7h16M4 12h16M4 17h16',
  close: 'M6 6l12 12M18 6L6 18',
  brand: 'M5 19v-7M12 19V5M19 19v-4',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width={name === 'brand' ? 3.2 : 1.8}
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
