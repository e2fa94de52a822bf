/** For the default branch of an exhaustive switch. Does not compile if a case is missing. */
export function unreachable(value: never): never {
  throw new Error(`unexpected variant: ${JSON.stringify(value)}`);
}
