import { useState } from 'react';

/** Held in memory, so that it survives a sign-in. */
let cached = '';

/**
 * Reads the token from the URL fragment, which browsers do not send to servers, and removes it from the
 * URL and the history.
 */
export function useLinkToken(): string {
  const [token] = useState(() => {
    cached = window.location.hash.slice(1) || cached;
    return cached;
  });
  if (window.location.hash !== '') {
    window.history.replaceState(window.history.state, '', window.location.pathname + window.location.search);
  }
  return token;
}

/** Clears the token after use. */
export function clearLinkToken(): void {
  cached = '';
}
