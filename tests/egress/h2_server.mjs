// An HTTP/2 server for the tests: h2_server.mjs CERTIFICATE KEY. Prints its port.
//   /echo      answers with the request's body as it comes, and a trailer "x-sum" with its length
//   /headers   answers with the request's fields, as JSON
//   /events    five server-sent events, 50 ms apart
//   /big?N     N bytes
import fs from "node:fs";
import http2 from "node:http2";

const [certificate, key] = process.argv.slice(2);
const server = http2.createSecureServer({ cert: fs.readFileSync(certificate), key: fs.readFileSync(key), allowHTTP1: true });

function events(response) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  let count = 0;
  const timer = setInterval(() => {
    response.write(`data: ${Date.now()}\n\n`);
    if (++count === 5) { clearInterval(timer); response.end(); }
  }, 50);
}

function big(response, size) {
  const piece = Buffer.alloc(65536, "x");
  const more = () => {
    while (size > 0) {
      const part = piece.subarray(0, Math.min(size, piece.length));
      size -= part.length;
      if (!response.write(part)) { response.once("drain", more); return; }
    }
    response.end();
  };
  response.writeHead(200);
  more();
}

server.on("request", (request, response) => {
  const url = new URL(request.url, "https://x.example");
  if (url.pathname === "/events") return events(response);
  if (url.pathname === "/big") return big(response, Number(url.search.slice(1)));
  if (url.pathname === "/headers") {
    response.writeHead(200, { "content-type": "application/json" });
    return response.end(JSON.stringify({ version: request.httpVersion, headers: request.headers }));
  }
  let sum = 0;
  response.writeHead(200, { trailer: "x-sum" });
  request.on("data", (bytes) => {
    sum += bytes.length;
    if (!response.write(bytes)) { request.pause(); response.once("drain", () => request.resume()); }
  });
  request.on("end", () => { response.addTrailers({ "x-sum": String(sum) }); response.end(); });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.on("end", () => process.exit(0)).resume();
