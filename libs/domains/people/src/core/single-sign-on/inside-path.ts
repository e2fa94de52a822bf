const MAX_PATH_CHARACTERS = 500;
/** Nobody's: only so that a path can be read as browsers do. */
const ORIGIN = 'https://dashboard.invalid';

/**
 * A path of the dashboard's own, with its query. Everything else is the start
 * page: addresses of other sites, and what a browser would take for one.
 */
export function insidePath(text: string): string {
  if (text.length > MAX_PATH_CHARACTERS || !/^\/(?![/\\])[^\p{Cc}\\]*$/u.test(text)) return '/';
  if (!URL.canParse(text, ORIGIN)) return '/';
  const { origin, pathname, search } = new URL(text, ORIGIN);
  // Dots in a path may make two slashes of it, which are another site again.
  return origin === ORIGIN && !pathname.startsWith('//') ? pathname + search : '/';
}
