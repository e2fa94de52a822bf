import { z } from 'zod';
import { endpoint, json, noContent } from '../endpoint';
import { emptyBody, page, pageQuery, time } from '../fields';

const number = z.int().min(0);

const deadLetterStates = ['pending', 'redelivering', 'discarded'] as const;

const group = {
  group: z.string().meta({ description: 'The consumer group.', examples: ['billing-ledger'] }),
  topic: z.string().meta({ examples: ['generation.finished'] }),
};

const deadLetterGroup = z
  .object({
    ...group,
    pending: number.meta({ description: 'Waiting for a decision; each count stops at 10,000.' }),
    redelivering: number,
    discarded: number.meta({ description: 'Discarded in the last 30 days.' }),
  })
  .meta({ id: 'DeadLetterGroup' });

const deadLetter = z
  .object({
    ...group,
    position: z.string().meta({ description: 'The event’s position in its topic.', examples: ['4711'] }),
    key: z.string().meta({ description: 'The event’s key, an organization id.' }),
    state: z.enum(deadLetterStates),
    reason: z.string().meta({ description: 'Why the last delivery attempt failed.' }),
    attempts: number.meta({ description: 'Failed delivery attempts.' }),
    dead_lettered_at: time.meta({ description: 'When it was first dead-lettered.' }),
    failed_at: time.meta({ description: 'When the last delivery attempt failed.' }),
    discarded: z.object({ at: time, reason: z.string() }).nullable(),
    payload_bytes: number,
  })
  .meta({ id: 'DeadLetter' });

const deadLetterDetail = deadLetter
  .extend({
    headers: z.record(z.string(), z.string()),
    payload: z.unknown().meta({
      description:
        'The event, with the field names of its proto message; byte fields are shown as their size. null when it cannot be decoded.',
    }),
    payload_base64: z
      .string()
      .nullable()
      .meta({ description: 'The first 16 KiB of an event that cannot be decoded; otherwise null.' }),
  })
  .meta({ id: 'DeadLetterDetail' });

export const deadLetterEndpoints = {
  groups: endpoint({
    method: 'GET',
    path: '/api/dead-letters',
    access: 'platform:settlement',
    summary: 'List the consumer groups that have dead letters',
    response: json(z.object({ groups: z.array(deadLetterGroup) })),
  }),
  list: endpoint({
    method: 'GET',
    path: '/api/dead-letters/{group}/{topic}',
    access: 'platform:settlement',
    summary: 'List the dead letters of a consumer group',
    query: pageQuery.extend({ state: z.enum(deadLetterStates).default('pending') }),
    response: json(page(deadLetter)),
  }),
  get: endpoint({
    method: 'GET',
    path: '/api/dead-letters/{group}/{topic}/{position}',
    access: 'platform:settlement',
    summary: 'Get a dead letter with its event',
    response: json(z.object({ dead_letter: deadLetterDetail })),
  }),
  redeliver: endpoint({
    method: 'POST',
    path: '/api/dead-letters/{group}/{topic}/{position}/redeliver',
    access: 'platform:settlement',
    summary: 'Redeliver a dead letter',
    description:
      'Delivers it to its consumer group only, and returns immediately. The dead letter is deleted when the delivery succeeds, and pending again with a new reason when it fails. A discarded dead letter can be redelivered too. Handling an event twice has no further effect.',
    body: emptyBody,
    response: noContent,
    audit: ['dead_letter.redeliver'],
  }),
  discard: endpoint({
    method: 'POST',
    path: '/api/dead-letters/{group}/{topic}/{position}/discard',
    access: 'platform:settlement',
    summary: 'Discard a dead letter',
    description:
      'The event takes no effect: its generation is not charged, or not counted in usage. For 30 days the dead letter can still be viewed and redelivered. Idempotent; 409 `conflict` while it is being redelivered.',
    body: z.strictObject({ reason: z.string().trim().min(1).max(500) }),
    response: noContent,
    audit: ['dead_letter.discard'],
    errors: ['conflict'],
  }),
} as const;
