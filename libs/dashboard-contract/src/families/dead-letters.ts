/** Nothing is described here yet. */
export const deadLetterEndpoints = {} as const;
