import { cx } from './cx';

/** 16 px stroke icons. Each one is accompanied by a text or an accessible name. */
const SHAPES = {
  overview: 'M2.5 9.5 8 3l5.5 6.5M4 8v5.5h8V8M6.5 13.5V10h3v3.5',
  key: 'M5.5 13a2.75 2.75 0 1 0 0-5.5 2.75 2.75 0 0 0 0 5.5ZM7.5 8.5l5.5-6M10.5 5.2l1.8 1.7',
  chart: 'M2.5 13.5h11M4 11V8M7 11V4M10 11V6M13 11V9',
  list: 'M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01',
  wallet: 'M2.5 5h11v8h-11zM2.5 5 10 2.5V5M13.5 7.5h-3a1.5 1.5 0 0 0 0 3h3',
  play: 'M4.5 3v10l8-5z',
  sliders: 'M2.5 5h6M11.5 5h2M2.5 11h2M7.5 11h6M10 3.5v3M6 9.5v3',
  people:
    'M6 7.5a2.25 2.25 0 1 0 0-4.5 2.25 2.25 0 0 0 0 4.5ZM2 13c.3-2 1.8-3.2 4-3.2S9.7 11 10 13M10.5 3.2a2.2 2.2 0 0 1 0 4.2M11.5 10c1.5.3 2.3 1.3 2.5 3',
  book: 'M3 2.5h8.5a1.5 1.5 0 0 1 1.5 1.5v9.5H4.5A1.5 1.5 0 0 1 3 12zM3 12a1.5 1.5 0 0 1 1.5-1.5H13M6 5.5h4',
  building: 'M3 13.5v-11h6.5v11M9.5 6H13v7.5M1.5 13.5h13M5 5.5h2.5M5 8h2.5M5 10.5h2.5',
  layers: 'm8 2.5 6 3-6 3-6-3zM2 8.5l6 3 6-3M2 11l6 3 6-3',
  pulse: 'M1.5 8.5h3l2-5 3 9 2-4h3',
  scale: 'M8 2.5v11M4.5 13.5h7M3 4.5h10M3 4.5l-1.7 4.2a2 2 0 0 0 3.4 0zM13 4.5l-1.7 4.2a2 2 0 0 0 3.4 0z',
  person: 'M8 8a2.75 2.75 0 1 0 0-5.5A2.75 2.75 0 0 0 8 8ZM2.8 13.5C3.3 11.3 5.3 10 8 10s4.7 1.3 5.2 3.5',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.3 10.3l3.2 3.2',
  plus: 'M8 3v10M3 8h10',
  check: 'm3 8.5 3.5 3.5L13 4.5',
  close: 'm4 4 8 8M12 4l-8 8',
  copy: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z',
  download: 'M8 2.5v8M4.5 7.5 8 11l3.5-3.5M2.5 13.5h11',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  down: 'm4 6 4 4 4-4',
  updown: 'm5 6 3-3 3 3M5 10l3 3 3-3',
  right: 'm6 4 4 4-4 4',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  alert: 'M8 2.5 14.5 13.5h-13zM8 6.5v3.5M8 11.9v.01',
  info: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 7.5V11M8 5.2v.01',
  rotate: 'M13 8a5 5 0 1 1-1.5-3.5L13 6M13 2.5V6H9.5',
  image: 'M2.5 3h11v10h-11zM2.5 11l3.5-3.5 3 3 1.5-1.5 3 3M10.5 6h.01',
  tool: 'M9.5 6.5 3 13M13.5 4.5 11 7 9 5l2.5-2.5A3.5 3.5 0 0 0 7 7l2 2a3.5 3.5 0 0 0 4.5-4.5Z',
  out: 'M6 3H3v10h3M7 8h6.5M11 5.5 13.5 8 11 10.5',
  sun: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M3.4 12.6l1-1M11.6 4.4l1-1',
  stop: 'M4 4h8v8H4z',
  send: 'M8 13.5v-11M4 6.5l4-4 4 4',
  external: 'M6.5 3.5h-3v9h9v-3M9.5 2.5h4v4M13.5 2.5 8 8',
} as const;

export type IconName = keyof typeof SHAPES;

export function Icon({ name, className }: { readonly name: IconName; readonly className?: string }) {
  return (
    <svg
      viewBox="0 0 16 16"
      aria-hidden="true"
      className={cx('size-4 shrink-0', className)}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={SHAPES[name]} />
    </svg>
  );
}

/** The logo. */
export function Mark({ className }: { readonly className?: string }) {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true" className={cx('size-7', className)}>
      <rect width="32" height="32" rx="7" className="fill-accent" />
      <path
        d="M9 8v16M23 8v16M9 16h14M18 11l5 5-5 5"
        fill="none"
        className="stroke-on-accent"
        strokeWidth="2.4"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}
