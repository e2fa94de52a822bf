import type { ErrorCode } from '@gateway/errors';
import type { KeySettings, Limits } from '@gateway/test-support';
import { pngDataUri } from '../../../src/testing/png';
import { day, weatherTool, type PublicModel } from '../../framework';

/** A request in the making, with what its key, its organization and earlier requests are to be like. */
export interface Draft {
  path: string;
  /** Replaces the key of the tenant. */
  apiKey: string | undefined;
  readonly headers: Record<string, string>;
  /** Sent with the request and with those before it. */
  idempotencyKey: string | undefined;
  /** Top-level fields over those of a valid body; `undefined` removes one. */
  readonly fields: Record<string, unknown>;
  /** Text of the last message. */
  text: string;
  imageUrl: string | undefined;
  /** What follows the JSON text. */
  suffix: string;
  /** Changed after the preparations, so that they can run. */
  readonly key: KeySettings;
  revoked: boolean;
  suspended: boolean;
  maxOutputTokens: number | undefined;
  /** In force before the preparations, which use them up. */
  readonly counters: Partial<Limits>;
  /** The balance, or the budget, covers the preparations but not the request. */
  poor: boolean;
  dailyBudget: boolean;
  /** A small request has run. */
  spent: boolean;
  /** A request is running: another one, or this very one. */
  running: 'no' | 'other' | 'same';
}

export interface FaultContext {
  /** A model that can nothing but answer text. */
  readonly bare: PublicModel;
  readonly other: PublicModel;
}

/** One fault that a request can have. */
export interface Fault {
  /** Its place in the order of checks: of two, the lower one is the answer. */
  readonly rank: number;
  readonly code: ErrorCode;
  /** Tells it from other faults of the same code. */
  readonly name?: string;
  readonly param?: string;
  /**
   * What has to be so for the fault to be there. Two faults that say different
   * things of one subject cannot stand in one request: an unknown key has no
   * organization, a missing model no capabilities.
   */
  readonly given: Readonly<Partial<Record<Subject, string>>>;
  readonly apply: (draft: Draft, context: FaultContext) => void;
}

type Subject = 'key' | 'model' | 'messages' | 'idempotency key' | 'body' | 'provider';

/** Whether both faults can stand in one request. */
export function canStandTogether(one: Fault, other: Fault): boolean {
  return (Object.keys(one.given) as Subject[]).every(
    (subject) => other.given[subject] === undefined || other.given[subject] === one.given[subject],
  );
}

export function nameOf({ code, name }: Fault): string {
  return name ? `${code} (${name})` : code;
}

const KNOWN = { key: 'known' };
const FAULTY = { body: 'faulty' };
const BARE = { ...FAULTY, model: 'bare' };
const IDEMPOTENCY_KEY = 'the same one';

/** Every fault, in the order of checks. */
export const faults: readonly Fault[] = [
  { rank: 1, code: 'route_not_found', given: {}, apply: (draft) => (draft.path = '/v1/chat/completion') },
  {
    rank: 2,
    code: 'invalid_api_key',
    given: { key: 'unknown' },
    apply: (draft) => (draft.apiKey = 'sk-gw-unknown'),
  },
  { rank: 3, code: 'key_revoked', given: KNOWN, apply: (draft) => (draft.revoked = true) },
  { rank: 4, code: 'key_expired', given: KNOWN, apply: ({ key }) => (key.expires_on = day(-1)) },
  { rank: 5, code: 'ip_not_allowed', given: KNOWN, apply: ({ key }) => (key.ip_allowlist = ['192.0.2.1']) },
  { rank: 6, code: 'org_suspended', given: KNOWN, apply: (draft) => (draft.suspended = true) },
  { rank: 7, code: 'missing_scope', given: KNOWN, apply: ({ key }) => (key.scopes = ['usage:read']) },
  {
    rank: 8,
    code: 'request_too_large',
    given: {},
    // The header says so; nothing of that size has to be sent.
    apply: ({ headers }) => (headers['content-length'] = String(2 ** 30)),
  },
  { rank: 9, code: 'invalid_json', given: FAULTY, apply: (draft) => (draft.suffix = '}') },
  {
    rank: 10,
    code: 'missing_model',
    given: { ...FAULTY, model: 'missing' },
    apply: ({ fields }) => (fields.model = undefined),
  },
  {
    rank: 11,
    code: 'missing_messages',
    given: { ...FAULTY, messages: 'missing' },
    apply: ({ fields }) => (fields.messages = undefined),
  },
  {
    rank: 12,
    code: 'unknown_parameter',
    param: 'zebra',
    given: FAULTY,
    apply: ({ fields }) => (fields.zebra = 1),
  },
  {
    rank: 13,
    code: 'invalid_request',
    name: 'a value out of range',
    param: 'temperature',
    given: FAULTY,
    apply: ({ fields }) => (fields.temperature = 9),
  },
  {
    rank: 14,
    code: 'image_url_not_supported',
    given: { ...FAULTY, messages: 'given' },
    apply: (draft) => (draft.imageUrl = 'https://example.com/a.png'),
  },
  {
    rank: 15,
    code: 'json_mode_no_stream',
    given: FAULTY,
    apply: ({ fields }) => Object.assign(fields, { response_format: { type: 'json_object' }, stream: true }),
  },
  { rank: 16, code: 'n_not_allowed', given: FAULTY, apply: ({ fields }) => (fields.n = 2) },
  {
    rank: 17,
    code: 'max_tokens_exceeds_cap',
    given: KNOWN,
    apply: (draft, { bare }) => (draft.maxOutputTokens = bare.max_output_tokens - 1),
  },
  {
    rank: 18,
    code: 'model_not_found',
    given: { ...FAULTY, model: 'unknown' },
    apply: ({ fields }) => (fields.model = 'no/such-model'),
  },
  {
    rank: 19,
    code: 'model_not_allowed',
    given: KNOWN,
    apply: ({ key }, { other }) => (key.allowed_models = [other.id]),
  },
  {
    rank: 20,
    code: 'tools_not_supported',
    given: BARE,
    apply: ({ fields }) => (fields.tools = [weatherTool]),
  },
  {
    rank: 21,
    code: 'vision_not_available',
    given: { ...BARE, messages: 'given' },
    apply: (draft) => (draft.imageUrl ??= pngDataUri(8, 8)),
  },
  {
    rank: 22,
    code: 'json_mode_not_supported',
    given: BARE,
    apply: ({ fields }) => (fields.response_format = { type: 'json_object' }),
  },
  {
    rank: 23,
    code: 'reasoning_effort_not_supported',
    given: BARE,
    apply: ({ fields }) => (fields.reasoning_effort = 'low'),
  },
  {
    rank: 24,
    code: 'context_length_exceeded',
    given: { ...BARE, messages: 'given' },
    apply: (draft, { bare }) => (draft.text += 'word '.repeat(bare.context_length)),
  },
  {
    rank: 24.5,
    code: 'invalid_request',
    name: 'an unusable Idempotency-Key',
    param: 'Idempotency-Key',
    given: { 'idempotency key': 'unusable' },
    apply: ({ headers }) => (headers['idempotency-key'] = 'x'.repeat(300)),
  },
  {
    rank: 25,
    code: 'idempotency_key_reused',
    given: { ...KNOWN, 'idempotency key': 'used' },
    apply: (draft) => {
      draft.idempotencyKey = IDEMPOTENCY_KEY;
      draft.spent = true;
    },
  },
  {
    rank: 25,
    code: 'idempotency_key_in_flight',
    // The same body was accepted before, so nothing can be wrong with it.
    given: {
      ...KNOWN,
      'idempotency key': 'running',
      body: 'accepted',
      model: 'bare',
      messages: 'given',
      provider: 'answers',
    },
    apply: (draft) => {
      draft.idempotencyKey = IDEMPOTENCY_KEY;
      draft.running = 'same';
      draft.fields.stream = true;
      draft.text += '[[tokens:50]] [[rate:10]]';
    },
  },
  {
    rank: 26,
    code: 'rpm_exceeded',
    name: 'requests per minute',
    given: KNOWN,
    apply: (draft) => {
      draft.counters.requests_per_minute = 1;
      draft.spent = true;
    },
  },
  {
    rank: 27,
    code: 'tpm_exceeded',
    given: KNOWN,
    apply: (draft) => {
      draft.counters.tokens_per_minute = 1;
      draft.spent = true;
    },
  },
  {
    rank: 28,
    code: 'rpm_exceeded',
    name: 'concurrency',
    given: KNOWN,
    apply: (draft) => {
      draft.counters.concurrency = 1;
      if (draft.running === 'no') draft.running = 'other';
    },
  },
  { rank: 29, code: 'insufficient_credits', given: KNOWN, apply: (draft) => (draft.poor = true) },
  { rank: 30, code: 'daily_budget_exceeded', given: KNOWN, apply: (draft) => (draft.dailyBudget = true) },
  ...(
    [
      ['400', 'invalid_request'],
      ['401', 'upstream_config_error'],
      ['429', 'no_capacity'],
      ['500', 'upstream_error'],
    ] as const
  ).map(([fault, code]): Fault => ({
    rank: 31,
    code,
    name: `the provider answers ${fault}`,
    given: { messages: 'given', provider: fault },
    apply: (draft) => (draft.text += `[[fault:${fault}]]`),
  })),
];
