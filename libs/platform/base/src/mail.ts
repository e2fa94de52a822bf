import { formatUsd, type NanoUsd } from './money';
import { isTimeZone } from './person';
import type { UnixMs } from './time';

/** What an email says. Its text and its HTML are made from it, so that all emails look the same. */
export interface MailContent {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** Values with their names, as a table. */
  readonly facts?: readonly (readonly [name: string, value: string])[];
  readonly link?: { readonly label: string; readonly url: string };
  /** What the recipient can do, and why they got it. */
  readonly notes?: readonly string[];
}

export interface Mail extends MailContent {
  /** One address. */
  readonly to: string;
}

export interface Mailer {
  /** Rejects if the server did not accept the email. Has its own timeout. */
  send(mail: Mail): Promise<void>;
}

/** The content as plain text. */
export function mailText({ paragraphs, facts = [], link, notes = [] }: MailContent): string {
  return [
    ...paragraphs,
    ...(facts.length > 0 ? [facts.map(([name, value]) => `${name}: ${value}`).join('\n')] : []),
    ...(link ? [`${link.label}:\n${link.url}`] : []),
    ...notes,
  ]
    .join('\n\n')
    .concat('\n');
}

/** "$1,234.50": in cents, rounded down; "less than $0.01" for a smaller amount. */
export function mailUsd(amount: NanoUsd): string {
  const nanoPerCent = 10_000_000n;
  if (amount > 0n && amount < nanoPerCent) return 'less than $0.01';
  const [whole = '', fraction = ''] = formatUsd((amount - (amount % nanoPerCent)) as NanoUsd).split('.');
  const sign = whole.startsWith('-') ? '−' : '';
  const grouped = whole.replace('-', '').replace(/\B(?=(\d{3})+$)/g, ',');
  return `${sign}$${grouped}.${fraction.padEnd(2, '0')}`;
}

/** "Thu, 22 Oct 2026 09:00:00 UTC"; with a time zone "Thu, 22 Oct 2026 11:00:00 Europe/Berlin (09:00:00 UTC)". */
export function mailTime(time: UnixMs, timeZone?: string): string {
  const utc = new Date(time).toUTCString().replace('GMT', 'UTC');
  if (timeZone === undefined || !isTimeZone(timeZone) || timeZone === 'UTC') return utc;
  const local = localTime(timeZone)
    .format(time)
    .replace(/^(.*), /, '$1 ');
  const isSameDay = local.slice(0, DAY_CHARACTERS) === utc.slice(0, DAY_CHARACTERS);
  return `${local} ${timeZone} (${isSameDay ? utc.slice(DAY_CHARACTERS + 1) : utc})`;
}

/** The length of "Thu, 22 Oct 2026". */
const DAY_CHARACTERS = 16;

const localTime = (timeZone: string) =>
  new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'short',
    day: '2-digit',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  });
