// A bidirectional HTTP/2 call, as gRPC makes: sends a word, waits for its echo, five times, then reads
// the trailers. h2_client.mjs HOST PORT ADDRESS AUTHORITY
import fs from "node:fs";
import http2 from "node:http2";

const [host, port, address, authority] = process.argv.slice(2);
const session = http2.connect(`https://${host}:${port}`, {
  ca: fs.readFileSync(authority), lookup: (name, options, done) => options.all ? done(null, [{ address, family: 4 }]) : done(null, address, 4),
});
const call = session.request({ ":method": "POST", ":path": "/echo", ":authority": `${host}:${port}`, te: "trailers" });
let echoed = 0;
call.on("response", (headers) => console.log("status", headers[":status"]));
call.on("trailers", (trailers) => console.log("sum", trailers["x-sum"]));
call.on("data", () => { if (++echoed < 5) call.write("hello"); else call.end(); });
call.on("close", () => { console.log("echoed", echoed, "code", call.rstCode); session.close(); });
call.write("hello");
