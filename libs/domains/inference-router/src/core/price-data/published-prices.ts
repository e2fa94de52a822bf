import { formatUsd, nanoUsd, parseUsd, type StatedPrices, type StatedTokenPrices } from '@gateway/base';

/** A price of the price data: US dollars per unit, for some prices by the size of the prompt. */
type PriceRecord = Readonly<Record<string, number | PriceByPrompt | undefined>>;

interface PriceByPrompt {
  readonly base: number;
  /** `price` applies to all tokens of a request whose prompt has more than `start` tokens. */
  readonly tiers: readonly { readonly start: number; readonly price: number }[];
}

interface ConditionalPriceRecord {
  readonly constraint?:
    | { readonly type: 'start_date'; readonly start_date: string }
    | { readonly type: 'time_of_date'; readonly start_time: string; readonly end_time: string };
  readonly prices: PriceRecord;
}

/** The prices of a model in the form of the package @pydantic/genai-prices. Of several records, the last that applies counts. */
export type PriceRecords = PriceRecord | readonly ConditionalPriceRecord[];

export type PriceName = keyof StatedTokenPrices;

/** The prices of models.yaml, in its order, and the keys of the price data. */
const KEYS = {
  input: 'input_mtok',
  cached_input: 'cache_read_mtok',
  cache_write: 'cache_write_mtok',
  cache_write_1h: 'cache_write_1h_mtok',
  output: 'output_mtok',
  reasoning: 'output_reasoning_mtok',
  image: 'input_image_mtok',
} as const satisfies Readonly<Record<PriceName, string>>;

export const priceNames = Object.keys(KEYS) as PriceName[];
const knownKeys: ReadonlySet<string> = new Set(Object.values(KEYS));

/** The largest price of models.yaml, in US dollars per million tokens. */
const MAX_USD_PER_MILLION = 100_000;
const FRACTION_DIGITS = 9;

export interface PublishedPrices {
  /** In the terms of models.yaml. Only prices that the data states; a tier states the same ones. */
  readonly prices: StatedPrices;
  /** What the data states and models.yaml cannot, such as "web_searches_kcount: 10", for people. */
  readonly notes: readonly string[];
  /** Changes that the data announces, earliest first. */
  readonly upcoming: readonly { readonly from: string; readonly prices: StatedPrices }[];
}

export type PublishedPricesResult =
  | { readonly ok: true; readonly published: PublishedPrices }
  /** The reason completes "its prices are not usable: ". */
  | { readonly ok: false; readonly reason: string };

/** Converts the prices of a model at a time. Refuses what models.yaml cannot express and would charge wrongly. */
export function publishedPricesOf(records: PriceRecords, at: Date): PublishedPricesResult {
  const now = convertedAt(records, at);
  if (!now.ok) return now;
  const upcoming = [];
  const notes = [...now.notes];
  for (const from of startDatesAfter(records, at)) {
    const then = convertedAt(records, new Date(from));
    if (then.ok) upcoming.push({ from, prices: then.prices });
    else notes.push(`prices from ${from}: ${then.reason}`);
  }
  return { ok: true, published: { prices: now.prices, notes, upcoming } };
}

type Converted =
  | { readonly ok: true; readonly prices: StatedPrices; readonly notes: readonly string[] }
  | { readonly ok: false; readonly reason: string };

function convertedAt(records: PriceRecords, at: Date): Converted {
  const record = recordAt(records, at);
  return typeof record === 'string' ? { ok: false, reason: record } : convert(record);
}

/** The record that applies, or why none does. */
function recordAt(records: PriceRecords, at: Date): PriceRecord | string {
  if (!isConditional(records)) return records;
  for (const { constraint, prices } of records.toReversed()) {
    if (constraint === undefined) return prices;
    if (constraint.type === 'time_of_date') {
      return 'they depend on the time of day, which models.yaml cannot express';
    }
    if (constraint.type !== 'start_date') {
      return `they have an unknown condition: ${JSON.stringify(constraint)}`;
    }
    if (at >= new Date(constraint.start_date)) return prices;
  }
  return 'the price data has none for this date';
}

function startDatesAfter(records: PriceRecords, at: Date): string[] {
  if (!isConditional(records)) return [];
  const dates = records.flatMap(({ constraint }) =>
    constraint?.type === 'start_date' && new Date(constraint.start_date) > at ? [constraint.start_date] : [],
  );
  return [...new Set(dates)].sort();
}

function isConditional(records: PriceRecords): records is readonly ConditionalPriceRecord[] {
  return Array.isArray(records);
}

function convert(record: PriceRecord): Converted {
  const notes: string[] = [];
  const problem = problemOf(record);
  if (problem !== undefined) return { ok: false, reason: problem };
  for (const [key, price] of Object.entries(record)) {
    if (price !== undefined && !knownKeys.has(key)) notes.push(`${key}: ${textOf(price)}`);
  }
  const { above: _base, ...base } = pricesAbove(record, 0, notes);
  const tiers = thresholdsOf(record).map((above) => pricesAbove(record, above, notes));
  return { ok: true, prices: tiers.length > 0 ? { ...base, tiers } : base, notes: [...new Set(notes)] };
}

function problemOf(record: PriceRecord): string | undefined {
  for (const name of ['input', 'output'] as const) {
    if (record[KEYS[name]] === undefined) return `the price data has no price of ${name} tokens`;
  }
  for (const key of knownKeys) {
    const price = record[key];
    for (const amount of price === undefined ? [] : amountsOf(price)) {
      if (!(amount >= 0 && amount <= MAX_USD_PER_MILLION)) return `${key} is ${amount}`;
    }
  }
  return undefined;
}

function pricesAbove(record: PriceRecord, above: number, notes: string[]) {
  const optional = (name: PriceName) => {
    const price = record[KEYS[name]];
    return price === undefined ? undefined : exactPrice(name, amountAbove(price, above), notes);
  };
  const required = (name: PriceName) => optional(name) ?? 0n;
  return {
    above,
    input: required('input'),
    cached_input: optional('cached_input'),
    cache_write: optional('cache_write'),
    cache_write_1h: optional('cache_write_1h'),
    output: required('output'),
    reasoning: optional('reasoning'),
    image: optional('image'),
  };
}

/** Nano-dollars. The shortest decimal of the number has at most nine digits after the point, else it is rounded and noted. */
function exactPrice(name: PriceName, price: number, notes: string[]): bigint {
  const exact = parseUsd(price.toFixed(FRACTION_DIGITS));
  if (exact === undefined) throw new Error(`not a price: ${price}`);
  const text = formatUsd(nanoUsd(exact));
  if (Number(text) !== price) notes.push(`${name}: ${price}, rounded to ${text}`);
  return exact;
}

function thresholdsOf(record: PriceRecord): number[] {
  const starts = priceNames.flatMap((name) => {
    const price = record[KEYS[name]];
    return typeof price === 'object' ? price.tiers.map(({ start }) => start) : [];
  });
  return [...new Set(starts)].filter((start) => start > 0).sort((a, b) => a - b);
}

function amountAbove(price: number | PriceByPrompt, above: number): number {
  if (typeof price === 'number') return price;
  return price.tiers.findLast(({ start }) => start <= above)?.price ?? price.base;
}

function amountsOf(price: number | PriceByPrompt): readonly number[] {
  return typeof price === 'number' ? [price] : [price.base, ...price.tiers.map((tier) => tier.price)];
}

function textOf(price: number | PriceByPrompt): string {
  if (typeof price === 'number') return String(price);
  return [price.base, ...price.tiers.map((tier) => `${tier.price} above ${tier.start}`)].join(', ');
}
