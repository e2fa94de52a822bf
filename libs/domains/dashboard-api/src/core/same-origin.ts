export interface OriginCheck {
  /** The request's Origin header. */
  readonly origin: string | undefined;
  /** The request's Host header. */
  readonly host: string | undefined;
  /** Where browsers see this API, such as "https://dashboard.example.com"; absent: on this machine, by any name of it. */
  readonly publicOrigin: string | undefined;
}

const LOOPBACK_NAME = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;

/**
 * Whether a request may have come from our own pages. Clients that are no
 * browsers send no Origin, and no cookie of somebody else's either.
 */
export function isSameOrigin({ origin, host, publicOrigin }: OriginCheck): boolean {
  if (origin === undefined) return true;
  if (publicOrigin !== undefined) return origin === publicOrigin;
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}

/**
 * Whether the host that was asked for is ours. Any site can let its own name
 * lead to this address; its pages would then be of one origin with us. So
 * without a public origin only names are taken that no other site can own. With
 * one, the Host header is the reverse proxy's to choose, and origins are compared.
 */
export function isOwnHost({ host, publicOrigin }: Omit<OriginCheck, 'origin'>): boolean {
  return publicOrigin !== undefined || (host !== undefined && LOOPBACK_NAME.test(host));
}
