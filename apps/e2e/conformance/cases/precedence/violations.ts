import type { ErrorCode } from '@gateway/errors';
import type { KeySettings, Limits } from '@gateway/test-support';
import { pngDataUri } from '../../../src/testing/png';
import { day, weatherTool, type PublicModel } from '../../framework';

/** A request to build, with the state of its key, its organization and earlier requests. */
export interface Draft {
  path: string;
  /** Replaces the tenant's key. */
  apiKey: string | undefined;
  readonly headers: Record<string, string>;
  /** Sent with this request and the preparing requests. */
  idempotencyKey: string | undefined;
  /** Top-level fields that override those of a valid body; `undefined` removes one. */
  readonly fields: Record<string, unknown>;
  /** Text of the last message. */
  text: string;
  imageUrl: string | undefined;
  /** Appended to the JSON text. */
  suffix: string;
  /** Applied after the preparing requests. */
  readonly key: KeySettings;
  revoked: boolean;
  suspended: boolean;
  maxOutputTokens: number | undefined;
  /** Applied before the preparing requests, which exhaust them. */
  readonly counters: Partial<Limits>;
  /** The balance covers the preparing requests but not this request. */
  isPoor: boolean;
  dailyBudget: boolean;
  /** A small request has run. */
  spent: boolean;
  /** A running request: another one, or the same one. */
  running: 'no' | 'other' | 'same';
}

export interface ViolationContext {
  /** A text-only model without other capabilities. */
  readonly bare: PublicModel;
  readonly other: PublicModel;
}

/** An invalid property of a request, its key or its organization. */
export interface Violation {
  /** Its position in the order of checks: of two violations, the lower rank is reported. */
  readonly rank: number;
  readonly code: ErrorCode;
  /** Distinguishes violations with the same code. */
  readonly name?: string;
  readonly param?: string;
  /**
   * Preconditions. Two violations with different preconditions on a subject cannot
   * be combined: an unknown key has no organization, a missing model no capabilities.
   */
  readonly requires: Readonly<Partial<Record<Subject, string>>>;
  readonly apply: (draft: Draft, context: ViolationContext) => void;
}

type Subject = 'key' | 'model' | 'messages' | 'idempotency key' | 'maximum cost' | 'body' | 'provider';

/** Whether one request can have both violations. */
export function canCombine(one: Violation, other: Violation): boolean {
  return (Object.keys(one.requires) as Subject[]).every(
    (subject) => other.requires[subject] === undefined || other.requires[subject] === one.requires[subject],
  );
}

export function nameOf({ code, name }: Violation): string {
  return name ? `${code} (${name})` : code;
}

const KNOWN = { key: 'known' };
const INVALID = { body: 'invalid' };
const BARE = { ...INVALID, model: 'bare' };
const IDEMPOTENCY_KEY = 'the same one';

/** All violations in the order of checks. */
export const violations: readonly Violation[] = [
  { rank: 1, code: 'route_not_found', requires: {}, apply: (draft) => (draft.path = '/v1/chat/completion') },
  {
    rank: 2,
    code: 'invalid_api_key',
    requires: { key: 'unknown' },
    apply: (draft) => (draft.apiKey = 'sk-gw-unknown'),
  },
  { rank: 3, code: 'key_revoked', requires: KNOWN, apply: (draft) => (draft.revoked = true) },
  { rank: 4, code: 'key_expired', requires: KNOWN, apply: ({ key }) => (key.expires_on = day(-1)) },
  {
    rank: 5,
    code: 'ip_not_allowed',
    requires: KNOWN,
    apply: ({ key }) => (key.ip_allowlist = ['192.0.2.1']),
  },
  { rank: 6, code: 'org_suspended', requires: KNOWN, apply: (draft) => (draft.suspended = true) },
  { rank: 7, code: 'missing_scope', requires: KNOWN, apply: ({ key }) => (key.scopes = ['usage:read']) },
  {
    rank: 8,
    code: 'request_too_large',
    requires: {},
    // The header is enough; no body of that size has to be sent.
    apply: ({ headers }) => (headers['content-length'] = String(2 ** 30)),
  },
  { rank: 9, code: 'invalid_json', requires: INVALID, apply: (draft) => (draft.suffix = '}') },
  {
    rank: 10,
    code: 'missing_model',
    requires: { ...INVALID, model: 'missing' },
    apply: ({ fields }) => (fields.model = undefined),
  },
  {
    rank: 11,
    code: 'missing_messages',
    requires: { ...INVALID, messages: 'missing' },
    apply: ({ fields }) => (fields.messages = undefined),
  },
  {
    rank: 12,
    code: 'unknown_parameter',
    param: 'zebra',
    requires: INVALID,
    apply: ({ fields }) => (fields.zebra = 1),
  },
  {
    rank: 13,
    code: 'invalid_request',
    name: 'a value out of range',
    param: 'temperature',
    requires: INVALID,
    apply: ({ fields }) => (fields.temperature = 9),
  },
  {
    rank: 14,
    code: 'image_url_not_supported',
    requires: { ...INVALID, messages: 'given' },
    apply: (draft) => (draft.imageUrl = 'https://example.com/a.png'),
  },
  {
    rank: 15,
    code: 'json_mode_no_stream',
    requires: INVALID,
    apply: ({ fields }) => Object.assign(fields, { response_format: { type: 'json_object' }, stream: true }),
  },
  { rank: 16, code: 'n_not_allowed', requires: INVALID, apply: ({ fields }) => (fields.n = 2) },
  {
    rank: 17,
    code: 'max_tokens_exceeds_cap',
    requires: KNOWN,
    apply: (draft, { bare }) => (draft.maxOutputTokens = bare.max_output_tokens - 1),
  },
  {
    rank: 18,
    code: 'model_not_found',
    requires: { ...INVALID, model: 'unknown' },
    apply: ({ fields }) => (fields.model = 'no/such-model'),
  },
  {
    rank: 19,
    code: 'model_not_allowed',
    requires: KNOWN,
    apply: ({ key }, { other }) => (key.allowed_models = [other.id]),
  },
  {
    rank: 20,
    code: 'tools_not_supported',
    requires: BARE,
    apply: ({ fields }) => (fields.tools = [weatherTool]),
  },
  {
    rank: 21,
    code: 'vision_not_available',
    requires: { ...BARE, messages: 'given' },
    apply: (draft) => (draft.imageUrl ??= pngDataUri(8, 8)),
  },
  {
    rank: 22,
    code: 'json_mode_not_supported',
    requires: BARE,
    apply: ({ fields }) => (fields.response_format = { type: 'json_object' }),
  },
  {
    rank: 23,
    code: 'reasoning_effort_not_supported',
    requires: BARE,
    apply: ({ fields }) => (fields.reasoning_effort = 'low'),
  },
  {
    rank: 24,
    code: 'context_length_exceeded',
    requires: { ...BARE, messages: 'given' },
    apply: (draft, { bare }) => (draft.text += 'word '.repeat(bare.context_length)),
  },
  {
    rank: 24.5,
    code: 'invalid_request',
    name: 'an unusable Idempotency-Key',
    param: 'Idempotency-Key',
    requires: { 'idempotency key': 'unusable' },
    apply: ({ headers }) => (headers['idempotency-key'] = 'x'.repeat(300)),
  },
  {
    rank: 24.6,
    code: 'invalid_request',
    name: 'an unusable x-max-cost-usd',
    param: 'x-max-cost-usd',
    requires: { 'maximum cost': 'unusable' },
    apply: ({ headers }) => (headers['x-max-cost-usd'] = '-1'),
  },
  {
    rank: 25,
    code: 'idempotency_key_reused',
    requires: { ...KNOWN, 'idempotency key': 'used' },
    apply: (draft) => {
      draft.idempotencyKey = IDEMPOTENCY_KEY;
      draft.spent = true;
    },
  },
  {
    rank: 25,
    code: 'idempotency_key_in_flight',
    // The same body was accepted before, so it is valid.
    requires: {
      ...KNOWN,
      'idempotency key': 'running',
      body: 'accepted',
      model: 'bare',
      messages: 'given',
      provider: 'available',
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
    requires: KNOWN,
    apply: (draft) => {
      draft.counters.requests_per_minute = 1;
      draft.spent = true;
    },
  },
  {
    rank: 27,
    code: 'tpm_exceeded',
    requires: KNOWN,
    apply: (draft) => {
      draft.counters.tokens_per_minute = 1;
      draft.spent = true;
    },
  },
  {
    rank: 28,
    code: 'rpm_exceeded',
    name: 'concurrency',
    requires: KNOWN,
    apply: (draft) => {
      draft.counters.concurrency = 1;
      if (draft.running === 'no') draft.running = 'other';
    },
  },
  {
    rank: 28.5,
    code: 'insufficient_credits',
    name: 'above the maximum cost of the request',
    requires: { ...KNOWN, 'maximum cost': 'too low' },
    apply: ({ headers }) => (headers['x-max-cost-usd'] = '0.000000001'),
  },
  {
    rank: 28.6,
    code: 'invalid_request',
    name: 'the first request of a run without a budget',
    param: 'x-run-budget-usd',
    requires: KNOWN,
    apply: ({ headers }) => (headers['x-run-id'] = 'unknown'),
  },
  { rank: 29, code: 'insufficient_credits', requires: KNOWN, apply: (draft) => (draft.isPoor = true) },
  { rank: 30, code: 'daily_budget_exceeded', requires: KNOWN, apply: (draft) => (draft.dailyBudget = true) },
  ...(
    [
      ['400', 'invalid_request'],
      ['401', 'upstream_config_error'],
      ['429', 'no_capacity'],
      ['500', 'upstream_error'],
    ] as const
  ).map(([fault, code]): Violation => ({
    rank: 31,
    code,
    name: `the provider returns ${fault}`,
    requires: { messages: 'given', provider: fault },
    apply: (draft) => (draft.text += `[[fault:${fault}]]`),
  })),
];
