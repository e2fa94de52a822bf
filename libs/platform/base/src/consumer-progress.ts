/**
 * How far a consumer has read with a batch. A handler stores it in the transaction that
 * stores the batch's last effects, so that a database that loses one loses both.
 */
export interface ConsumerProgress {
  /** `transaction` is a type of the driver, such as a `pg` client. */
  write(transaction: unknown): Promise<void>;
  /** Call this after the commit. */
  committed(): void;
}
