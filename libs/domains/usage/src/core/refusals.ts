import type { ApiType, UnixMs } from '@gateway/base';

/** The requests for generations that one edge has refused since its previous report. */
export interface RefusalReport {
  readonly reporterId: string;
  /** Ascending; a reporter sends its reports one after the other. */
  readonly reportNumber: bigint;
  readonly counts: readonly RefusalCount[];
  readonly latest: readonly RefusedInOrganization[];
}

interface RefusalCount {
  readonly organizationId: string;
  readonly keyId: string;
  /** Empty without a project. */
  readonly projectId: string;
  /** Empty if the request named no model of the catalogue. */
  readonly modelId: string;
  readonly apiType: ApiType;
  readonly errorCode: string;
  /** Start of the UTC hour. */
  readonly hour: UnixMs;
  readonly requests: bigint;
}

/** A request that ended with an error and has no generation. */
export interface RefusedRequest {
  readonly requestId: string;
  readonly keyId: string;
  /** As the client named it; empty if unknown. */
  readonly model: string;
  readonly errorCode: string;
  readonly errorMessage: string;
  readonly apiType: ApiType;
  readonly refusedAt: UnixMs;
}

export interface RefusedInOrganization extends RefusedRequest {
  readonly organizationId: string;
}

/** Stored requests of an organization and error code; older ones are deleted. */
export const MAX_REFUSED_REQUESTS = 20;

export interface RefusedFilter {
  readonly organizationId: string;
  readonly requestId: string | undefined;
  readonly keyId: string | undefined;
  readonly model: string | undefined;
  readonly errorCode: string | undefined;
  readonly apiType: ApiType | undefined;
}

export interface ErrorCountsQuery {
  readonly organizationId: string;
  /** Start of an hour. */
  readonly start: UnixMs;
  /** Start of an hour; exclusive. */
  readonly end: UnixMs;
  readonly modelId: string | undefined;
  readonly keyId: string | undefined;
  /** Empty: requests without a project. */
  readonly projectId: string | undefined;
  readonly apiType: ApiType | undefined;
}

export interface ErrorCount {
  readonly errorCode: string;
  /** Requests without a generation. */
  readonly refused: bigint;
  /** Generations. */
  readonly failed: bigint;
}
