import { NO_TARGET_RULES, pricesOf, type StatedPrices, type TargetRules } from '@gateway/base';
import { model, provider } from '../../testing/router-under-test';
import { targetKey, type Model, type Target } from '../catalogue/model-catalogue';
import { orderTargets, type OrderTargetsPorts, type RoutedRequest } from './order-targets';

const names = ['a', 'b', 'c'] as const;
type Name = (typeof names)[number];

function routed(
  routing: Model['routing'],
  changes: Partial<Record<Name, Partial<Target>>> = {},
  kept: readonly Name[] = names,
): Model {
  const base = model(kept.map((name) => provider(name, 'http://127.0.0.1/v1')));
  const targets = base.targets.map((target) => ({ ...target, ...changes[target.provider.name as Name] }));
  return { ...base, routing, targets };
}

const REQUEST: RoutedRequest = {
  organizationId: 'org-1',
  signedBy: undefined,
  promptCacheKey: undefined,
  targetRules: undefined,
  estimatedInputTokens: 1_000,
  maxOutputTokens: 100,
  n: 1,
};

/** Seeded: mulberry32. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const ports = (changes: Partial<OrderTargetsPorts> = {}): OrderTargetsPorts => ({
  random: seeded(1),
  latencyMs: () => 0,
  ...changes,
});

function order(of: Model, request: Partial<RoutedRequest> = {}, using = ports()) {
  const { targets, reason } = orderTargets(using, of, { ...REQUEST, ...request });
  return { names: targets.map((target) => target.provider.name), reason };
}

/** The share of requests whose first target is each. */
function shares(
  of: Model,
  requests: readonly Partial<RoutedRequest>[],
  using = ports(),
): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const request of requests) {
    const [first = ''] = order(of, request, using).names;
    counts[first] = (counts[first] ?? 0) + 1 / requests.length;
  }
  return counts;
}

const many = Array.from({ length: 10_000 }, (_, index) => index);
const keys = many.map((index) => ({ promptCacheKey: `conversation-${index}` }));

it('by order keeps the order of the catalogue, whatever the cache key', () => {
  expect(order(routed('order'), { promptCacheKey: 'k' })).toEqual({
    names: ['a', 'b', 'c'],
    reason: 'order',
  });
});

describe('by weight', () => {
  const weighted = routed('weight', { a: { weight: 7 }, b: { weight: 2 } });

  it('gives each target its share of requests, also of those that fail over from another', () => {
    const first = shares(
      weighted,
      many.map(() => ({})),
    );
    expect(first['a']).toBeCloseTo(0.7, 1);
    expect(first['b']).toBeCloseTo(0.2, 1);
    expect(first['c']).toBeCloseTo(0.1, 1);
    const using = ports();
    const second = many.map(() => order(weighted, {}, using).names).filter(([name]) => name === 'a');
    expect(second.filter(([, name]) => name === 'b').length / second.length).toBeCloseTo(2 / 3, 1);
    expect(order(weighted).reason).toBe('weight');
  });

  it('has all targets in each order', () => {
    const using = ports();
    for (const _ of many.slice(0, 100))
      expect([...order(weighted, {}, using).names].sort()).toEqual([...names]);
  });

  it('gives the requests of a cache key the same order, and each target its share of keys', () => {
    const [request] = keys;
    const expected = order(weighted, request);
    expect(expected.reason).toBe('prompt_cache_key');
    for (const seed of [2, 3, 4]) {
      expect(order(weighted, request, ports({ random: seeded(seed) }))).toEqual(expected);
    }
    const first = shares(weighted, keys);
    expect(first['a']).toBeCloseTo(0.7, 1);
    expect(first['b']).toBeCloseTo(0.2, 1);
    expect(first['c']).toBeCloseTo(0.1, 1);
  });

  it('moves only the keys of a target that is removed', () => {
    const without = routed('weight', { a: { weight: 7 }, b: { weight: 2 } }, ['a', 'c']);
    for (const request of keys.slice(0, 1_000)) {
      const [before] = order(weighted, request).names;
      if (before !== 'b') expect(order(without, request).names[0]).toBe(before);
    }
  });

  it('separates the keys of organizations', () => {
    const moved = keys.filter(
      (key) =>
        order(weighted, key).names[0] !== order(weighted, { organizationId: 'org-2', ...key }).names[0],
    );
    expect(moved.length).toBeGreaterThan(1_000);
  });
});

describe('by price', () => {
  const cost = (prices: StatedPrices) => ({ cost: pricesOf(prices) });
  const priced = routed('price', {
    a: cost({ input: 10n ** 9n, output: 10n ** 10n }),
    b: cost({ input: 2n * 10n ** 9n, output: 10n ** 9n }),
    c: cost({
      input: 10n ** 8n,
      output: 10n ** 8n,
      tiers: [{ above: 5_000, input: 10n ** 12n, output: 1n }],
    }),
  });

  it.each([
    ['a short prompt', {}, ['c', 'a', 'b']],
    ['a long output', { maxOutputTokens: 10_000 }, ['c', 'b', 'a']],
    ['several completions', { maxOutputTokens: 1_000, n: 8 }, ['c', 'b', 'a']],
    ['a prompt in a higher tier', { estimatedInputTokens: 6_000 }, ['a', 'b', 'c']],
    ['a cache key', { promptCacheKey: 'k' }, ['c', 'a', 'b']],
  ])('is the cheapest for %s', (_name, request, expected) => {
    expect(order(priced, request)).toEqual({ names: expected, reason: 'price' });
  });
});

describe('by latency', () => {
  const latencies: Readonly<Record<string, number>> = { a: 300, b: 0, c: 200 };
  const using = ports({ latencyMs: (target) => latencies[target.provider.name] ?? Infinity });

  it('tries a target without recent calls first, then the fastest', () => {
    expect(order(routed('latency'), {}, using)).toEqual({ names: ['b', 'c', 'a'], reason: 'latency' });
  });

  it('keeps the requests of a cache key at one target', () => {
    expect(order(routed('latency'), { promptCacheKey: 'k' }, using)).toEqual(
      order(routed('latency'), { promptCacheKey: 'k' }),
    );
  });
});

it.each(['order', 'weight', 'price', 'latency'] as const)(
  'by %s, the target that signed a tool loop is first, and a signer that is unknown changes nothing',
  (routing) => {
    const of = routed(routing);
    const request = { signedBy: 'signer-c', promptCacheKey: 'k' };
    expect(order(of, request)).toMatchObject({ reason: 'signature' });
    expect(order(of, request).names[0]).toBe('c');
    expect(order(of, { signedBy: 'signer-x' })).toEqual(order(of));
  },
);

describe('with rules of the organization', () => {
  const inRegions = (routing: Model['routing']) =>
    routed(routing, { a: { region: 'us' }, b: { region: 'eu' }, c: { region: 'eu' } });
  const rules = (changes: Partial<TargetRules>) => ({ targetRules: { ...NO_TARGET_RULES, ...changes } });

  it.each(['order', 'weight', 'price', 'latency'] as const)(
    'by %s, targets that are not allowed are never called, also for a cache key and of a signer',
    (routing) => {
      const request = { ...rules({ allowedRegions: ['eu'] }), promptCacheKey: 'k', signedBy: 'signer-a' };
      const { names: called, reason } = order(inRegions(routing), request);
      expect([...called].sort()).toEqual(['b', 'c']);
      expect(reason).not.toBe('signature');
      expect(order(inRegions(routing), rules({ deniedProviders: ['b', 'c'] })).names).toEqual(['a']);
    },
  );

  it('keeps the target of a cache key if it is allowed', () => {
    for (const request of keys.slice(0, 1_000)) {
      const [before] = order(inRegions('weight'), request).names;
      const [after] = order(inRegions('weight'), { ...request, ...rules({ deniedProviders: ['a'] }) }).names;
      if (before !== 'a') expect(after).toBe(before);
    }
  });

  it('excludes a target without a region where an allow list of regions is set', () => {
    expect(order(routed('order'), rules({ allowedRegions: ['eu'] })).names).toEqual([]);
    expect(order(routed('order'), rules({ deniedRegions: ['eu'] })).names).toEqual([...names]);
  });
});

it('a single target is not weighed', () => {
  const random = jest.fn();
  const of = routed('weight', {}, ['a']);
  expect(orderTargets(ports({ random }), of, REQUEST).targets.map(targetKey)).toEqual(['a/upstream-model']);
  expect(random).not.toHaveBeenCalled();
});
