import { eventually } from './eventually';

/**
 * Computes what a generation must cost, independently of the gateway's code: from the public price list and the public
 * usage only. Amounts are nano-dollars.
 */

export interface PublicUsage {
  prompt_tokens: number;
  completion_tokens: number;
  prompt_tokens_details?: { cached_tokens?: number; cache_write_tokens?: number };
  completion_tokens_details?: { reasoning_tokens?: number };
  cost?: number;
}

export interface PublicPricing {
  prompt: string;
  completion: string;
  input_cache_read?: string;
  input_cache_write?: string;
  internal_reasoning?: string;
}

/** Decimals of a per-token price when written as a whole number of nano-dollars per million tokens. */
const PRICE_DECIMALS = 15;

/** The cost of a request whose cache points have no lifetime of one hour, at a model without price tiers. */
export function expectedCostNanoUsd(usage: PublicUsage, pricing: PublicPricing): bigint {
  const cached = usage.prompt_tokens_details?.cached_tokens ?? 0;
  const written = usage.prompt_tokens_details?.cache_write_tokens ?? 0;
  const reasoning = usage.completion_tokens_details?.reasoning_tokens ?? 0;
  const prompt = perMillion(pricing.prompt);
  const completion = perMillion(pricing.completion);
  const total =
    BigInt(usage.prompt_tokens - cached - written) * prompt +
    BigInt(written) * (pricing.input_cache_write ? perMillion(pricing.input_cache_write) : prompt) +
    BigInt(cached) * (pricing.input_cache_read ? perMillion(pricing.input_cache_read) : prompt) +
    BigInt(usage.completion_tokens - reasoning) * completion +
    BigInt(reasoning) * (pricing.internal_reasoning ? perMillion(pricing.internal_reasoning) : completion);
  return (total + 999_999n) / 1_000_000n;
}

function perMillion(usdPerToken: string): bigint {
  const [integer = '0', fraction = ''] = usdPerToken.split('.');
  if (fraction.length > PRICE_DECIMALS)
    throw new Error(`the price ${usdPerToken} has more than ${PRICE_DECIMALS} decimals`);
  return BigInt(integer + fraction.padEnd(PRICE_DECIMALS, '0'));
}

/** A JSON number of dollars as whole nano-dollars. */
export function nano(usd: number): bigint {
  return BigInt(usd.toFixed(9).replace('.', ''));
}

export interface Credits {
  total_credits: number;
  total_usage: number;
  balance: number;
  reserved: number;
  available: number;
}

async function getJson<Body>(
  baseUrl: string,
  apiKey: string,
  path: string,
): Promise<{ status: number; body: Body }> {
  const response = await fetch(`${baseUrl}${path}`, { headers: { authorization: `Bearer ${apiKey}` } });
  return { status: response.status, body: (await response.json()) as Body };
}

export async function credits(baseUrl: string, apiKey: string): Promise<Credits> {
  return (await getJson<{ data: Credits }>(baseUrl, apiKey, '/credits')).body.data;
}

export async function pricingOf(baseUrl: string, apiKey: string, model: string): Promise<PublicPricing> {
  const { body } = await getJson<{ data: { id: string; pricing: PublicPricing }[] }>(
    baseUrl,
    apiKey,
    '/models',
  );
  const found = body.data.find(({ id }) => id === model);
  if (!found) throw new Error(`no model ${model}`);
  return found.pricing;
}

export interface Generation {
  id: string;
  model: string;
  api_type: string;
  streamed: boolean;
  cancelled: boolean;
  finish_reason: string;
  tokens_prompt: number;
  tokens_completion: number;
  native_tokens_reasoning: number;
  native_tokens_cached: number;
  native_tokens_cache_write: number;
  total_cost: number;
  usage: number;
}

/** Waits until the generation has settled. */
export function settledGeneration(baseUrl: string, apiKey: string, id: string): Promise<Generation> {
  return eventually(`generation ${id} settles`, async () => {
    const { status, body } = await getJson<{ data: Generation }>(baseUrl, apiKey, `/generation?id=${id}`);
    return status === 200 ? body.data : undefined;
  });
}

/** Waits until the organization has no open holds. */
export function nothingReserved(baseUrl: string, apiKey: string): Promise<Credits> {
  return eventually('nothing is reserved', async () => {
    const now = await credits(baseUrl, apiKey);
    return now.reserved === 0 ? now : undefined;
  });
}

export interface UsageReport {
  totals: { total_cost: number; requests: number };
  data: { total_cost: number; requests: number }[];
}

/**
 * Waits until usage contains everything that the ledger has charged; usage is written shortly after settlement. Open
 * holds must be settled as well, unless `ignoreHolds` is set for those that a crash left to the reaper.
 */
export function usageOnceAllCharged(
  baseUrl: string,
  apiKey: string,
  { ignoreHolds = false } = {},
): Promise<UsageReport> {
  return eventually('usage shows everything that was charged', async () => {
    const { body } = await getJson<UsageReport>(baseUrl, apiKey, '/usage');
    const { reserved, total_usage: charged } = await credits(baseUrl, apiKey);
    return (ignoreHolds || reserved === 0) && nano(body.totals.total_cost) === nano(charged)
      ? body
      : undefined;
  });
}
