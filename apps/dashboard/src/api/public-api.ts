import { queryOptions } from '@tanstack/react-query';

/**
 * Where the public API is, with /v1. Its document is served on this port and
 * names it; what it names is shown in examples only.
 */
export const publicApiQuery = queryOptions({
  queryKey: ['public-api'],
  queryFn: async ({ signal }): Promise<string> => {
    const document = (await (await fetch('/openapi.json', { signal })).json()) as {
      servers?: readonly { readonly url: string }[];
    };
    return document.servers?.[0]?.url ?? '';
  },
  staleTime: Infinity,
});
