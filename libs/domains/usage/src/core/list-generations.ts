import type { ApiType, NanoUsd, Tag, UnixMs } from '@gateway/base';
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
  readonly tag: Tag | undefined;
  readonly apiType: ApiType | undefined;
  readonly status: GenerationStatus | undefined;
  readonly errorCode: string | undefined;
  /** Empty: no project. */
  readonly projectId: string | undefined;
  readonly minCostNanoUsd: NanoUsd | undefined;
  readonly maxCostNanoUsd: NanoUsd | undefined;
}

/** A position in the list. Later generations are older, or have the same time and a smaller id. */
export interface GenerationCursor {
  readonly createdAt: UnixMs;
  readonly id: string;
}

interface GenerationScan {
  /** Newest first, at most `limit`. */
  readonly found: readonly SettledGeneration[];
  /** Where the scan stopped at its limit; undefined if it reached the end or found enough. */
  readonly stoppedAt: GenerationCursor | undefined;
}

export interface GenerationFinder {
  /** Generations with this id or request id, at most `limit`. */
  findByIds(organizationId: string, id: string, limit: number): Promise<readonly SettledGeneration[]>;
  /** Scans a limited number of generations after the cursor. */
  scan(filter: GenerationFilter, after: GenerationCursor | undefined, limit: number): Promise<GenerationScan>;
}

export interface GenerationsRequest extends GenerationFilter {
  /** The full id of a generation, a request or an external user. */
  readonly search: string | undefined;
  readonly pageSize: number;
  readonly pageToken: string;
}

export interface GenerationPage {
  readonly generations: readonly SettledGeneration[];
  readonly nextPageToken: string;
  /** How far back the search went, if not to the end. */
  readonly searchedUntil: UnixMs | undefined;
}

/** One page of an organization's generations, newest first. */
export async function listGenerations(
  finder: GenerationFinder,
  { search, pageSize: limit, pageToken, ...filter }: GenerationsRequest,
): Promise<GenerationPage | Refusal> {
  const after = pageToken === '' ? undefined : parseCursor(pageToken);
  if (pageToken !== '' && !after)
    return refuse('invalid_request', { param: 'page_token', message: 'Unknown page_token.' });
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
  const next = found.length > limit && last ? { createdAt: last.createdAt, id: last.id } : stoppedAt;
  return {
    generations,
    nextPageToken: next ? renderCursor(next) : '',
    searchedUntil: next?.createdAt,
  };
}

function renderCursor({ createdAt, id }: GenerationCursor): string {
  return Buffer.from(`${createdAt}.${id}`).toString('base64url');
}

function parseCursor(token: string): GenerationCursor | undefined {
  const match = /^(\d{1,15})\.([^\0]+)$/s.exec(Buffer.from(token, 'base64url').toString('utf8'));
  return match ? { createdAt: Number(match[1]) as UnixMs, id: match[2] as string } : undefined;
}
