import { costOfUsage, formatUsd, nanoUsd, parseUsd } from '@gateway/base';
import { createTenant, eventually, signIn, type AdminClient, type Tenant } from '@gateway/test-support';
import { USAGE_SCHEMA } from '@gateway/usage';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { MODEL } from './testing/chat-completion';
import { startCrashTestEnv, type CrashTestEnv } from './testing/crash-test-env';

jest.setTimeout(180_000);

interface Margin {
  readonly spend_usd: string;
  readonly provider_cost_usd: string;
  readonly margin_usd: string;
}
interface ChatUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}

const DAY_MS = 86_400_000;

/** What the demo pays for the model, which has neither cached, nor image, nor reasoning tokens. */
function costOf({ prompt_tokens: promptTokens, completion_tokens: completionTokens }: ChatUsage): bigint {
  const { models } = parse(readFileSync(path.resolve(__dirname, '../../../models.yaml'), 'utf8')) as {
    models: { id: string; targets: { cost: { input: string; output: string } }[] }[];
  };
  const cost = models.find(({ id }) => id === MODEL)?.targets[0]?.cost;
  const [input, output] = [parseUsd(cost?.input ?? ''), parseUsd(cost?.output ?? '')];
  if (!input || !output) throw new Error(`${MODEL} names no cost`);
  return costOfUsage(
    {
      promptTokens,
      completionTokens,
      cachedTokens: 0,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
      imageTokens: 0,
      reasoningTokens: 0,
    },
    {
      inputNanoUsdPerMillion: input,
      cachedInputNanoUsdPerMillion: input,
      cacheWriteNanoUsdPerMillion: input,
      cacheWrite1hNanoUsdPerMillion: input,
      imageNanoUsdPerMillion: input,
      outputNanoUsdPerMillion: output,
      reasoningNanoUsdPerMillion: output,
      tiers: [],
    },
  );
}

describe('the margin of a running gateway', () => {
  let testEnv: CrashTestEnv;
  let admin: AdminClient;
  let tenant: Tenant;
  let providerCost: bigint;
  let generationId: string;
  /** Every response of the public API, with its headers. */
  const publicResponses: string[] = [];

  const publicApi = async (target: string, body?: object) => {
    const response = await fetch(`${testEnv.gateway.baseUrl}/${target}`, {
      headers: { authorization: `Bearer ${tenant.apiKey}`, 'content-type': 'application/json' },
      ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    publicResponses.push(JSON.stringify([...response.headers]) + text);
    return { ok: response.ok, text };
  };

  beforeAll(async () => {
    testEnv = await startCrashTestEnv();
    const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
    admin = await signIn(dashboardUrl, adminEmail, adminPassword);
    tenant = await createTenant(admin);
    const request = {
      model: MODEL,
      max_tokens: 40,
      messages: [{ role: 'user', content: '[[tokens:17]] Hello' }],
    };
    const { text } = await publicApi('chat/completions', request);
    const completion = JSON.parse(text) as { id: string; usage: ChatUsage };
    const streamed = { ...request, stream: true, stream_options: { include_usage: true } };
    const { text: stream } = await publicApi('chat/completions', streamed);
    const [, usage = ''] = /"usage":({.*})}\n/.exec(stream) ?? [];
    providerCost = costOf(completion.usage) + costOf(JSON.parse(usage) as ChatUsage);
    generationId = completion.id;
    await eventually('both generations are settled', async () => {
      const { rows } = await testEnv.pool.query<{ count: bigint }>(
        `select count(*) as count from ${USAGE_SCHEMA}.generations where organization_id = $1`,
        [tenant.organizationId],
      );
      return Number(rows[0]?.count) === 2 || undefined;
    });
  });
  afterAll(() => testEnv?.close());

  it('is what was charged minus what the usage costs at the provider, for operators', async () => {
    const { total_usage_usd: spend } = await tenant.balance();
    const expected: Margin = {
      spend_usd: spend,
      provider_cost_usd: formatUsd(nanoUsd(providerCost)),
      margin_usd: formatUsd(nanoUsd((parseUsd(spend) ?? 0n) - providerCost)),
    };
    const usage = await admin.call<{ margin: Margin | null }>('GET', '/api/operator/usage');
    expect(usage.margin).toEqual(expected);
    const { data } = await admin.call<{ data: { id: string; usage: { margin: Margin | null } }[] }>(
      'GET',
      '/api/operator/organizations',
    );
    const margins = new Map(data.map((one) => [one.id, one.usage.margin]));
    expect(margins.get(tenant.organizationId)).toEqual(expected);
    expect(data.filter(({ usage: { margin } }) => margin === null)).toHaveLength(data.length - 1);
  });

  it('is shown with organizations of a low balance only, if those are requested', async () => {
    const listed = async (below: string) => {
      const path = `/api/operator/organizations?balance_below_usd=${below}`;
      const { data } = await admin.call<{ data: { id: string; balance_usd: string }[] }>('GET', path);
      return data;
    };
    expect((await listed('1000000')).map(({ id }) => id)).toContain(tenant.organizationId);
    const [{ balance_usd: balance } = { balance_usd: '' }] = (await listed('1000000')).filter(
      ({ id }) => id === tenant.organizationId,
    );
    expect((await listed(balance)).map(({ id }) => id)).not.toContain(tenant.organizationId);
  });

  it('is in no response of the public API and of the pages of an organization', async () => {
    for (const target of ['models', 'credits', `generation?id=${generationId}`, 'usage']) {
      expect(await publicApi(target)).toMatchObject({ ok: true });
    }
    const range = new URLSearchParams({
      start: new Date(Date.now() - DAY_MS).toISOString(),
      end: new Date(Date.now() + DAY_MS).toISOString(),
    });
    const month = new Date().toISOString().slice(0, 7);
    const pages: string[] = [];
    for (const page of [
      '',
      '/balance',
      '/live',
      '/usage/summary',
      `/usage?${range}&granularity=hour&split_by=model,key`,
      `/usage/errors?${range}`,
      '/generations',
      `/generations/${generationId}`,
      `/statement?month=${month}`,
      '/keys',
    ]) {
      const body = await admin.call('GET', `/api/organizations/${tenant.organizationId}${page}`);
      pages.push(`${page}: ${JSON.stringify(body)}`);
    }
    expect(pages.filter((text) => text.includes('"spend_usd"'))).not.toEqual([]);
    const cost = formatUsd(nanoUsd(providerCost)).replace('.', '\\.');
    const revealing = new RegExp(`provider_?cost|margin|${cost}|\\b${providerCost}\\b`, 'i');
    expect([...publicResponses, ...pages].filter((text) => revealing.test(text))).toEqual([]);
  });
});
