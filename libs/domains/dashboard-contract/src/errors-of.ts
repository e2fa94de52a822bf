import { namesIn, type Endpoint } from './endpoint';
import type { DashboardErrorCode } from './errors';
import { isPermission } from './permissions';

/**
 * Every error of an endpoint: those that it lists and those that follow from its access, method and
 * path. Errors raised before routing, such as `unknown_host`, are not included.
 */
export function errorsOf({
  method,
  path,
  access,
  confirmed,
  errors = [],
}: Endpoint): ReadonlySet<DashboardErrorCode> {
  const writes = method !== 'GET';
  return new Set<DashboardErrorCode>([
    // Without a query or body too: unknown parameters are errors.
    'invalid',
    ...(writes
      ? (['invalid_json', 'cross_origin', 'body_too_large', 'unsupported_media_type'] as const)
      : []),
    ...(access === 'anyone'
      ? []
      : (['not_signed_in', 'management_token_not_valid', 'too_many_attempts'] as const)),
    ...(access === 'anyone' || access === 'authenticated' ? [] : (['forbidden'] as const)),
    ...(isPermission(access) ? (['second_factor_setup_required'] as const) : []),
    ...(confirmed ? (['confirmation_required'] as const) : []),
    ...(namesIn(path).length > 0 ? (['not_found'] as const) : []),
    ...errors,
    'internal',
    'unavailable',
  ]);
}
