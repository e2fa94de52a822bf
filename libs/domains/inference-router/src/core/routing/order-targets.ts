import { costOfUsage, mayUseTarget, type NanoUsd } from '@gateway/base';
import { placeOf, targetKey, type Model, type Target } from '../catalogue/model-catalogue';
import type { GenerationRequest } from '../generation/finished-generation';
import type { Random } from '../ports';
import type { FirstTargetReason } from './attempt-reason';

export interface OrderedTargets {
  /** In the order of attempts. */
  readonly targets: readonly Target[];
  /** Why the first one is first. */
  readonly reason: FirstTargetReason;
}

export interface OrderTargetsPorts {
  readonly random: Random;
  /** Recent time to the first event; 0 for a target without recent calls, Infinity for one that only fails. */
  readonly latencyMs: (target: Target) => number;
}

export type RoutedRequest = Pick<
  GenerationRequest,
  | 'organizationId'
  | 'signedBy'
  | 'promptCacheKey'
  | 'targetRules'
  | 'estimatedInputTokens'
  | 'maxOutputTokens'
  | 'n'
>;

/**
 * The order in which a request's targets are tried: by the model's routing. Requests
 * of an organization with the same `prompt_cache_key` have the same order where the
 * routing would spread them. The target that signed a tool loop is first, since the
 * others cannot use its signatures. Targets that the organization does not allow are not in it.
 */
export function orderTargets(ports: OrderTargetsPorts, model: Model, request: RoutedRequest): OrderedTargets {
  const targets = allowedTargets(model, request);
  if (targets.length <= 1) return { targets, reason: 'order' };
  const routed = route(ports, { routing: model.routing, targets }, request);
  const { signedBy } = request;
  const signer =
    signedBy === undefined ? undefined : routed.targets.find((target) => target.signer === signedBy);
  if (signer === undefined) return routed;
  return { targets: [signer, ...routed.targets.filter((target) => target !== signer)], reason: 'signature' };
}

/** Empty if the organization allows none. */
export function allowedTargets(
  { targets }: Model,
  { targetRules }: Pick<RoutedRequest, 'targetRules'>,
): readonly Target[] {
  return targetRules === undefined
    ? targets
    : targets.filter((target) => mayUseTarget(targetRules, placeOf(target)));
}

function route(
  { random, latencyMs }: OrderTargetsPorts,
  { routing, targets }: Pick<Model, 'routing' | 'targets'>,
  request: RoutedRequest,
): OrderedTargets {
  switch (routing) {
    case 'order':
      return { targets, reason: routing };
    case 'price':
      return {
        targets: inAscendingOrder(targets, (target) => Number(costOf(target, request))),
        reason: routing,
      };
    case 'weight':
    case 'latency': {
      const { organizationId, promptCacheKey } = request;
      if (promptCacheKey !== undefined) {
        const key = `${organizationId}\n${promptCacheKey}\n`;
        const drawn = (target: Target) => draw(shareOf(key + targetKey(target)), target.weight);
        return { targets: inAscendingOrder(targets, drawn), reason: 'prompt_cache_key' };
      }
      const rank = routing === 'weight' ? (target: Target) => draw(random(), target.weight) : latencyMs;
      return { targets: inAscendingOrder(targets, rank), reason: routing };
    }
  }
}

/** Sorts by rank; targets of equal rank keep the catalogue's order. */
function inAscendingOrder(targets: readonly Target[], rankOf: (target: Target) => number): readonly Target[] {
  return targets
    .map((target) => ({ target, rank: rankOf(target) }))
    .sort((a, b) => (a.rank === b.rank ? 0 : a.rank - b.rank))
    .map(({ target }) => target);
}

/** What the operator would pay for the request with its longest output. A target without a cost comes last. */
function costOf({ cost }: Target, request: RoutedRequest): NanoUsd | number {
  if (!cost) return Infinity;
  const usage = {
    promptTokens: request.estimatedInputTokens,
    completionTokens: request.maxOutputTokens * request.n,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    imageTokens: 0,
    reasoningTokens: 0,
  };
  return costOfUsage(usage, cost);
}

/**
 * Ranks for a weighted order without replacement: the target with weight w is first
 * in a share of w of all draws.
 *
 * @param share from 0 to 1, equally distributed.
 */
function draw(share: number, weight: number): number {
  return -Math.log(1 - share) / weight;
}

/** Maps a text to a number from 0 to 1: FNV-1a, with the finalizer of MurmurHash3, which spreads similar texts. */
function shareOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
