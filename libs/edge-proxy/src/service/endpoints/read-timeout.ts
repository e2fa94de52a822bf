/** Of the one call behind each of the reading endpoints. */
export const READ_TIMEOUT_MS = 5_000;
