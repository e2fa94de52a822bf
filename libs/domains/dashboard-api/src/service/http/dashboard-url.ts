import type { Request } from 'express';
import type { DashboardApiSettings } from '../ports';

export type HttpsSettings = Pick<DashboardApiSettings, 'publicOrigin' | 'tls'>;

/**
 * The dashboard's URL for links. Without a public origin only loopback Host headers are accepted, so
 * the header is safe to use.
 */
export function dashboardUrlOf(settings: DashboardApiSettings, request: Request): string {
  const scheme = isHttps(settings) ? 'https' : 'http';
  return settings.publicOrigin ?? `${scheme}://${request.headers.host ?? 'localhost'}`;
}

/** Whether browsers reach the dashboard over HTTPS, by a proxy or directly. */
export function isHttps({ publicOrigin, tls }: HttpsSettings): boolean {
  return publicOrigin === undefined ? tls !== undefined : publicOrigin.startsWith('https://');
}
