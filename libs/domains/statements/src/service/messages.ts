import { isUtcDay, type UnixMs } from '@gateway/base';
import type { Announcement } from '@gateway/billing-ledger/core';
import { GenerationSettled } from '@gateway/contracts/events';
import { GatewayError } from '@gateway/errors';
import type { SettledWindow } from '../core/settled-window';
import type { Credit, CreditCursor, StatementCursor, StatementLine } from '../core/statement';

export function parseMonth(month: string): string {
  if (/^[12]\d{3}-(0[1-9]|1[0-2])$/.test(month)) return month;
  throw new GatewayError('invalid_request', {
    param: 'month',
    message: 'month must be a month such as 2026-11.',
  });
}

/** A day of the month; undefined for the whole month. */
export function parseDay(day: string | undefined, month: string): string | undefined {
  if (day === undefined || (isUtcDay(day) && day.startsWith(`${month}-`))) return day;
  throw new GatewayError('invalid_request', {
    param: 'day',
    message: `day must be a day of the month, such as ${month}-01.`,
  });
}

/** The page token: the last line, and the balance from which the next page continues. */
export function renderCursor(last: StatementLine, oldestFirst: boolean): string {
  const balance = oldestFirst ? last.balanceNanoUsd : last.balanceNanoUsd - last.amountNanoUsd;
  const kind = last.kind === 'correction' ? 'credit' : last.kind;
  return Buffer.from(`${last.posted} ${balance} ${kind} ${last.reference}`).toString('base64url');
}

export function parseCursor(token: string): StatementCursor | undefined {
  if (token === '') return undefined;
  const text = Buffer.from(token, 'base64url').toString('utf8');
  const match = /^(\d{1,15}) (-?\d{1,19}) (credit|settlement) ([\x21-\x7e]{1,200})$/.exec(text);
  if (!match) throw unknownPageToken();
  const [, posted = '', balance = '', kind = '', reference = ''] = match;
  return { posted: Number(posted) as UnixMs, balanceNanoUsd: BigInt(balance), kind, reference };
}

/** The page token of a list of credits: its last credit. */
export function renderCreditCursor({ posted, creditId }: Credit): string {
  return Buffer.from(`${posted} ${creditId}`).toString('base64url');
}

export function parseCreditCursor(token: string): CreditCursor | undefined {
  if (token === '') return undefined;
  const match = /^(\d{1,15}) ([\x21-\x7e]{1,200})$/.exec(Buffer.from(token, 'base64url').toString('utf8'));
  if (!match) throw unknownPageToken();
  const [, posted = '', creditId = ''] = match;
  return { posted: Number(posted) as UnixMs, creditId };
}

function unknownPageToken(): GatewayError {
  return new GatewayError('invalid_request', { param: 'page_token', message: 'Unknown page_token.' });
}

/** The announcement of a window, keyed like its organization's settlements. */
export function renderWindow({ organizationId, from, until, hours }: SettledWindow): Announcement {
  const window = {
    organizationId,
    fromUnixMs: BigInt(from),
    untilUnixMs: BigInt(until),
    hours: hours.map(({ startsAt, ...sums }) => ({ hourUnixMs: BigInt(startsAt), ...sums })),
  };
  return {
    key: organizationId,
    payload: GenerationSettled.encode(GenerationSettled.fromPartial({ window })).finish(),
  };
}
