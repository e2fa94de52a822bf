/** Metadata, keys and tokens of an identity provider have a few kilobytes. */
const MAX_RESPONSE_BYTES = 1024 * 1024;

/** As `fetch`, but fails if the response body is larger than 1 MiB. */
export async function fetchWithSizeLimit(url: string, options: object): Promise<Response> {
  const response = await fetch(url, options as RequestInit);
  if (!response.body) return response;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.byteLength;
    if (bytes > MAX_RESPONSE_BYTES) throw new Error(`the response has more than ${MAX_RESPONSE_BYTES} bytes`);
    chunks.push(chunk);
  }
  const { status, headers } = response;
  return new Response(Buffer.concat(chunks), { status, headers });
}
