/** Nothing is described here yet. */
export const generationEndpoints = {} as const;
