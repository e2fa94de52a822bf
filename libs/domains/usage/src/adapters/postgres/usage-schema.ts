/** The schema that holds everything of this domain. */
export const USAGE_SCHEMA = 'usage';
