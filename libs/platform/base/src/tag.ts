/** An entry of the metadata of a request whose name its organization declared as a usage tag. */
export interface Tag {
  readonly name: string;
  /** Not empty. */
  readonly value: string;
}
