import assert from 'node:assert/strict';
import type { Tenant } from '@gateway/test-support';
import { chat, send, type Deployment, type ErrorBody, type RawResponse } from '../../framework';
import type { Draft, Violation, ViolationContext } from './violations';

/** The error that a client receives. */
export interface Observation {
  readonly status: number;
  readonly code: string | undefined;
  readonly param: string | undefined;
  readonly message: string | undefined;
}

export interface Observer {
  /** Sends one request with all these violations. */
  observe(violations: readonly Violation[]): Promise<Observation>;
  /** Cancels the running requests and forgets their tenants. */
  endRunning(): void;
}

/** If the minute changes between the preparation and the request, both are repeated. */
const MAX_ATTEMPTS = 4;
const MINUTE_MS = 60_000;
/** 100 tokens in 100 s: costs little and outlasts the rate-limit window. */
const LONG_REQUEST = { stream: true, max_tokens: 100, text: '[[tokens:100]] [[rate:1]]' };

/** Prepares tenants for combinations of violations and caches the reusable ones. */
export function createObserver(deployment: Deployment, context: ViolationContext): Observer {
  const tenants = new Map<string, Promise<Tenant>>();
  /** Tenants with another running request. */
  const busyTenants = new Map<string, Promise<Tenant>>();
  let longRequests = new AbortController();

  async function observe(violations: readonly Violation[]): Promise<Observation> {
    for (let attempt = 1; ; attempt += 1) {
      const draft = draftOf(violations, context);
      const minute = currentMinute();
      const tenant = await preparedTenant(draft, minute);
      const response = await sendDraft(deployment, draft, context, tenant.apiKey);
      // An exhausted limit is available again in the next window.
      if (!dependsOnWindow(draft) || currentMinute() === minute) return observationOf(response);
      assert.ok(attempt < MAX_ATTEMPTS, 'the preparation takes longer than a minute');
    }
  }

  function preparedTenant(draft: Draft, minute: number): Promise<Tenant> {
    if (draft.running === 'same') return prepare(draft);
    const { key, revoked, suspended, maxOutputTokens, counters, isPoor, dailyBudget, spent, running } = draft;
    const state = { key, revoked, suspended, maxOutputTokens, counters, isPoor, dailyBudget, spent, running };
    const name = JSON.stringify([state, draft.idempotencyKey, dependsOnWindow(draft) ? minute : 0]);
    const prepared = running === 'no' ? tenants : busyTenants;
    let tenant = prepared.get(name);
    if (!tenant) prepared.set(name, (tenant = prepare(draft)));
    return tenant;
  }

  async function prepare(draft: Draft): Promise<Tenant> {
    // The request costs at most one estimate; a preparing request costs almost nothing, or the same.
    const insufficient = (estimateUsd(context) * (draft.running === 'same' ? 1.5 : 0.5)).toFixed(9);
    const limits = { ...draft.counters, ...(draft.dailyBudget ? { daily_budget_usd: insufficient } : {}) };
    const tenant = await deployment.tenant({ limits, ...(draft.isPoor ? { credit: insufficient } : {}) });
    // A running request also exhausts its window, unless a stored response is needed.
    const needsStoredResponse = draft.running === 'other' && draft.idempotencyKey !== undefined;
    if (draft.spent && (draft.running === 'no' || needsStoredResponse)) await spend(draft, tenant.apiKey);
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
    assert.equal(response.status, 200, `preparing request: ${response.text}`);
  }

  /** Starts a stream that keeps running while the request is sent. */
  async function occupy(draft: Draft, apiKey: string): Promise<void> {
    const { text, ...fields } = LONG_REQUEST;
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
      signal: longRequests.signal,
    });
    if (response.status !== 200) assert.fail(`long request: ${await response.text()}`);
    void drain(response);
  }

  function endRunning(): void {
    longRequests.abort();
    longRequests = new AbortController();
    busyTenants.clear();
  }

  return { observe, endRunning };
}

async function drain(response: Response): Promise<void> {
  // Rejects when the request is cancelled.
  await response.text().catch(() => undefined);
}

function draftOf(violations: readonly Violation[], context: ViolationContext): Draft {
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
    isPoor: false,
    dailyBudget: false,
    spent: false,
    running: 'no',
  };
  for (const violation of violations) violation.apply(draft, context);
  return draft;
}

function bodyOf({ fields, text, imageUrl, suffix }: Draft, { bare }: ViolationContext): string {
  const content = imageUrl
    ? [
        { type: 'text', text },
        { type: 'image_url', image_url: { url: imageUrl } },
      ]
    : text;
  const body = {
    model: bare.id,
    max_tokens: bare.max_output_tokens,
    messages: [{ role: 'user', content }],
    ...fields,
  };
  return JSON.stringify(body) + suffix;
}

function sendDraft(
  deployment: Deployment,
  draft: Draft,
  context: ViolationContext,
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

function estimateUsd({ bare }: ViolationContext): number {
  return bare.max_output_tokens * Number(bare.pricing.completion);
}
