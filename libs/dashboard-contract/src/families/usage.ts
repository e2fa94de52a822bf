/** Nothing is described here yet. */
export const usageEndpoints = {} as const;
