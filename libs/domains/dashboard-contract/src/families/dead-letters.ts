import { z } from 'zod';
import { endpoint, json, nothing } from '../endpoint';
import { emptyBody, page, pageQuery, time } from '../fields';

const number = z.int().min(0);

const deadLetterStates = ['waiting', 'redelivering', 'discarded'] as const;

const group = {
  group: z.string().meta({ description: 'who gave it up', examples: ['billing-ledger'] }),
  topic: z.string().meta({ examples: ['generation.finished'] }),
};

const deadLetterGroup = z
  .object({
    ...group,
    waiting: number.meta({ description: 'for somebody to decide; counted up to 10,000, as the others are' }),
    redelivering: number,
    discarded: number.meta({ description: 'within the last 30 days' }),
  })
  .meta({ id: 'DeadLetterGroup' });

const deadLetter = z
  .object({
    ...group,
    position: z.string().meta({ description: 'of the event in its topic', examples: ['4711'] }),
    key: z.string().meta({ description: 'of the event: an organization' }),
    state: z.enum(deadLetterStates),
    reason: z.string().meta({ description: 'why the last delivery failed' }),
    attempts: number.meta({ description: 'deliveries that failed' }),
    dead_lettered_at: time.meta({ description: 'when it was given up first' }),
    failed_at: time.meta({ description: 'when a delivery failed last' }),
    discarded: z.object({ at: time, reason: z.string() }).nullable(),
    payload_bytes: number,
  })
  .meta({ id: 'DeadLetter' });

const wholeDeadLetter = deadLetter
  .extend({
    headers: z.record(z.string(), z.string()),
    payload: z.unknown().meta({
      description:
        'the event, with the field names of its proto; of bytes, such as a stored answer, their number alone. null when it cannot be read as an event of its topic',
    }),
    payload_base64: z
      .string()
      .nullable()
      .meta({ description: 'of what cannot be read: its first 16 KiB. Otherwise null' }),
  })
  .meta({ id: 'WholeDeadLetter' });

export const deadLetterEndpoints = {
  groups: endpoint({
    method: 'GET',
    path: '/api/dead-letters',
    who: 'platform:settlement',
    summary: 'Which consumer groups have dead letters',
    answer: json(z.object({ groups: z.array(deadLetterGroup) })),
  }),
  list: endpoint({
    method: 'GET',
    path: '/api/dead-letters/{group}/{topic}',
    who: 'platform:settlement',
    summary: 'The dead letters of a group',
    query: pageQuery.extend({ state: z.enum(deadLetterStates).default('waiting') }),
    answer: json(page(deadLetter)),
  }),
  read: endpoint({
    method: 'GET',
    path: '/api/dead-letters/{group}/{topic}/{position}',
    who: 'platform:settlement',
    summary: 'A dead letter with its event',
    answer: json(z.object({ letter: wholeDeadLetter })),
  }),
  redeliver: endpoint({
    method: 'POST',
    path: '/api/dead-letters/{group}/{topic}/{position}/redeliver',
    who: 'platform:settlement',
    summary: 'Deliver a dead letter once more',
    description:
      'To its group alone. Answers at once; the letter is gone when it was handled, and waits again with its new reason when it was not. A discarded letter can be redelivered too. Handling an event twice changes nothing.',
    body: emptyBody,
    answer: nothing,
    audit: ['dead_letter.redeliver'],
  }),
  discard: endpoint({
    method: 'POST',
    path: '/api/dead-letters/{group}/{topic}/{position}/discard',
    who: 'platform:settlement',
    summary: 'Discard a dead letter',
    description:
      'What it says is then never done: a generation is not charged, or not in the usage. It can be looked at, and redelivered after all, for 30 days. Discarding again changes nothing; while it is being redelivered it is 409 `conflict`.',
    body: z.strictObject({ reason: z.string().trim().min(1).max(500) }),
    answer: nothing,
    audit: ['dead_letter.discard'],
    errors: ['conflict'],
  }),
} as const;
