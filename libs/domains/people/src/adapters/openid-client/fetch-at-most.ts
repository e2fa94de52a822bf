/** Descriptions, keys and tokens have a few kilobytes. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/** As fetch, and fails when the answer is larger than any that an identity provider has reason to send. */
export async function fetchAtMost(url: string, options: object): Promise<Response> {
  const response = await fetch(url, options as RequestInit);
  if (!response.body) return response;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`the answer has more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  const { status, headers } = response;
  return new Response(Buffer.concat(chunks), { status, headers });
}
