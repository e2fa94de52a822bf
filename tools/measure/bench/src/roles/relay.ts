import { Agent, createServer, request as sendRequest } from 'node:http';
import { listen, type RunningRole } from './listen';

/** Forwards bytes in both directions without parsing: the lower bound for a stream in Node.js. */
export async function startRelay(upstream: string): Promise<RunningRole> {
  const { hostname, port } = new URL(upstream);
  const agent = new Agent({ keepAlive: true });
  const server = createServer((request, response) => {
    const { method, url: path, headers } = request;
    const upstreamRequest = sendRequest(
      { hostname, port, agent, method, path, headers },
      (upstreamResponse) => {
        response.writeHead(upstreamResponse.statusCode ?? 502, upstreamResponse.headers);
        upstreamResponse.pipe(response);
      },
    );
    upstreamRequest.on('error', () => response.destroy());
    response.on('close', () => {
      if (!response.writableFinished) upstreamRequest.destroy();
    });
    request.pipe(upstreamRequest);
  });
  return listen(server, () => {
    server.closeAllConnections();
    agent.destroy();
  });
}
