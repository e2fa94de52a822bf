import type { NanoUsd, UnixMs } from '@gateway/base';
import { refuse, type Refusal } from '@gateway/errors';
import type { GenerationStatus, SettledGeneration } from './settled-generation';

export interface GenerationFilter {
  readonly organizationId: string;
  readonly since: UnixMs | undefined;
  /** Not included. */
  readonly until: UnixMs | undefined;
  readonly modelId: string | undefined;
  readonly keyId: string | undefined;
  readonly externalUser: string | undefined;
  readonly status: GenerationStatus | undefined;
  readonly minCostNanoUsd: NanoUsd | undefined;
  readonly maxCostNanoUsd: NanoUsd | undefined;
}

/** A place in the list: what comes after is older, or of the same time with a smaller id. */
export interface Place {
  readonly created: UnixMs;
  readonly id: string;
}

interface GenerationScan {
  /** Newest first; at most as many as asked for. */
  readonly found: readonly SettledGeneration[];
  /** Where the look back was given up; undefined when it came to the end or found enough. */
  readonly stoppedAt: Place | undefined;
}

export interface GenerationFinder {
  /** Those with this id, or this request id; at most `limit`. */
  findByIds(organizationId: string, id: string, limit: number): Promise<readonly SettledGeneration[]>;
  /** Looks at a bounded number of generations that come after the place. */
  scan(filter: GenerationFilter, after: Place | undefined, limit: number): Promise<GenerationScan>;
}

export interface GenerationsRequest extends GenerationFilter {
  /** The whole id of a generation, of a request, or of an external user. */
  readonly search: string | undefined;
  readonly pageSize: number;
  readonly pageToken: string;
}

export interface GenerationPage {
  readonly generations: readonly SettledGeneration[];
  readonly nextPageToken: string;
  /** How far back was looked, when not to the end. */
  readonly searchedUntil: UnixMs | undefined;
}

const MAX_PAGE_SIZE = 200;

/** One page of an organization's generations, newest first. */
export async function listGenerations(
  finder: GenerationFinder,
  { search, pageSize, pageToken, ...filter }: GenerationsRequest,
): Promise<GenerationPage | Refusal> {
  const after = pageToken === '' ? undefined : placeOf(pageToken);
  if (pageToken !== '' && !after)
    return refuse('invalid_request', { param: 'page_token', message: 'Unknown page_token.' });
  const limit = Math.min(Math.max(pageSize, 1), MAX_PAGE_SIZE);
  if (search !== undefined && !after) {
    const found = await finder.findByIds(filter.organizationId, search, limit);
    if (found.length > 0) return { generations: found, nextPageToken: '', searchedUntil: undefined };
  }
  const { found, stoppedAt } = await finder.scan(
    { ...filter, externalUser: search ?? filter.externalUser },
    after,
    limit + 1,
  );
  const generations = found.slice(0, limit);
  const last = generations.at(-1);
  const next = found.length > limit && last ? { created: last.createdAt, id: last.id } : stoppedAt;
  return {
    generations,
    nextPageToken: next ? tokenOf(next) : '',
    searchedUntil: next?.created,
  };
}

function tokenOf({ created, id }: Place): string {
  return Buffer.from(`${created}.${id}`).toString('base64url');
}

function placeOf(token: string): Place | undefined {
  const match = /^(\d{1,15})\.([^\0]+)$/s.exec(Buffer.from(token, 'base64url').toString('utf8'));
  return match ? { created: Number(match[1]) as UnixMs, id: match[2] as string } : undefined;
}
