import type { Request } from 'express';

const MANAGEMENT_TOKEN = /^Bearer (mk-gw-\S{1,200})$/;

/**
 * The management token of a request, which then needs no session. Other credentials in the header are ignored: a proxy
 * in front of the dashboard may have its own.
 */
export function managementTokenOf(request: Request): string | undefined {
  return MANAGEMENT_TOKEN.exec(request.headers.authorization ?? '')?.[1];
}
