import type { Routing } from '../catalogue/model-catalogue';

/** Why a target was called first. */
export type FirstTargetReason = Routing | 'prompt_cache_key' | 'signature';

/** Why a target was called. */
export type AttemptReason = FirstTargetReason | 'retry' | 'failover';
