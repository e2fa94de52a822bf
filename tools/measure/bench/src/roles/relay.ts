import { Agent, createServer, request as ask } from 'node:http';
import { listen, type RunningRole } from './listen';

/** Passes bytes on in both directions and looks at none of them: what a stream costs in Node at the least. */
export async function startRelay(upstream: string): Promise<RunningRole> {
  const { hostname, port } = new URL(upstream);
  const agent = new Agent({ keepAlive: true });
  const server = createServer((request, response) => {
    const { method, url: path, headers } = request;
    const onward = ask({ hostname, port, agent, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => {
      if (!response.writableFinished) onward.destroy();
    });
    request.pipe(onward);
  });
  return listen(server, () => {
    server.closeAllConnections();
    agent.destroy();
  });
}
