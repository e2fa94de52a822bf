const MAX_PATH_CHARACTERS = 500;
/** A base to parse paths as browsers do. */
const ORIGIN = 'https://dashboard.invalid';

/**
 * Returns a path of the dashboard with its query. Returns "/" for everything
 * else, such as URLs of other sites and text that browsers parse as one.
 */
export function sanitizeReturnPath(text: string): string {
  if (text.length > MAX_PATH_CHARACTERS || !/^\/(?![/\\])[^\p{Cc}\\]*$/u.test(text)) return '/';
  if (!URL.canParse(text, ORIGIN)) return '/';
  const { origin, pathname, search } = new URL(text, ORIGIN);
  // Resolving dot segments can produce a leading "//", which names another host.
  return origin === ORIGIN && !pathname.startsWith('//') ? pathname + search : '/';
}
