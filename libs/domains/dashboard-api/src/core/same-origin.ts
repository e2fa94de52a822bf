export interface OriginCheck {
  /** The request's Origin header. */
  readonly origin: string | undefined;
  /** The request's Host header. */
  readonly host: string | undefined;
  /** The dashboard's public origin, such as "https://dashboard.example.com"; undefined: loopback only. */
  readonly publicOrigin: string | undefined;
}

const LOOPBACK_NAME = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;

/**
 * Whether a request may come from the dashboard's own pages. Clients other than browsers send no
 * Origin, and cannot be made to send another person's cookie.
 */
export function isSameOrigin({ origin, host, publicOrigin }: OriginCheck): boolean {
  if (origin === undefined) return true;
  if (publicOrigin !== undefined) return origin === publicOrigin;
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}

/**
 * Protects against DNS rebinding, where a site points its own name at this address and so becomes same-origin. Without a
 * public origin, only loopback names are accepted, which no site can own. With one, the reverse proxy sets the Host header
 * and origins are compared.
 */
export function isOwnHost({ host, publicOrigin }: Omit<OriginCheck, 'origin'>): boolean {
  return publicOrigin !== undefined || (host !== undefined && LOOPBACK_NAME.test(host));
}
