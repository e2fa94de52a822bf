/**
 * Starts a transaction that may idle for the whole test. The pools under test abort
 * a transaction that idles for 1.5 s, which a busy test machine can exceed.
 */
export async function beginIdleTransaction(client: { query(text: string): Promise<unknown> }): Promise<void> {
  await client.query('begin; set local idle_in_transaction_session_timeout = 0');
}
