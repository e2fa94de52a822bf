import type { Request } from 'express';
import type { DashboardApiSettings } from '../ports';

/**
 * The dashboard's URL for links. Without a public origin only loopback Host headers are accepted, so
 * the header is safe to use.
 */
export function dashboardUrlOf({ publicOrigin }: DashboardApiSettings, request: Request): string {
  return publicOrigin ?? `http://${request.headers.host ?? 'localhost'}`;
}
