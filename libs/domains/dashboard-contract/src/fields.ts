import { apiTypes, parseUsd } from '@gateway/base';
import { z } from 'zod';

/**
 * Fields that endpoints share. Fields of responses have no transforms, so their types are those of the
 * JSON.
 */

const MAX_COUNT = 2_147_483_647;
export const MAX_PAGE_SIZE = 200;
const DEFAULT_PAGE_SIZE = 50;

/** The descriptions of all path parameters. */
export const pathParameters = {
  organization_id: 'An organization, such as org-01KA….',
  project_id: 'A project of the organization, such as proj-01KA….',
  key_id: 'A key of the organization, such as key-01KA….',
  member_id: 'A person, such as mem-01KA….',
  invitation_id: 'An invitation of the organization, such as inv-01KA….',
  token_id: 'A management token, such as mtk-01KA….',
  session_id: 'A session, such as ses-01KA….',
  domain: 'An email domain, such as example.com.',
  generation_id: 'A generation, such as gen-01KA….',
  group: 'A consumer group, such as billing-ledger.',
  topic: 'A topic of the event log, such as generation.finished.',
  version: 'A version of the catalogue, such as 12.',
  secret_name: 'A stored secret, such as openai.',
  position: 'The position of an event in its topic, such as 4711.',
} as const;

export const id = z.string();
/** ISO 8601 in UTC. */
export const time = z.iso.datetime().meta({ description: 'ISO 8601 in UTC.' });
export const day = z.iso.date().meta({ description: 'YYYY-MM-DD, UTC.' });
/** A decimal number of US dollars with up to nine decimal places. */
export const usd = z.string().meta({ description: 'Decimal amount in US dollars.', examples: ['12.50'] });

export const apiType = z
  .enum(apiTypes)
  .meta({ description: 'The API of the request; `completions` are chat completions.' });

/** A limit: an integer of at least 1, or null for none. */
export const count = z.int().min(1).max(MAX_COUNT).nullable();

/** An amount above 0 as a decimal string; nano-dollars after validation. */
export const positiveUsd = z
  .string()
  .meta({ description: 'Decimal amount in US dollars above 0.', examples: ['12.50'] })
  .transform((text, context) => {
    const amount = parseUsd(text);
    if (amount !== undefined && amount > 0n) return amount;
    context.addIssue({
      code: 'custom',
      message: 'must be a decimal string of US dollars above 0, such as "12.50"',
    });
    return z.NEVER;
  });

/** An amount of at least 0 as a decimal string; nano-dollars after validation. */
export const amountUsd = z
  .string()
  .meta({ description: 'Decimal amount in US dollars, at least 0.', examples: ['0.05'] })
  .transform((text, context) => {
    const amount = parseUsd(text);
    if (amount !== undefined && amount >= 0n) return amount;
    context.addIssue({
      code: 'custom',
      message: 'must be a decimal string of US dollars, such as "0.05"',
    });
    return z.NEVER;
  });

/**
 * The version that the client has read, for optimistic locking. Absent: the change is made
 * unconditionally.
 */
export const version = z.int().min(1);

export const emptyBody = z.strictObject({});

const pageQueryFields = {
  page_size: z
    .string()
    .default(String(DEFAULT_PAGE_SIZE))
    .meta({ description: `1 to ${MAX_PAGE_SIZE}, ${DEFAULT_PAGE_SIZE} when absent.` })
    .transform((text, context) => {
      if (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= MAX_PAGE_SIZE) return Number(text);
      context.addIssue({ code: 'custom', message: `must be an integer from 1 to ${MAX_PAGE_SIZE}` });
      return z.NEVER;
    }),
  page_token: z.string().default('').meta({ description: '`next_page_token` of the previous page.' }),
};

/** The query of a list; with filters, `pageQuery.extend({ … })`. */
export const pageQuery = z.strictObject(pageQueryFields);

/** The search of a list. The text may be any part of the fields that `what` names. */
export function searchText(what: string) {
  return z
    .string()
    .max(200)
    .optional()
    .meta({ description: `Part of the ${what}, in any case.` });
}

/** The number of matches, counted once per list. */
export const total = z
  .int()
  .min(0)
  .optional()
  .meta({ description: 'The number of all matches; only on the first page.' });

/** One page of a list, newest first. */
export function page<Item extends z.ZodType>(item: Item) {
  return z.object({
    data: z.array(item),
    next_page_token: z.string().nullable().meta({ description: 'Null on the last page.' }),
  });
}
