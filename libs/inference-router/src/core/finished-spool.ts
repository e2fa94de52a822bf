/** The spool has no room; what was to be kept is not. */
export class SpoolFullError extends Error {
  override readonly name = 'SpoolFullError';

  constructor(maxBytes: number) {
    super(`the spool holds ${maxBytes} bytes at most`);
  }
}

/**
 * Keeps finished generations while neither the event log nor the ledger can be
 * reached. Bounded in bytes. One process at a time.
 */
export interface FinishedSpool {
  /** Finds what an earlier process left. Called once, before the others. */
  open(): Promise<void>;
  /** Resolves when the record survives a crash. @throws SpoolFullError */
  put(id: string, record: Uint8Array): Promise<void>;
  /** What is kept, in no order. */
  names(): readonly string[];
  read(name: string): Promise<Uint8Array>;
  remove(name: string): Promise<void>;
  /** Keeps an unreadable record for a person to look at, out of the way. */
  setAside(name: string): Promise<void>;
  bytes(): number;
}
