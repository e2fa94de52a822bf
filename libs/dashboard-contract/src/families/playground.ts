/** Nothing is described here yet. */
export const playgroundEndpoints = {} as const;
