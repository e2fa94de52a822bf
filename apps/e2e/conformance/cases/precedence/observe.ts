import assert from 'node:assert/strict';
import type { Tenant } from '@gateway/test-support';
import { chat, send, type Deployment, type ErrorBody, type RawResponse } from '../../framework';
import type { Draft, Fault, FaultContext } from './faults';

/** What a caller sees of a fault. */
export interface Observation {
  readonly status: number;
  readonly code: string | undefined;
  readonly param: string | undefined;
  readonly message: string | undefined;
}

export interface Observer {
  /** Sends one request that has all these faults. */
  observe(faults: readonly Fault[]): Promise<Observation>;
  /** Lets go of what was kept running. */
  close(): void;
}

/** Whole minutes may pass between the preparation and the request; then it is tried again. */
const MAX_ATTEMPTS = 4;
const MINUTE_MS = 60_000;
/** A hundred tokens in as many seconds: costs nearly nothing and lasts longer than its window. */
const OCCUPANT = { stream: true, max_tokens: 100, text: '[[tokens:100]] [[rate:1]]' };

/** Prepares tenants for combinations of faults and keeps those that can be used again. */
export function createObserver(deployment: Deployment, context: FaultContext): Observer {
  const tenants = new Map<string, Promise<Tenant>>();
  const occupants = new AbortController();

  async function observe(faults: readonly Fault[]): Promise<Observation> {
    for (let attempt = 1; ; attempt += 1) {
      const draft = draftOf(faults, context);
      const minute = currentMinute();
      const tenant = await preparedTenant(draft, minute);
      const response = await sendDraft(deployment, draft, context, tenant.apiKey);
      // What was used up in one window is free in the next.
      if (!dependsOnWindow(draft) || currentMinute() === minute) return observationOf(response);
      assert.ok(attempt < MAX_ATTEMPTS, 'the preparations take longer than a minute');
    }
  }

  function preparedTenant(draft: Draft, minute: number): Promise<Tenant> {
    if (draft.running === 'same') return prepare(draft);
    const { key, revoked, suspended, maxOutputTokens, counters, poor, dailyBudget, spent, running } = draft;
    const state = { key, revoked, suspended, maxOutputTokens, counters, poor, dailyBudget, spent, running };
    const name = JSON.stringify([state, draft.idempotencyKey, dependsOnWindow(draft) ? minute : 0]);
    let tenant = tenants.get(name);
    if (!tenant) tenants.set(name, (tenant = prepare(draft)));
    return tenant;
  }

  async function prepare(draft: Draft): Promise<Tenant> {
    // The request itself costs at most about one estimate; what runs before it nearly nothing, or the same.
    const short = (estimateUsd(context) * (draft.running === 'same' ? 1.5 : 0.5)).toFixed(9);
    const limits = { ...draft.counters, ...(draft.dailyBudget ? { daily_budget_usd: short } : {}) };
    const tenant = await deployment.tenant({ limits, ...(draft.poor ? { credit: short } : {}) });
    // What goes on running uses up its window too, unless an earlier answer is what counts.
    const isAnswered = draft.running === 'other' && draft.idempotencyKey !== undefined;
    if (draft.spent && (draft.running === 'no' || isAnswered)) await spend(draft, tenant.apiKey);
    if (draft.running !== 'no') await occupy(draft, tenant.apiKey);

    if (draft.maxOutputTokens !== undefined) {
      await tenant.setLimits({ ...limits, max_output_tokens: draft.maxOutputTokens });
    }
    if (Object.keys(draft.key).length > 0) await tenant.updateKey(tenant.keyId, draft.key);
    if (draft.suspended) await tenant.setSuspended(true);
    if (draft.revoked) await tenant.revokeKey(tenant.keyId);
    return tenant;
  }

  async function spend(draft: Draft, apiKey: string): Promise<void> {
    const request = { model: context.bare.id, max_tokens: 1, messages: [{ role: 'user', content: 'Hello' }] };
    const response = await chat(deployment, request, { apiKey, headers: idempotencyOf(draft) });
    assert.equal(response.status, 200, `what was to be spent: ${response.text}`);
  }

  /** Starts a stream that goes on while the request is sent. */
  async function occupy(draft: Draft, apiKey: string): Promise<void> {
    const { text, ...fields } = OCCUPANT;
    const request =
      draft.running === 'same'
        ? bodyOf(draft, context)
        : JSON.stringify({ model: context.bare.id, messages: [{ role: 'user', content: text }], ...fields });
    const response = await fetch(`${deployment.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        ...(draft.running === 'same' ? idempotencyOf(draft) : {}),
      },
      body: request,
      signal: occupants.signal,
    });
    if (response.status !== 200) assert.fail(`what was to be running: ${await response.text()}`);
    void drain(response);
  }

  return { observe, close: () => occupants.abort() };
}

async function drain(response: Response): Promise<void> {
  // Ends with an error when it is no longer needed.
  await response.text().catch(() => undefined);
}

function draftOf(faults: readonly Fault[], context: FaultContext): Draft {
  const draft: Draft = {
    path: '/v1/chat/completions',
    apiKey: undefined,
    headers: {},
    idempotencyKey: undefined,
    fields: {},
    text: 'Hello ',
    imageUrl: undefined,
    suffix: '',
    key: {},
    revoked: false,
    suspended: false,
    maxOutputTokens: undefined,
    counters: {},
    poor: false,
    dailyBudget: false,
    spent: false,
    running: 'no',
  };
  for (const fault of faults) fault.apply(draft, context);
  return draft;
}

function bodyOf({ fields, text, imageUrl, suffix }: Draft, { bare }: FaultContext): string {
  const content = imageUrl
    ? [
        { type: 'text', text },
        { type: 'image_url', image_url: { url: imageUrl } },
      ]
    : text;
  const whole = {
    model: bare.id,
    max_tokens: bare.max_output_tokens,
    messages: [{ role: 'user', content }],
    ...fields,
  };
  return JSON.stringify(whole) + suffix;
}

function sendDraft(
  deployment: Deployment,
  draft: Draft,
  context: FaultContext,
  apiKey: string,
): Promise<RawResponse> {
  const headers: Record<string, string> = {
    authorization: `Bearer ${draft.apiKey ?? apiKey}`,
    'content-type': 'application/json',
    ...idempotencyOf(draft),
    ...draft.headers,
  };
  const body = bodyOf(draft, context);
  return send(deployment, { method: 'POST', path: draft.path, headers, body });
}

function observationOf(response: RawResponse): Observation {
  const { error } = response.text.startsWith('{') ? response.json<Partial<ErrorBody>>() : {};
  return { status: response.status, code: error?.code, param: error?.param, message: error?.message };
}

function idempotencyOf({ idempotencyKey }: Draft): Record<string, string> {
  return idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
}

function dependsOnWindow({ spent, running }: Draft): boolean {
  return spent || running !== 'no';
}

function currentMinute(): number {
  return Math.floor(Date.now() / MINUTE_MS);
}

function estimateUsd({ bare }: FaultContext): number {
  return bare.max_output_tokens * Number(bare.pricing.completion);
}
