/** Nothing is described here yet. */
export const operatorEndpoints = {} as const;
