/** The dialects other than OpenAI's, which the models of the repository use. */
export const otherDialects = ['anthropic', 'gemini', 'converse'] as const;
export type OtherDialect = (typeof otherDialects)[number];

/**
 * The start of the ids of a dialect's models. They are sorted after the models of the repository, so that suites which
 * take the first model with a capability get one of these.
 */
export const modelPrefixOf = (dialect: OtherDialect): string => `dialect/${dialect}-`;
