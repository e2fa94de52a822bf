export interface OriginCheck {
  /** The request's Origin header. */
  readonly origin: string | undefined;
  /** The request's Host header. */
  readonly host: string | undefined;
  /** Where browsers see this API, such as "https://dashboard.example.com"; absent: wherever the Host header says. */
  readonly publicOrigin: string | undefined;
}

/**
 * Whether a request may have come from our own pages. Clients that are no
 * browsers send no Origin, and no cookie of somebody else's either.
 */
export function isSameOrigin({ origin, host, publicOrigin }: OriginCheck): boolean {
  if (origin === undefined) return true;
  if (publicOrigin !== undefined) return origin === publicOrigin;
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}
