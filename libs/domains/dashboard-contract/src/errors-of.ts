import { namesIn, type Endpoint } from './endpoint';
import type { DashboardErrorCode } from './errors';

/**
 * Everything that an endpoint is refused with: what it names, and what follows
 * from what it takes and whom it is for. Beside these there is only what is
 * refused before anybody looks which endpoint is meant.
 */
export function errorsOf({ method, path, who, errors = [] }: Endpoint): ReadonlySet<DashboardErrorCode> {
  const writes = method !== 'GET';
  return new Set<DashboardErrorCode>([
    // Also where nothing is taken: a parameter too many is told.
    'invalid',
    ...(writes
      ? (['invalid_json', 'cross_origin', 'body_too_large', 'unsupported_media_type'] as const)
      : []),
    ...(who === 'anyone' ? [] : (['not_signed_in'] as const)),
    ...(who === 'anyone' || who === 'signed_in' ? [] : (['forbidden'] as const)),
    ...(namesIn(path).length > 0 ? (['not_found'] as const) : []),
    ...errors,
    'internal',
    'unavailable',
  ]);
}
