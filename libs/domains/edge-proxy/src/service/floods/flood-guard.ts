import type { IncomingMessage } from 'node:http';
import { networkOf, UNKNOWN_NETWORK, type ClientAddressReader } from '@gateway/addresses';
import { msLeftInMinute, type Clock } from '@gateway/base';
import type { KeyGrant } from '@gateway/contracts/auth';
import { errorTable, type Refusal } from '@gateway/errors';
import { addressFloods, keyFloods } from '@gateway/public-api';
import { MinuteCounts } from '../../core';
import { limits } from '../../core';

/**
 * Keeps floods of requests that count nowhere else away from auth, the
 * validator and the tokenizer: failed authentications and invalid requests use
 * up no requests per minute. Each edge counts by itself, in memory, per UTC
 * minute. Whoever floods nothing pays for two comparisons.
 */
export interface FloodGuard {
  /** Whether so many authentications failed from the caller's address that only valid keys are let through. */
  isAddressFlooding(request: IncomingMessage): boolean;
  countFailedAuthentication(request: IncomingMessage): void;
  /** What a caller from a flooding address without a valid key is told. */
  refuseAddress(): Refusal;
  /** A refusal when so many requests of the key were invalid that its next body is not worth reading. */
  refuseKey(grant: KeyGrant): Refusal | undefined;
  /**
   * Counts what was refused before its admission, by what it cost: once, and once
   * more for each full `bytesPerCount` of its body after decompression. A
   * failure on our side does not count.
   */
  countInvalidRequest(grant: KeyGrant, refusal: Refusal, bodyBytes: number): void;
}

/** What flooded, as metrics name it. */
export type FloodKind = 'address' | 'key';

export interface FloodGuardPorts {
  readonly clientAddress: ClientAddressReader;
  readonly clock: Clock;
  readonly onRefused: (kind: FloodKind) => void;
}

export interface FloodGuardOptions {
  /** Per address and minute; 0: no limit. */
  readonly maxFailedAuthentications: number;
  /** Per key and minute, or 20 times the key's requests per minute when that is more; 0: no limit. */
  readonly maxInvalidRequests: number;
}

const { maxCounted, timesRequestsPerMinute, bytesPerCount } = limits.floods;

export function createFloodGuard(ports: FloodGuardPorts, options: FloodGuardOptions): FloodGuard {
  const { clientAddress, clock, onRefused } = ports;
  const maxFailed = options.maxFailedAuthentications || Infinity;
  const maxInvalid = options.maxInvalidRequests || Infinity;
  const failures = new MinuteCounts(maxCounted);
  const invalid = new MinuteCounts(maxCounted);

  const networkOfCaller = (request: IncomingMessage): string => {
    const address = clientAddress(request);
    return address === undefined ? UNKNOWN_NETWORK : networkOf(address);
  };

  /** Far above what the key may send: whoever may send without bound may also err without bound. */
  function maxInvalidOf({ keyLimits, organizationLimits }: KeyGrant): number {
    const ofKey = keyLimits?.requestsPerMinute ?? Infinity;
    const ofOrganization = organizationLimits?.requestsPerMinute ?? Infinity;
    return Math.max(maxInvalid, timesRequestsPerMinute * Math.min(ofKey, ofOrganization));
  }

  return {
    isAddressFlooding(request) {
      // Most of the time nobody floods; then neither the clock nor the address is worth reading.
      return (
        failures.mayHaveReached(maxFailed) &&
        failures.hasReached(networkOfCaller(request), maxFailed, clock.now())
      );
    },

    countFailedAuthentication(request) {
      if (maxFailed < Infinity) failures.add(networkOfCaller(request), clock.now());
    },

    refuseAddress() {
      onRefused('address');
      return addressFloods(maxFailed, msLeftInMinute(clock.now()));
    },

    refuseKey(grant) {
      if (!invalid.mayHaveReached(maxInvalid)) return undefined;
      const limit = maxInvalidOf(grant);
      if (!invalid.hasReached(grant.keyId, limit, clock.now())) return undefined;
      onRefused('key');
      return keyFloods(limit, msLeftInMinute(clock.now()));
    },

    countInvalidRequest(grant, { code }, bodyBytes) {
      if (errorTable[code].httpStatus >= 500 || maxInvalidOf(grant) === Infinity) return;
      invalid.add(grant.keyId, clock.now(), 1 + Math.floor(bodyBytes / bytesPerCount));
    },
  };
}
