export interface ProviderAddress {
  readonly origin: string;
  /** The path and query of a call. */
  readonly pathOf: (dialectPath: string) => string;
}

/** @param baseUrl without a trailing slash; its query is added to every call. */
export function providerAddress(baseUrl: string): ProviderAddress {
  const { origin, pathname, search } = new URL(baseUrl);
  const path = pathname.replace(/\/+$/, '');
  return {
    origin,
    pathOf: (dialectPath) => joinPath(path, dialectPath) + joinQuery(search, dialectPath),
  };
}

/** The version at the end of an address replaces that of the dialect's path. */
function joinPath(path: string, dialectPath: string): string {
  const hasVersion = /\/v\d+[a-z0-9]*$/.test(path);
  return path + (hasVersion ? dialectPath.replace(/^\/v\d+[a-z0-9]*(?=\/)/, '') : dialectPath);
}

function joinQuery(search: string, dialectPath: string): string {
  if (search === '') return '';
  return dialectPath.includes('?') ? `&${search.slice(1)}` : search;
}
