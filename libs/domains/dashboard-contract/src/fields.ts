import { parseUsd } from '@gateway/base';
import { z } from 'zod';

/** The kinds of fields that many endpoints share. What is answered has no transforms: it is JSON as it travels. */

const MAX_COUNT = 2_147_483_647;
export const MAX_PAGE_SIZE = 200;
const DEFAULT_PAGE_SIZE = 50;

/** How the parts of paths are described; a path may name no other. */
export const pathParameters = {
  organization_id: 'An organization, such as org-01KA….',
  key_id: 'A key of the organization, such as key-01KA….',
  member_id: 'A person, such as mem-01KA….',
  invitation_id: 'An invitation of the organization, such as inv-01KA….',
  session_id: 'A session, such as ses-01KA….',
  domain: 'A domain of emails, such as example.com.',
  generation_id: 'A generation, such as gen-01KA….',
  group: 'A consumer group, such as billing-ledger.',
  topic: 'A topic of the event log, such as generation.finished.',
  position: 'The position of an event in its topic, such as 4711.',
} as const;

export const id = z.string();
/** ISO 8601 in UTC. */
export const time = z.iso.datetime().meta({ description: 'ISO 8601 in UTC' });
export const day = z.iso.date().meta({ description: 'YYYY-MM-DD, UTC' });
/** A decimal number of US dollars, exact to nine digits after the point. */
export const usd = z.string().meta({ description: 'decimal number of US dollars', examples: ['12.50'] });

/** A cap: a whole number from 1, or null for none. */
export const count = z.int().min(1).max(MAX_COUNT).nullable();

/** An amount above 0 as it is written; nano-dollars after validation. */
export const positiveUsd = z
  .string()
  .meta({ description: 'decimal number of US dollars above 0', examples: ['12.50'] })
  .transform((text, context) => {
    const amount = parseUsd(text);
    if (amount !== undefined && amount > 0n) return amount;
    context.addIssue({
      code: 'custom',
      message: 'must be a decimal number of US dollars above 0 as a string, such as "12.50"',
    });
    return z.NEVER;
  });

/** An amount from 0 up as it is written; nano-dollars after validation. */
export const amountUsd = z
  .string()
  .meta({ description: 'decimal number of US dollars, 0 or above', examples: ['0.05'] })
  .transform((text, context) => {
    const amount = parseUsd(text);
    if (amount !== undefined && amount >= 0n) return amount;
    context.addIssue({
      code: 'custom',
      message: 'must be a decimal number of US dollars as a string, such as "0.05"',
    });
    return z.NEVER;
  });

/**
 * The version of what was read, so that of two editors the second is told.
 * Absent: the change is made whatever is there.
 */
export const version = z.int().min(1);

export const emptyBody = z.strictObject({});

const pageQueryFields = {
  page_size: z
    .string()
    .default(String(DEFAULT_PAGE_SIZE))
    .meta({ description: `1 to ${MAX_PAGE_SIZE}, ${DEFAULT_PAGE_SIZE} when absent` })
    .transform((text, context) => {
      if (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= MAX_PAGE_SIZE) return Number(text);
      context.addIssue({ code: 'custom', message: `must be a whole number from 1 to ${MAX_PAGE_SIZE}` });
      return z.NEVER;
    }),
  page_token: z.string().default('').meta({ description: 'where the page before said to go on' }),
};

/** The query of a list; with filters, `pageQuery.extend({ … })`. */
export const pageQuery = z.strictObject(pageQueryFields);

/** One page of a list, newest first. */
export function page<Item extends z.ZodType>(item: Item) {
  return z.object({
    data: z.array(item),
    next_page_token: z.string().nullable().meta({ description: 'null on the last page' }),
  });
}
