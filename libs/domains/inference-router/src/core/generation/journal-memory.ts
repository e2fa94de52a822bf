interface JournalLimits {
  /** The characters of all journals together. */
  readonly charactersTotalMax: number;
  /** The characters of one journal. */
  readonly charactersMax: number;
}

const LIMITS: JournalLimits = { charactersTotalMax: 64 * 1024 * 1024, charactersMax: 8 * 1024 * 1024 };

/** The memory that the journals of resumable streams share. */
export class JournalMemory {
  /** In characters, over all journals. */
  used = 0;

  constructor(private readonly limits = LIMITS) {}

  /** Whether a journal of this size may be kept. */
  allows(characters: number): boolean {
    return characters <= this.limits.charactersMax && this.used <= this.limits.charactersTotalMax;
  }
}
