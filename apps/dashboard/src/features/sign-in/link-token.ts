import { useState } from 'react';

/**
 * The token of a link stands after "#", which browsers send to no server. It
 * is taken out of the address at once, so that it stays in no history.
 */
export function useLinkToken(): string {
  const [token] = useState(() => window.location.hash.slice(1));
  if (window.location.hash !== '') {
    window.history.replaceState(window.history.state, '', window.location.pathname + window.location.search);
  }
  return token;
}
