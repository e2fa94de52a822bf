/**
 * Returns a path of this site to continue to after sign-in; `/` for anything else, such as another
 * site's URL.
 */
export function sanitizeReturnPath(next: string | undefined): string {
  if (next === undefined || !/^\/(?![/\\])/.test(next)) return '/';
  const target = new URL(next, window.location.origin);
  return target.origin === window.location.origin ? target.pathname + target.search : '/';
}
