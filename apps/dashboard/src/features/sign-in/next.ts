/** Where to go after signing in: a path of this site. Anything else, such as another site's address, is the start. */
export function insideOnly(next: string | undefined): string {
  if (next === undefined || !/^\/(?![/\\])/.test(next)) return '/';
  const target = new URL(next, window.location.origin);
  return target.origin === window.location.origin ? target.pathname + target.search : '/';
}
