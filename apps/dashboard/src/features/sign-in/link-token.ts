import { useState } from 'react';

/** Of the link that this page was opened with; in memory alone, so that signing in first does not lose it. */
let remembered = '';

/**
 * The token of a link stands after "#", which browsers send to no server. It
 * is taken out of the address at once, so that it stays in no history.
 */
export function useLinkToken(): string {
  const [token] = useState(() => {
    remembered = window.location.hash.slice(1) || remembered;
    return remembered;
  });
  if (window.location.hash !== '') {
    window.history.replaceState(window.history.state, '', window.location.pathname + window.location.search);
  }
  return token;
}

/** Once it was used it is good for nothing more. */
export function forgetLinkToken(): void {
  remembered = '';
}
