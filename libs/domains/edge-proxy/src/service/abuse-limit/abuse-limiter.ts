import type { IncomingMessage } from 'node:http';
import { networkOf, UNKNOWN_NETWORK, type ClientAddressReader } from '@gateway/addresses';
import { msLeftInMinute, type Clock } from '@gateway/base';
import type { KeyGrant } from '@gateway/contracts/auth';
import { errorTable, type Refusal } from '@gateway/errors';
import { addressAbuseLimited, keyAbuseLimited, keySuspicionLimited } from '@gateway/public-api';
import { limits, MinuteCounts } from '../../core';

/**
 * Limits failed authentications per address and invalid requests per key. Both
 * use up no requests per minute, but load auth, the validation and the tokenizer.
 * Each edge counts in its own memory, per UTC minute. Other requests cost two
 * comparisons.
 */
export interface AbuseLimiter {
  /** Whether the client's address has reached its limit, so that it is served with known valid keys only. */
  isAddressLimited(request: IncomingMessage): boolean;
  countFailedAuthentication(request: IncomingMessage): void;
  /** The refusal for a request from a limited address. */
  refuseAddress(): Refusal;
  /** The refusal when the key has reached its limit, before the body is read. */
  refuseKey(grant: KeyGrant): Refusal | undefined;
  /**
   * Counts a request that was refused before its admission, after the claim of its Idempotency-Key, or by the provider:
   * once, and once more for each full `bytesPerCount` of its body after decompression. Server errors do not count.
   */
  countInvalidRequest(grant: KeyGrant, refusal: Pick<Refusal, 'code'>, bodyBytes: number): void;
  /** Counts a request that costs nothing, such as a count of tokens, like a refused one. */
  countFreeRequest(grant: KeyGrant, bodyBytes: number): void;
  /**
   * Counts an admitted request that may cost more than is charged: one that was cancelled before its response, or
   * whose provider reports a prompt far above the estimate.
   */
  countSuspicious(grant: KeyGrant): void;
}

/** The `kind` label of the metric. */
export type AbuseLimitKind = 'address' | 'key';

export interface AbuseLimiterPorts {
  readonly clientAddress: ClientAddressReader;
  readonly clock: Clock;
  readonly onRefused: (kind: AbuseLimitKind) => void;
}

export interface AbuseLimiterOptions {
  /** Per address and minute; 0 means no limit. */
  readonly maxFailedAuthentications: number;
  /**
   * Per key and minute; 0 means no limit. Of refused requests, or 20 times the key's requests per minute when that is
   * more; of suspicious ones, or half of its requests per minute.
   */
  readonly maxInvalidRequests: number;
}

const { maxCounted, timesRequestsPerMinute, suspiciousShareOfRequests, bytesPerCount } = limits.abuse;

export function createAbuseLimiter(ports: AbuseLimiterPorts, options: AbuseLimiterOptions): AbuseLimiter {
  const { clientAddress, clock, onRefused } = ports;
  const maxFailed = options.maxFailedAuthentications || Infinity;
  const maxInvalid = options.maxInvalidRequests || Infinity;
  const failures = new MinuteCounts(maxCounted);
  const invalid = new MinuteCounts(maxCounted);
  const suspicious = new MinuteCounts(maxCounted);

  const networkOfClient = (request: IncomingMessage): string => {
    const address = clientAddress(request);
    return address === undefined ? UNKNOWN_NETWORK : networkOf(address);
  };

  /** Infinity for a key without requests per minute. */
  function maxOf({ keyLimits, organizationLimits }: KeyGrant, timesRequests: number): number {
    const ofKey = keyLimits?.requestsPerMinute ?? Infinity;
    const ofOrganization = organizationLimits?.requestsPerMinute ?? Infinity;
    return Math.max(maxInvalid, timesRequests * Math.min(ofKey, ofOrganization));
  }

  /** @returns the limit that the key has reached. */
  function reachedLimit(counts: MinuteCounts, grant: KeyGrant, timesRequests: number): number | undefined {
    if (!counts.mayHaveReached(maxInvalid)) return undefined;
    const limit = maxOf(grant, timesRequests);
    if (!counts.hasReached(grant.keyId, limit, clock.now())) return undefined;
    onRefused('key');
    return limit;
  }

  function countFreeRequest(grant: KeyGrant, bodyBytes: number): void {
    if (maxOf(grant, timesRequestsPerMinute) === Infinity) return;
    invalid.add(grant.keyId, clock.now(), 1 + Math.floor(bodyBytes / bytesPerCount));
  }

  return {
    isAddressLimited(request) {
      // While no address has reached the limit, neither the clock nor the address is read.
      return (
        failures.mayHaveReached(maxFailed) &&
        failures.hasReached(networkOfClient(request), maxFailed, clock.now())
      );
    },

    countFailedAuthentication(request) {
      if (maxFailed < Infinity) failures.add(networkOfClient(request), clock.now());
    },

    refuseAddress() {
      onRefused('address');
      return addressAbuseLimited(maxFailed, msLeftInMinute(clock.now()));
    },

    refuseKey(grant) {
      const ofInvalid = reachedLimit(invalid, grant, timesRequestsPerMinute);
      if (ofInvalid !== undefined) return keyAbuseLimited(ofInvalid, msLeftInMinute(clock.now()));
      const ofSuspicious = reachedLimit(suspicious, grant, suspiciousShareOfRequests);
      return ofSuspicious === undefined
        ? undefined
        : keySuspicionLimited(ofSuspicious, msLeftInMinute(clock.now()));
    },

    countInvalidRequest(grant, { code }, bodyBytes) {
      if (errorTable[code].httpStatus < 500) countFreeRequest(grant, bodyBytes);
    },

    countFreeRequest,

    countSuspicious(grant) {
      if (maxOf(grant, suspiciousShareOfRequests) < Infinity) suspicious.add(grant.keyId, clock.now());
    },
  };
}
