/**
 * Begins a transaction that may idle for as long as its test takes. The pools
 * under test end one that says nothing for a second and a half, which a busy
 * machine needs between two statements.
 */
export async function beginPatiently(client: { query(text: string): Promise<unknown> }): Promise<void> {
  await client.query('begin; set local idle_in_transaction_session_timeout = 0');
}
