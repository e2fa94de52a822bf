import { HOUR_MS, type ApiType, type UnixMs } from '@gateway/base';

/** A request for a generation that ended with an error and has no recorded generation. */
export interface RefusedRequest {
  readonly requestId: string;
  readonly organizationId: string;
  readonly keyId: string;
  /** Empty without a project. */
  readonly projectId: string;
  /** Its id in the catalogue; empty if the request named none, or was refused before it was read. */
  readonly modelId: string;
  /** As the client named it. */
  readonly model: string;
  readonly apiType: ApiType;
  readonly errorCode: string;
  readonly errorMessage: string;
  readonly at: UnixMs;
}

interface RefusalCount extends Pick<
  RefusedRequest,
  'organizationId' | 'keyId' | 'projectId' | 'modelId' | 'apiType' | 'errorCode'
> {
  /** Start of the UTC hour. */
  readonly hour: UnixMs;
  readonly requests: number;
}

export interface RefusalBatch {
  readonly counts: readonly RefusalCount[];
  /** The latest requests of each organization and error code. */
  readonly latest: readonly RefusedRequest[];
}

export interface RefusalBounds {
  readonly maxCounts: number;
  /** The latest refusals that are kept of an organization and error code. */
  readonly maxLatest: number;
  readonly maxLatestTotal: number;
  readonly maxModelLength: number;
  readonly maxMessageLength: number;
}

type MutableCount = { -readonly [Name in keyof RefusalCount]: RefusalCount[Name] };

/**
 * Counts refused requests in bounded memory. Nothing that a client chooses is
 * part of a count: a model that is not in the catalogue is counted without a name.
 */
export class RefusalCounts {
  private counts = new Map<string, MutableCount>();
  private latest = new Map<string, RefusedRequest[]>();
  private latestTotal = 0;

  constructor(private readonly bounds: RefusalBounds) {}

  /** @returns false if the request could not be counted. */
  add(request: RefusedRequest): boolean {
    const { organizationId, keyId, projectId, modelId, apiType, errorCode, at } = request;
    const hour = (at - (at % HOUR_MS)) as UnixMs;
    const name = `${organizationId}\n${keyId}\n${projectId}\n${modelId}\n${apiType}\n${errorCode}\n${hour}`;
    const count = this.counts.get(name);
    if (count) count.requests += 1;
    else if (this.counts.size >= this.bounds.maxCounts) return false;
    else {
      const key = { organizationId, keyId, projectId, modelId, apiType, errorCode };
      this.counts.set(name, { ...key, hour, requests: 1 });
    }
    this.keep(request);
    return true;
  }

  /** The counts since the last call; undefined if there are none. */
  take(): RefusalBatch | undefined {
    if (this.counts.size === 0) return undefined;
    const batch = { counts: [...this.counts.values()], latest: [...this.latest.values()].flat() };
    this.counts = new Map();
    this.latest = new Map();
    this.latestTotal = 0;
    return batch;
  }

  private keep(request: RefusedRequest): void {
    const { maxLatest, maxLatestTotal, maxModelLength, maxMessageLength } = this.bounds;
    const name = `${request.organizationId}\n${request.errorCode}`;
    let latest = this.latest.get(name);
    if (!latest) this.latest.set(name, (latest = []));
    if (latest.length >= maxLatest) latest.shift();
    else if (this.latestTotal >= maxLatestTotal) return;
    else this.latestTotal += 1;
    latest.push({
      ...request,
      model: request.model.slice(0, maxModelLength),
      errorMessage: request.errorMessage.slice(0, maxMessageLength),
    });
  }
}
