/** For the default branch of an exhaustive switch: does not compile while a case is missing. */
export function unreachable(value: never): never {
  throw new Error(`unexpected variant: ${JSON.stringify(value)}`);
}
